"""Landscape mlp in Python: numpy trains the layers, and `sequential` builds torch's network of them."""

import importlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import luge
import luge.ordinary

DRAW = "parity:bits=6,hidden=3"


def sgd_step(layers, x, y, lr):
    """One step on every weight and bias, by hand."""
    values, sums = [x], []
    for weight, bias in layers:
        sums.append(weight @ values[-1] + bias)
        values.append(np.maximum(sums[-1], 0))
    slope = sums[-1] - y
    for i in reversed(range(len(layers))):
        weight, bias = layers[i]
        below = weight.T @ slope
        weight -= lr * np.outer(slope, values[i])
        bias -= lr * slope
        slope = below * (sums[i - 1] > 0) if i else below


def samples(n, dtype):
    rng = np.random.default_rng(3)
    x = 2 * rng.integers(0, 2, (n, 6)).astype(dtype) - 1
    return x, np.where((x[:, [0, 2, 5]] > 0).sum(1) % 2 == 1, 1, -1).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numpy_trains_the_layers(dtype):
    net = luge.ordinary.network("parity_circuit", DRAW, dtype=dtype)
    assert net.report is None and 10 < net.steps < 30
    (x, y), (new, expected) = samples(40, dtype), samples(300, dtype)
    assert not np.array_equal(np.sign(net(new)), expected)
    for sample, label in zip(x, y):
        sgd_step(net.layers, sample, label, net.layers[0][0].dtype.type(net.lr))
    assert np.abs(net(new) - expected).max() < 1e-3


def test_a_trained_network_says_what_was_proved():
    net = luge.ordinary.network("which_bit", "parity:bits=8,hidden=1", train=True)
    assert net.certified and net.report["certificate"]["trace"]["holds"]
    assert len(net.layers) == len(luge.ordinary.network("which_bit", "parity:bits=8,hidden=1").layers)


def test_what_is_no_circuit_is_refused():
    with pytest.raises(luge.LugeError, match="there is no file `nothing`"):
        luge.ordinary.network("nothing")
    with pytest.raises(luge.LugeError, match="float16"):
        luge.ordinary.network(dtype="float16")


def test_numbers_outside_the_format_are_refused():
    source = "learner last(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] { for sample in data { theta[0] = y; } }\n"
    data = (np.array([[0.5], [1.0]]), np.array([99.0, 1.0]))
    with pytest.raises(luge.LugeError, match="fix:3.2"):
        luge.ordinary.network(source, data=data, format="fix:3.2")
    assert luge.ordinary.network(source, data=data).hold >= 1


def test_numpy_trains_a_program_on_rows_in_cycles():
    source = "learner last(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] { for sample in data { theta[0] = y; } }"
    x, y = np.array([[0.5], [1.0], [-1.0]]), np.array([1.5, -2.0, 1.25])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.sled"
        path.write_text(source)
        net = luge.ordinary.network(str(path), data=(x, y), format="fix:3.2")
        trained = luge.ordinary.network(str(path), data=(x, y), format="fix:3.2", train=True)
    assert trained.certified and trained.report["certificate"]["program"]["holds"]
    for step in range(net.steps + 3):
        row = step // net.hold % len(x)
        sgd_step(net.layers, x[row], y[row], net.lr)
    assert np.abs(net(x) - 1.25).max() < 1e-6


@pytest.fixture
def torch(monkeypatch):
    """PyTorch, or the stand-in that the repository's tests use."""
    try:
        yield importlib.import_module("torch")
    except ImportError:
        stand_in = Path(__file__).parents[2] / "tests" / "independent" / "stand_in"
        monkeypatch.syspath_prepend(str(stand_in))
        yield importlib.import_module("torch")
        sys.modules.pop("torch")


def test_torch_trains_the_sequential(torch):
    net, lr = luge.ordinary.sequential("parity_circuit", DRAW)
    sgd = torch.optim.SGD(net.parameters(), lr=lr)
    for x, y in zip(*samples(40, np.float64)):
        loss = (net(torch.from_numpy(x[None]))[:, 0] - torch.from_numpy(y[None])).square().sum() / 2
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    x, y = samples(300, np.float64)
    right = (net(torch.from_numpy(x))[:, 0].sign() == torch.from_numpy(y)).sum().item()
    assert right == 300
