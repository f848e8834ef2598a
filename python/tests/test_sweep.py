"""Many runs."""

import json
import signal

import numpy as np
import pandas
import pytest

import luge


def jobs(n_seeds):
    noisy = lambda landscape, noise, seed: luge.trace_job("bb4", landscape=landscape, noise=noise, seed=seed)
    return list(luge.grid(noisy, landscape=["compact", "plain"], noise=[0.0, 0.01, 0.05, 0.1], seed=range(n_seeds)))


def test_a_sweep_keeps_its_rows(tmp_path):
    entries = jobs(2)
    frame = luge.sweep(entries, folder=tmp_path, workers=2)
    assert len(frame) == 16 and frame.exact[frame.noise == 0].all()
    plain = frame[frame.landscape == "plain"]
    assert plain.exact[plain.noise <= 0.01].all() and not frame[(frame.landscape == "compact") & (frame.noise == 0.1)].exact.any()
    # What is there is not run again, and what is gone is.
    files = sorted(tmp_path.iterdir())
    assert len(files) == 16
    marked = json.loads(files[0].read_text()) | {"outcome": "from the disk"}
    files[0].write_text(json.dumps(marked))
    files[1].unlink()
    done = []
    again = luge.sweep(entries, folder=tmp_path, callback=lambda n, of: done.append((n, of)))
    assert done == [(16, 16)] and (again.outcome == "from the disk").sum() == 1
    assert again.drop(columns="outcome").equals(frame.drop(columns="outcome"))


def test_a_job_that_is_refused_has_a_row():
    frame = luge.sweep([luge.trace_job("bb5", landscape="internal"), ({"which": "right"}, luge.trace_job("bb2"))])
    assert "does not halt" in frame.error[0] and frame.error.isna()[1] and frame.which[1] == "right"
    with pytest.raises(luge.LugeError, match="there is no place `mars`"):
        luge.sweep([], on="mars")


def test_a_killed_ray_worker_loses_nothing(tmp_path):
    """200 jobs on two workers, one of which is killed in the middle."""
    ray, psutil = pytest.importorskip("ray"), pytest.importorskip("psutil")
    entries, killed = jobs(25), []
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def kill_one(n_done, n_all):
        if n_done >= 60 and not killed:
            workers = [p for p in psutil.Process().children(recursive=True) if p.name().startswith("ray::run_job")]
            # Between two jobs a worker has another name; then the next one that is done is waited for.
            for worker in workers[:1]:
                worker.send_signal(signal.SIGKILL)
                killed.append(worker.pid)

    try:
        frame = luge.sweep(entries, on="ray", folder=tmp_path, callback=kill_one)
    finally:
        ray.shutdown()
    assert killed and len(frame) == 200 and len(list(tmp_path.glob("*.json"))) == 200
    assert frame.equals(luge.sweep(entries))


def test_a_learner_beside_ordinary_networks(tmp_path):
    asked = dict(seeds=2, samples=256, primary="linear")
    frame = luge.compare("stream_perceptron", ["halfspace:features=1", "halfspace:features=2"], folder=tmp_path, **asked)
    # Of each stream the learner, and two optimisers with three rates on one and on two hidden layers.
    assert len(frame) == 2 * 2 * 13 and set(frame.seed) == {0, 1} and frame.error.isna().all()
    learner, others = frame[frame.network == "learner"], frame[frame.network != "learner"]
    assert learner.certified.all() and (learner.right > 0.9).all() and (learner.taken > 0).all()
    assert (others.samples == 256).all() and set(others.optimiser) == {"SGD", "Adam"} and set(others.depth) == {1, 2}
    assert all(curve[0][0] == 0 and curve[-1] == [samples, right] for curve, samples, right in zip(frame.curve, frame.samples, frame.right))
    # A row says what the learner alone does on the same stream.
    alone = luge.stream("stream_perceptron", draw="halfspace:features=2", seed=1)
    row = learner[(learner.draw == "halfspace:features=2") & (learner.seed == 1)].iloc[0]
    assert (row.samples, row.taken, round(row.right * 10_000)) == (alone.steps, alone.taken, alone.judged[0])
    # What is there is not run again.
    assert len(list(tmp_path.iterdir())) == 4
    done = []
    again = luge.compare("stream_perceptron", ["halfspace:features=1", "halfspace:features=2"], folder=tmp_path, callback=lambda *n: done.append(n), **asked)
    assert not done and again.equals(frame)
    refused = luge.compare("stream_perceptron", "halfspace:features=2", samples=64, format="fix:2.0", steps=10)
    assert not refused.certified[0]
    with pytest.raises(luge.LugeError, match="cannot be drawn"):
        luge.compare("parity", "parity:bits=a")


def test_a_comparison_on_ones_own_data():
    """Two classes that a plane separates: the learner is right on every row, at labels -1 and 1 as at 0 and 1."""
    x = np.random.default_rng(1).integers(-4, 5, size=(200, 2)) / 4
    right = x[:, 0] + x[:, 1] > 0.5
    signs = luge.compare("stream_perceptron", (x, np.where(right, 1.0, -1.0)), samples=4096, seeds=2)
    best = signs[signs.network != "learner"].groupby("seed").right.max()
    assert len(signs) == 26 and (best > 0.9).all() and signs[signs.network == "learner"].right.min() > 0.9
    frame = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "class": np.where(right, 1.0, -1.0)})
    assert signs.equals(luge.compare("stream_perceptron", frame, target="class", samples=4096, seeds=2))
    several = luge.compare("stream_mean", (x, np.arange(200) / 64), samples=64)
    assert "not two numbers of one column" in several.error[0]


def test_a_comparison_by_ray(tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        frame = luge.compare("parity", "parity:bits=4,hidden=2", seeds=[3, 5], samples=128, on="ray")
    finally:
        ray.shutdown()
    assert frame.equals(luge.compare("parity", "parity:bits=4,hidden=2", seeds=[3, 5], samples=128))
