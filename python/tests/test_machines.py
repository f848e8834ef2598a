"""Machines and landscapes."""

import numpy as np
import pytest

import luge

BB4 = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"


def test_a_machine_runs():
    run = luge.run(BB4)
    assert (run.outcome, run.steps, run.nonzero, run.state) == ("halted", 107, 13, "Z")
    assert run.tapes == ["10111111111111"[:14]] and run.heads == [-9]
    assert luge.run("bb4").summary["steps"] == 107


def test_a_run_stops_at_its_limit():
    run = luge.run("bb5", steps=1000)
    assert (run.outcome, run.steps) == ("step-limit", 1000)


def test_inputs_lie_on_the_tapes():
    wipe = "machine\ntape t: _ 1 blank _\na:\n1 -> _, R, a\n_ -> _, S, z\nz: accept\n"
    assert luge.run(wipe, "111").steps == 4 and luge.run(wipe, ["1"]).steps == 2 and luge.run(wipe).steps == 1
    assert luge.trace(wipe, "111").exact


def test_a_trace_has_arrays_of_every_step():
    trace = luge.trace("bb4")
    assert trace.exact and trace.mismatches == 0 and trace.outcome == "halted"
    assert trace.losses.shape == trace.vertices.shape == (108,) and trace.heads.shape == (108, 1)
    assert trace.losses.dtype == np.float64 and trace.vertices.dtype == np.int64
    assert trace.losses[-1] == trace.loss["last"] < trace.bounds["stop"] <= trace.losses[:-1].min()
    # Heads move by one cell at most, and end where the simulator's does.
    assert (abs(np.diff(trace.heads[:, 0])) <= 1).all() and trace.heads[-1, 0] == luge.run("bb4").heads[0]


def test_arrays_are_handed_over_not_copied():
    trace = luge.trace("bb4")
    assert trace.losses is trace.losses and not trace.losses.flags["OWNDATA"]


def test_without_arrays_there_are_none():
    trace = luge.trace("bb4", arrays=False, compare="end")
    assert trace.exact and trace.losses is trace.vertices is trace.heads is None
    with pytest.raises(luge.LugeError, match="arrays=False"):
        luge.trace("bb4", compare="end")


@pytest.mark.parametrize("landscape", ["compact", "relu", "plain"])
def test_all_landscapes_go_the_same_way(landscape):
    trace = luge.trace("bb3", landscape=landscape)
    assert trace.exact and trace.steps == 21 and trace.landscape == landscape
    assert (trace.heads == luge.trace("bb3").heads).all()


def test_internal_falls():
    trace = luge.trace("bb2", landscape="internal")
    assert trace.exact and trace.strictly_falling and (np.diff(trace.losses) < 0).all()


def test_noise_breaks_compact_and_not_plain():
    assert not luge.trace("bb4", noise=0.1, seed=1, steps=107).exact
    noisy = luge.trace("bb4", noise=0.02, seed=1, landscape="plain")
    assert noisy.exact and noisy.engine == "dense" and noisy.noise == 0.02 and noisy.seed == 1


def test_options_are_refused_in_the_librarys_words():
    with pytest.raises(luge.LugeError, match="there is no landscape `flat`; there are"):
        luge.trace("bb4", landscape="flat")
    with pytest.raises(luge.LugeError, match="noise of relative size"):
        luge.trace("bb4", noise=-1.0)
    with pytest.raises(TypeError, match="nosie"):
        luge.trace("bb4", nosie=0.1)
    with pytest.raises(luge.LugeError, match="there is no file `nowhere.tm`"):
        luge.run("nowhere.tm")


def test_a_broken_machine_is_shown_where_it_is_broken():
    with pytest.raises(luge.LugeError) as caught:
        luge.run("1RB1LB_1LX")
    error = caught.value
    assert error.findings and error.text == "1RB1LB_1LX"
    finding = error.findings[0]
    assert finding["line"] == 1 and finding["column"] > 1 and finding["span"][0] < finding["span"][1]
    assert f"1:{finding['column']}: {finding['message']}" in str(error) and "^" in str(error)


def test_steps_can_be_walked_through():
    trace = luge.trace("bb4")
    walked = list(luge.steps(luge.trace_job("bb4")))
    assert [step.step for step in walked] == list(range(108))
    assert [step.loss for step in walked] == trace.losses.tolist()
    assert [step.vertex for step in walked] == trace.vertices.tolist()
    assert np.array([step.heads for step in walked]).tolist() == trace.heads.tolist()
    first, cells = walked[-1].tapes[0]
    written = {first + i for i, cell in enumerate(cells) if cell == 1}
    run = luge.run("bb4")
    assert written == {run.first_cells[0] + i for i, symbol in enumerate(run.tapes[0]) if symbol == "1"}


def test_a_walk_can_be_left():
    walk = luge.steps(luge.trace_job("bb5"))
    assert [next(walk).step for _ in range(5)] == [0, 1, 2, 3, 4]
    del walk


def test_callbacks_see_steps_and_can_stop():
    seen = []
    luge.trace("bb4", callback=lambda step, loss: seen.append((step, loss)), every=10)
    assert [step for step, _ in seen] == list(range(0, 108, 10))
    stopped = luge.trace("bb4", callback=lambda step, loss: step == 50)
    assert stopped.outcome == "interrupted" and stopped.steps == 50

    def fail(step, loss):
        raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        luge.trace("bb4", callback=fail)


def test_callbacks_see_every_step_of_a_training_too():
    seen = []
    training = luge.train("mean", callback=lambda step, loss: seen.append(step))
    assert seen == list(range(training.steps + 1))


def test_a_plot_has_every_loss_whoever_has_watched():
    assert luge.trace("bb4", arrays=False).plot() == luge.trace("bb4").plot()
    unwatched, watched = luge.train("mean"), luge.train("mean", callback=lambda step, loss: None)
    assert unwatched.plot() == watched.plot()
    assert luge.train("copy_label").plot().count("<circle") >= 12
    # Twice the same, and the same for a run that is longer than one looks at every step of.
    far, near = luge.train("sgd_linear"), luge.train("sgd_linear", callback=lambda step, loss: None, every=1024)
    assert far.plot() == far.plot() == near.plot()


def test_notebooks_get_pictures():
    trace, run = luge.trace("bb4"), luge.run("bb4")
    assert "mismatches" in trace._repr_html_() and "<svg" in trace._repr_html_()
    assert trace.plot()._repr_svg_().startswith("<svg")
    assert trace.picture(64, 128)._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n" == run.picture()[:8]
    assert "halted in state Z" in run._repr_html_()
    with pytest.raises(luge.LugeError, match="too few"):
        run.picture(0, 0)
