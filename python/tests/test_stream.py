"""Learners on streams: generators, frames, arrays and draws, on both landscapes, and estimators that learn batch by batch."""

import itertools
import pickle
import warnings

import numpy as np
import pandas
import pytest

import luge
from luge.sklearn import LugeClassifier, LugeRegressor


@luge.learner
def counted(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
    """The sums of the labels and of the features of five samples."""
    for _ in range(5):
        x, y = luge.take()
        theta[0] += y
        for i in range(len(x)):
            theta[i + 1] += x[i]


def drawn(seed: int = 0):
    generator = np.random.default_rng(seed)
    while True:
        x = generator.integers(-4, 5, size=2) / 4
        yield x, 1.0 if x[0] > x[1] else -1.0


@pytest.mark.parametrize("landscape", ["plain", "mlp"])
def test_a_generator(landscape):
    result = luge.stream(counted, drawn(), landscape=landscape, format="fix:6.4")
    assert result.certified and result.halted and result.taken == 5 and result.landscape == landscape
    x, y = result.samples
    # Whichever five samples were taken, the same function in Python agrees on them and on no others.
    sums = result.theta
    if landscape == "mlp":
        chosen = [rows for rows in itertools.combinations(range(result.steps + 1), 5) if np.allclose([y[list(rows)].sum(), *x[list(rows)].sum(0)], sums)]
        assert chosen and any(counted(x[list(rows)], y[list(rows)], format="fix:6.4").tolist() == sums.tolist() for rows in chosen)
    new = np.array([[0.5, 0.25], [1.0, -1.0]])
    assert result.predict(new)[:, 0].tolist() == (sums[0] + new @ sums[1:]).tolist()
    audit = result.model.certify(x, y)
    assert audit and audit.claims["retrained"]["holds"]
    with pytest.raises(luge.LugeError, match="not the data that the model was trained on"):
        result.model.certify(x[::-1], y[::-1])
    again = luge.stream(counted, drawn(), landscape=landscape, format="fix:6.4")
    assert again.theta.tolist() == sums.tolist() and again.summary == result.summary


def test_every_kind_of_sample_is_the_same_stream():
    rows = list(itertools.islice(drawn(3), 4096))
    frame = pandas.DataFrame([[*x, y] for x, y in rows], columns=["a", "b", "label"])
    as_pairs = luge.stream(counted, iter(rows), landscape="mlp", format="fix:6.4")
    for samples, target in [
        ((tuple([*x, y]) for x, y in rows), None),
        (({"a": x[0], "b": x[1], "y": y} for x, y in rows), None),
        (({"a": x[0], "b": x[1], "y": y} if k % 2 == 0 else {"y": y, "b": x[1], "a": x[0]} for k, (x, y) in enumerate(rows)), None),
        (frame.iterrows(), "label"),
        (frame.itertuples(), "label"),
        (frame, "label"),
        (frame.to_dict("records"), ["label"]),
        (([x for x, _ in rows], [y for _, y in rows]), None),
    ]:
        result = luge.stream(counted, samples, target=target, landscape="mlp", format="fix:6.4")
        assert result.theta.tolist() == as_pairs.theta.tolist() and result.certified
    by_name = luge.stream(counted, frame.iterrows(), target="label", landscape="mlp", format="fix:6.4")
    new = pandas.DataFrame({"b": [1.0], "a": [0.5]})
    assert by_name.predict(new).tolist() == by_name.predict([[0.5, 1.0]]).tolist()
    with pytest.raises(luge.LugeError, match="unknown column c"):
        by_name.predict(new.assign(c=1.0))


def test_samples_pass_once():
    with pytest.raises(luge.LugeError, match="3 samples passed, of which the learner took"):
        luge.stream(counted, itertools.islice(drawn(), 3), landscape="mlp", format="fix:6.4")
    with pytest.raises(luge.LugeError, match="no samples"):
        luge.stream(counted, iter([]))
    with pytest.raises(luge.LugeError, match="name the label with target"):
        luge.stream(counted, iter([{"a": 1.0, "b": 2.0}]))
    with pytest.raises(luge.LugeError, match="different numbers of features"):
        luge.stream(counted, iter([(1.0, 2.0), (1.0, 2.0, 3.0)]))
    with pytest.raises(luge.LugeError, match="the features a, c, but the first one has a, b"):
        luge.stream(counted, iter([{"a": 1.0, "b": 2.0, "y": 1.0}, {"a": 1.0, "c": 2.0, "y": 1.0}]))
    asked = []
    endless = (asked.append(1) or sample for sample in drawn())
    luge.stream(counted, endless, landscape="mlp", format="fix:6.4")
    assert len(asked) == 4096


def test_draws_and_those_that_ship():
    result = luge.stream("parity", draw="parity:bits=4,hidden=2")
    assert result.certified and result.theta.sum() == 2 and result.judged == [10000, 10000] and result.samples is None
    again = pickle.loads(pickle.dumps(result))
    assert again.theta.tolist() == result.theta.tolist() and repr(again) == repr(result) and str(again.plot()) == str(result.plot())
    assert again.model.certify() and luge.Job.from_json(again._job.to_json()).kind == "stream"
    mlp = luge.stream("parity", draw="parity:bits=4,hidden=2", landscape="mlp")
    assert mlp.certified and mlp.theta.tolist() == result.theta.tolist() and mlp.steps < result.steps


def test_landscape_mlp_takes_machines_and_circuits(tmp_path):
    machine = luge.stream("parity_machine", draw="parity:bits=2,hidden=1", landscape="mlp")
    assert machine.certified and machine.theta.sum() == 1
    tapes = luge.stream("parity", draw="parity:bits=2,hidden=1", landscape="mlp", via="tapes", engine="sparse")
    assert tapes.certified and tapes.theta.tolist() == machine.theta.tolist()
    circuit = luge.stream("parity_circuit:4", landscape="mlp", precision="f32")
    assert circuit.certified and circuit.judged == [200, 200] and circuit.engine == "dense" and "certified" in repr(circuit)
    assert luge.stream("which_bit:4", draw="parity:bits=4,hidden=1", landscape="mlp", engine="sparse").engine == "sparse"
    (tmp_path / "broken.aag").write_text("aag 1 1 0 0 0\n3\n")
    with pytest.raises(luge.LugeError, match="does not read as an AIGER circuit") as caught:
        luge.stream(str(tmp_path / "broken.aag"), landscape="mlp")
    assert caught.value.findings
    (tmp_path / "idle.aag").write_text("aag 2 1 0 2 1\n2\n4\n4\n4 2 2\ni0 x[0]\no0 halted\no1 other\n")
    with pytest.warns(UserWarning, match="idle.aag: "):
        luge.stream(str(tmp_path / "idle.aag"), landscape="mlp")


def test_models_certify_on_the_numbers_that_were_given():
    x, y = np.array([[0.3], [1.1], [-0.7]]), np.array([1.2, -0.4, 0.9])
    text = "learner last(x: [fix<I,F>; 1], y: fix<I,F>) -> theta: [fix<I,F>; 2] { for sample in data { theta[0] = y; } }\n"
    result = luge.stream(text, (x, y), landscape="mlp", format="fix:3.2")
    assert result.certified and result.model.certify(x, y)


def test_models_of_streams_are_files(tmp_path):
    result = luge.stream("parity", draw="parity:bits=3,hidden=2", landscape="mlp")
    result.model.save(tmp_path / "m.safetensors")
    read = luge.StreamModel.load(tmp_path / "m.safetensors")
    x = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    assert read.predict(x).tolist() == result.predict(x).tolist() == [[row @ result.theta % 2] for row in x]
    with pytest.raises(luge.LugeError, match="no model of a stream"):
        luge.StreamModel.from_bytes(b"nothing")


@pytest.mark.parametrize("landscape", ["plain", "mlp"])
def test_overflow_is_said(landscape):
    """200 times theta[0] += 1 under fix:8.0."""
    text = "learner f(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {\n    for i in 0..200 {\n        take;\n        theta[0] += 1;\n    }\n}\n"
    with pytest.warns(luge.OverflowWarning, match="wrapped around"):
        result = luge.stream(text, ([[0.0]], [0.0]), format="fix:8.0", landscape=landscape)
    assert result.theta[0] == -56 and "OVERFLOW" in repr(result) and "OVERFLOW" in result._repr_html_()


def test_a_callback_stops_the_run():
    seen = []
    result = luge.stream("parity", draw="parity:bits=4,hidden=2", callback=lambda step, loss: seen.append((step, loss)) or step >= 100)
    assert len(seen) == 101 and not result.halted and not result.certified and seen[0][1] > 0


def test_streams_in_a_sweep():
    jobs = luge.grid(lambda seed, landscape: luge.stream_job("parity", draw="parity:bits=3,hidden=1", seed=seed, landscape=landscape), seed=[0, 1], landscape=["plain", "mlp"])
    frame = luge.sweep(jobs, on="local", workers=1)
    assert frame.certified.all() and len(frame) == 4 and frame.theta.map(sum).tolist() == [1, 1, 1, 1]


def test_what_is_refused():
    with pytest.raises(TypeError, match="not both"):
        luge.stream("parity", drawn(), draw="parity:bits=3")
    with pytest.raises(luge.LugeError, match="arrays and frames"):
        luge.stream(counted, drawn(), scale="standard")
    with pytest.raises(luge.LugeError, match="lies outside fix:2.0|fix:"):
        luge.stream(counted, iter([(99.0, 1.0)] * 9), format="fix:2.0")
    with pytest.raises(luge.LugeError, match="`cells` has no effect on which_bit"):
        luge.stream("which_bit", landscape="mlp", cells=64)
    with pytest.raises(luge.LugeError, match="`precision` has no effect on parity on landscape plain"):
        luge.stream("parity", precision="f32")
    with pytest.raises(luge.LugeError, match="loops over its data"):
        luge.stream("perceptron", drawn(), landscape="mlp")
    with pytest.raises(luge.LugeError, match="no data of its own"):
        luge.stream(counted)
    with pytest.raises(luge.LugeError, match="callback"):
        luge.stream_job("parity").steps()


def batches(n: int):
    generator = np.random.default_rng(1)
    x = np.round(generator.normal(size=(n, 2)) * 4) / 4
    return np.array_split(x, 3), np.array_split(np.where(x[:, 0] > x[:, 1], "yes", "no"), 3)


def test_partial_fit_is_fit_on_all_rows_so_far():
    xs, ys = batches(30)
    learning = LugeClassifier()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        learning.partial_fit(xs[0], ys[0])
    for i, (x, y) in enumerate(zip(xs, ys)):
        learning.partial_fit(x, y, classes=["yes", "no"])
        whole = LugeClassifier().fit(np.concatenate(xs[: i + 1]), np.concatenate(ys[: i + 1]))
        assert learning.theta_.tolist() == whole.theta_.tolist() and learning.n_iter_ == whole.n_iter_
    assert learning.classes_.tolist() == ["no", "yes"] and pickle.loads(pickle.dumps(learning)).partial_fit(xs[0], ys[0]).n_iter_ > whole.n_iter_
    with pytest.raises(ValueError, match="features"):
        learning.partial_fit([[1.0]], ["yes"])
    with pytest.raises(ValueError, match="unseen labels"):
        learning.partial_fit(xs[0][:1], ["perhaps"])
    assert learning.fit(xs[0], ys[0]).n_iter_ < whole.n_iter_
    numbers = LugeRegressor(constants={"ROUNDS": 1}).partial_fit(xs[0], xs[0][:, 0]).partial_fit(xs[1], xs[1][:, 0])
    assert numbers.theta_.tolist() == LugeRegressor(constants={"ROUNDS": 1}).fit(np.concatenate(xs[:2]), np.concatenate(xs[:2])[:, 0]).theta_.tolist()


def test_rows_that_were_refused_are_not_kept():
    xs, ys = batches(30)
    learning = LugeClassifier(format="fix:4.4").partial_fit(xs[0], ys[0], classes=["yes", "no"])
    with pytest.raises(luge.LugeError, match="outside fix:4.4"):
        learning.partial_fit([[100.0, 0.0]], ["yes"])
    learning.partial_fit(xs[1], ys[1])
    whole = LugeClassifier(format="fix:4.4").fit(np.concatenate(xs[:2]), np.concatenate(ys[:2]))
    assert learning.theta_.tolist() == whole.theta_.tolist()


def test_estimators_take_learners_of_streams():
    xs, ys = batches(60)
    x, y = np.concatenate(xs), np.concatenate(ys)
    with warnings.catch_warnings():
        warnings.simplefilter("error", luge.OverflowWarning)
        fitted = LugeClassifier("stream_perceptron", landscape="mlp").fit(x, y)
    # It halts after fifty samples in a row that it has right.
    assert fitted.score(x, y) > 0.95 and fitted.certificate_ and isinstance(fitted.model_, luge.StreamModel)
    assert pickle.loads(pickle.dumps(fitted)).predict(x).tolist() == fitted.predict(x).tolist()


@pytest.mark.parametrize("landscape", ["plain", "mlp"])
def test_samples_of_ones_own_choose_the_format(landscape):
    """200 ones do not fit fix:4.4, the format of learners that name none."""

    @luge.learner
    def ones(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
        n: luge.int_[10] = 0
        while n < 200:
            x, y = luge.take()
            theta[0] += 1
            n += 1

    job = luge.stream_job(ones, drawn(), landscape=landscape)
    assert job.format_choice.startswith("fix:9.") and "the smallest in which no number wraps around" in job.format_choice
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = job.run()
    assert result.theta[0] == 200 and result.certified and result.overflow is None
    assert luge.stream_job(ones, drawn(), landscape=landscape, format="fix:12.4").format_choice is None
    by_name = luge.stream_job(ones, draw="halfspace:features=2", landscape=landscape, format="auto")
    assert by_name.format_choice.startswith("fix:9.")
