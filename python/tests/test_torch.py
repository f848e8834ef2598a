"""PyTorch, which is large: only with LUGE_TEST=torch."""

import itertools
import os
import shutil

import numpy as np
import pytest

import luge

if "torch" not in os.environ.get("LUGE_TEST", ""):
    pytest.skip("LUGE_TEST=torch runs these", allow_module_level=True)

import torch

import luge.graph
import luge.torch
from luge.torch import FrankWolfe, Network

torch.set_num_threads(1)
F64, F32 = torch.float64, torch.float32
#: Small learners, between them on every landscape; plain also in float32.
LESSONS = [
    ("copy_label", "plain", F64), ("copy_label", "plain", F32), ("mean", "plain", F32), ("copy_label", "relu", F64), ("majority", "compact", F64),
    ("keep_label", "internal", F64),
]  # fmt: skip


def tensors(name, dtype=F64):
    x, y, *_ = luge.dataset(name)
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


@pytest.mark.parametrize("name,landscape,dtype", LESSONS)
def test_the_loop_of_six_lines_goes_the_same_way(name, landscape, dtype):
    training, (x, y) = luge.train(name, landscape=landscape), tensors(name, dtype)
    net, path = luge.torch.module(training.model, dtype=dtype), luge.graph.Path()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0) if landscape == "plain" else FrankWolfe(net.groups())
    for step in itertools.count():
        path.visit([net.current_vertex()])
        loss = 0.5 * (net(x) - y).square().sum()
        if net.stopped(step, loss):
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (step, str(path)) == (training.steps, training.path)
    assert net.theta(x).tolist() == training.theta.tolist() and loss.item() == pytest.approx(training.train_loss)
    if dtype == F64:
        assert all(np.allclose(net.get_parameter(n).detach(), w, atol=1e-9) for n, w in training.model.weights.items())


@pytest.mark.parametrize("fused", [False, True])
def test_many_steps_at_a_time(fused):
    if fused and not shutil.which("g++"):
        pytest.skip("torch.compile needs a C++ compiler")
    training, (x, y) = luge.train("majority", landscape="compact"), tensors("majority")
    run = luge.torch.train(luge.torch.module(training.model), x, y, chunk=7, fused=fused)
    assert run["stopped"] and (run["steps"], run["path"]) == (training.steps, training.path) and run["theta"].tolist() == training.theta.tolist()
    short = luge.torch.train(luge.torch.module(training.model), x, y, most_steps=5)
    assert not short["stopped"] and short["steps"] == 5


def test_it_is_a_module():
    training, (x, _) = luge.train("copy_label", landscape="plain"), tensors("copy_label")
    net = luge.torch.module(training.model, trained=True)
    blank = luge.torch.module(luge.train_job("copy_label", landscape="plain"))
    assert set(net.state_dict()) == set(training.model.weights) and len(list(net.buffers())) > 5
    assert not torch.equal(net(x), blank(x))
    blank.load_state_dict(net.state_dict())
    assert torch.equal(net(x), blank(x)) and np.array_equal(net(x).detach(), training.predict(x.numpy()))
    # Once trained it takes any number of samples, as f_theta does.
    for n in (1, 3, 11):
        fresh = torch.linspace(-1, 1, n, dtype=F64).reshape(-1, 1).expand(-1, x.shape[1])
        assert np.array_equal(net(fresh).detach(), training.predict(fresh.numpy()))
    with pytest.raises(ValueError, match="features"):
        net(torch.zeros(2, 9))
    assert net.to(F32)(x).dtype == F32


def test_a_spoilt_network_goes_another_way():
    training, (x, y) = luge.train("copy_label", landscape="plain"), tensors("copy_label")
    spoilt = training.model.graph()
    linear = next(node for node in spoilt["nodes"] if node["op"] == "linear" and len(node["entries"]) > 4)
    linear["entries"][0][2] = -linear["entries"][0][2]
    run = luge.torch.train(Network(luge.graph.Graph(spoilt)), x, y, most_steps=2 * training.steps)
    assert (run["stopped"], run["path"]) != (True, training.path)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_replays_captured_steps():
    training, (x, y) = luge.train("mean", landscape="plain"), tensors("mean")
    net = luge.torch.module(training.model).cuda()
    run = luge.torch.train(net, x.cuda(), y.cuda(), torch.optim.SGD(net.parameters(), lr=1.0), chunk=64)
    assert run["stopped"] and (run["steps"], run["path"]) == (training.steps, training.path)
