"""For people who study training: variables in the weights, a zoo of networks, results that travel."""

import json
import pickle

import numpy as np
import pytest

import luge
import luge.zoo

TEXT = """learner f(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
    let n: int<8>;
    let last: [fix<I,F>; M];
    let seen: bit;
    for sample in data {
        n += 1;
        seen = y > 0;
        last = x;
        theta[0] += y;
    }
    for i in 0..M { theta[i + 1] = last[i]; }
}
"""
X = np.array([[1.0, 0.5], [-2.0, 0.25], [3.0, -1.5]])
Y = np.array([1.0, -1.0, -0.5])


@pytest.fixture(scope="module")
def training() -> luge.Training:
    return luge.train(TEXT, X, Y, format="fix:6.4")


def test_weights_hold_variables(training):
    """The trained weights, read by the frame alone, are the variables' values at the end."""
    frame, weights = training.model.variables(), training.model.weights
    assert set(frame.variable) >= {"n", "last", "seen", "theta"}
    end = training.variables(training.steps)
    for name, expected in {"n": [3], "last": X[2], "seen": [0], "theta": [-0.5, *X[2]]}.items():
        bits = frame[frame.variable == name]
        ones = [weights[block][row, column] > 0 for block, row, column in zip(bits.block, bits.row, bits.column)]
        read = (bits.value * ones).groupby(bits.element).sum()
        assert read.tolist() == list(expected) == np.atleast_1d(end[name]).tolist(), name
    assert (frame[frame.variable == "n"].first_line == 2).all() and (frame.last_line <= len(TEXT.splitlines())).all() and len(frame[frame.variable == "n"]) == 8


def test_variables_at_any_step(training):
    """Each value that a variable takes, in order, is what the program gives it; the steps may come in any order."""
    steps = np.arange(training.steps + 1)
    values = training.variables(steps)
    assert values["n"].shape == (len(steps),) and values["last"].shape == (len(steps), 2) and values["theta"].shape == (len(steps), 3)
    # Words are written bit by bit: a value counts where it stays.
    stays = np.concatenate([[True], (np.diff(values["n"]) != 0)])
    long = [value for value, start, end in zip(values["n"][stays], np.flatnonzero(stays), [*np.flatnonzero(stays)[1:], len(steps)]) if end - start > 20]
    assert long == [0, 1, 2, 3]
    assert values["theta"][-1].tolist() == training.theta.tolist() and (values["theta"][0] == 0).all()
    shuffled = training.variables([training.steps, 0, 40])
    assert all((shuffled[name] == values[name][[training.steps, 0, 40]]).all() for name in values)
    assert training.variables(40)["n"] == values["n"][40]


def test_training_pickles(training):
    again = pickle.loads(pickle.dumps(training))
    assert repr(again) == repr(training) and again.summary == training.summary and again.certified
    assert again.predict(X).tolist() == training.predict(X).tolist() and again.model.certify(X, Y)
    assert str(again.plot()) == str(training.plot()) and again.variables(40)["n"] == training.variables(40)["n"]


def test_a_machine_has_no_variables():
    training = luge.train("mean")
    assert training.variables(3) == {} and len(training.model.variables()) == 0


def test_the_zoo(tmp_path):
    """One network of each recipe, read back, derived again, and the same whoever builds them."""
    n = len(luge.zoo.TABLES) + len(luge.zoo.STREAMS)
    done = []
    zoo = luge.zoo.build(tmp_path / "zoo", n, workers=1, callback=lambda k, of: done.append((k, of)))
    assert len(zoo) == n and done[-1] == (n, n) and len(zoo.frame().learner.unique()) >= 8
    for entry in zoo:
        assert "learner" in entry.algorithm and entry.certify(), entry
        assert entry.data is None or entry.model.predict(entry.data[0]).shape == entry.data[1].shape
    again = luge.zoo.load(tmp_path / "zoo")
    manifest = json.loads((tmp_path / "zoo" / "manifest.json").read_text())
    assert [entry.figures for entry in again] == manifest
    assert luge.zoo.build(tmp_path / "zoo", n + 1, workers=1)[n].name.startswith(f"{n:03}")
    assert len(luge.zoo.build(tmp_path / "zoo", 2, workers=1)) == n + 1
    (again[0].folder / "model.safetensors").write_bytes(again[1].model.to_bytes())
    with pytest.raises(luge.LugeError, match="not the file that the manifest lists"):
        again[0].model
    assert luge.zoo.job(3) == luge.zoo.job(3) and len({luge.zoo.job(k).key for k in range(100)}) == 100
