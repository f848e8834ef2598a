"""Many runs."""

import json
import signal

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
