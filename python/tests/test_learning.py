"""Learners on data."""

import json
import pickle
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import luge

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def perceptron():
    return luge.train("perceptron")


def test_the_first_command(perceptron):
    assert perceptron.certified and perceptron.classified == 150
    assert perceptron.theta.tolist() == [1, 1.375, 5.125, -6.875, -3.125]
    steps = re.search(r"After ([\d,]+) gradient steps", (ROOT / "README.md").read_text(encoding="utf-8"))[1]
    path = re.search(r"\| path \| `([0-9a-f]{16})`", (ROOT / "docs" / "torch.md").read_text(encoding="utf-8"))[1]
    assert (f"{perceptron.steps:,}", perceptron.path) == (steps, path)
    assert all(claim["holds"] for claim in perceptron.certificate.values())


def test_arrays_frames_and_files_are_the_same():
    shipped = luge.train("sgd_linear")
    x, y, features, labels = luge.dataset("sgd_linear")
    frame, series = pd.DataFrame(x, columns=features), pd.Series(y[:, 0], name=labels[0])
    for data in [(x, y), (x, y[:, 0]), (frame, series), (np.asfortranarray(x), y[::-1][::-1]), (x.tolist(), y.tolist())]:
        job = luge.train_job("sgd_linear", *data, format="fix:4.8")
        # The numbers that the job holds, row by row, are those of the file.
        table = json.loads(job.to_json())["train"]["data"]["table"]
        assert table["x"] == x.ravel().tolist() and table["y"] == y.ravel().tolist()
        assert (table["features"], table["labels"]) == ((features, labels) if data[0] is frame else (["x0", "x1"], ["y"]))
    again = job.run()
    assert again.path == shipped.path and (again.theta == shipped.theta).all()


def test_the_papers_vertices_and_bits_made_of_units():
    every, few, units = (luge.train("copy_label", **options) for options in ({"vertices": "all"}, {}, {"bits": "network"}))
    assert every.vertices > few.vertices and every.theta.tolist() == few.theta.tolist() == units.theta.tolist() and units.bits == "network"


def test_a_program_of_ones_own():
    program = luge.program("sgd_linear")
    x, y, *_ = luge.dataset("sgd_linear")
    own = luge.train(program.replace("sgd", "my_sgd", 1), x, y, format="fix:4.8")
    assert own.certified and (own.theta == luge.train("sgd_linear").theta).all()


def test_a_broken_program_is_shown_where_it_is_broken():
    x, y, *_ = luge.dataset("sgd_linear")
    broken = luge.program("sgd_linear").replace("theta", "tehta", 2)
    with pytest.raises(luge.LugeError, match="is not a valid Sled program") as caught:
        luge.train(broken, x, y, format="fix:4.8")
    finding = caught.value.findings[0]
    line = broken.splitlines()[finding["line"] - 1]
    assert line[finding["column"] - 1 :].encode().startswith(broken.encode()[slice(*finding["span"])].split(b"\n")[0])
    assert pickle.loads(pickle.dumps(caught.value)).findings == caught.value.findings


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(luge.LugeError, match=r"the data: row 1, column `x0`: 9 lies outside fix:3.2"):
        luge.train("copy_label", [[1], [9]], [1, 1])
    assert luge.train_job("copy_label", [[1], [9]], [1, 1], saturate=True)
    for x, y, message in [
        ([[1]], [1, 2], "x has 1 rows, y has 2"), ([[np.nan]], [1], "NaN is not a finite number"), (np.zeros((0, 1)), [], "nothing to learn from"),
    ]:
        with pytest.raises(luge.LugeError, match=message):
            luge.train("mean", x, y)
    with pytest.raises(TypeError, match="y without x"):
        luge.train("mean", y=[1])
    with pytest.raises(luge.LugeError, match="takes labels, and the data have none"):
        luge.train("mean", [[1]])
    with pytest.raises(luge.LugeError, match="has no data of its own"):
        luge.train(luge.program("mean") + "\n# another text\n")


def test_a_model_survives_its_file(perceptron, tmp_path):
    path = tmp_path / "model.safetensors"
    perceptron.model.save(path)
    loaded = luge.Model.load(path)
    again = pickle.loads(pickle.dumps(loaded))
    x, y, *_ = luge.dataset("perceptron")
    for model in (loaded, again):
        assert (model.theta == perceptron.theta).all() and model.card == perceptron.model.card
        assert (model.predict(x) == perceptron.predict(x)).all()
    assert ((loaded.predict(x) > 0) == (y > 0)).all()
    assert all((loaded.weights[name] == block).all() for name, block in perceptron.model.weights.items())
    with pytest.raises(OSError, match="cannot read"):
        luge.Model.load(tmp_path / "nothing")


def test_no_file_is_replaced_unasked(perceptron, tmp_path):
    writers = {
        "model.safetensors": perceptron.model.save,
        "plot.svg": perceptron.plot().save,
        "run.png": luge.run("bb2").picture(8, 8).save,
        "f.onnx": lambda path, **force: pytest.importorskip("luge.onnx").export(perceptron.model, path, **force),
    }
    (tmp_path / "link").symlink_to("theirs")
    for name, write in writers.items():
        path = tmp_path / name
        path.write_text("somebody's")
        with pytest.raises(FileExistsError, match="already exists: give another name, or force=True"):
            write(path)
        assert path.read_text() == "somebody's"
        write(path, force=True)
        assert b"somebody's" not in path.read_bytes()
        for place, kind in ((tmp_path / "link", "a link"), ("/dev/null", "a device or a pipe"), (tmp_path, "a folder")):
            with pytest.raises(OSError, match=f"is {kind}, not a regular file"):
                write(place, force=True)
    # Nothing else is left, and the files have the permissions of any other.
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*writers, "link"])
    (tmp_path / "any").touch()
    assert {(tmp_path / name).stat().st_mode for name in writers} == {(tmp_path / "any").stat().st_mode}


def test_a_folder_is_written_whole_or_not_at_all(perceptron, tmp_path):
    (tmp_path / "README.md").write_text("somebody's")
    with pytest.raises(FileExistsError, match="README.md already exists"):
        luge.hub.save(perceptron.model, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]
    luge.hub.save(perceptron.model, tmp_path, force=True)
    assert luge.hub.load(tmp_path).card == perceptron.model.card and "somebody's" not in (tmp_path / "README.md").read_text()


def test_x_must_fit_the_model(perceptron):
    with pytest.raises(luge.LugeError, match="x has 2 features, the model 4"):
        perceptron.predict(np.zeros((1, 2)))


def test_columns_are_prepared_and_rows_held_out():
    x = np.array([[i if i < 20 else i + 40.0, 2.0] for i in range(40)])
    y = np.where(np.arange(40) < 20, -1.0, 1.0)
    x[7, 1] = np.nan
    with pytest.raises(luge.LugeError, match="not a finite number"):
        luge.train("perceptron", x, y, format="fix:8.6")
    training = luge.train("perceptron", x, y, format="fix:8.6", missing="mean", scale="minmax", split=0.25, split_seed=5)
    assert training.certified and training.classified == 30 and training.tested["of"] == 10 and training.tested["right"] >= 9
    assert training.model.card["preparation"]["asked"]["scale"] == "minmax"
    assert (np.sign(training.model.predict(np.array([[1.0, np.nan], [70.0, 2.0]]))[:, 0]) == [-1, 1]).all()
    assert training.model.certify(x, y)


def test_a_model_is_certified_again():
    training = luge.train("sgd_linear")
    x, y, *_ = luge.dataset("sgd_linear")
    audit = training.model.certify(x, y)
    assert audit and audit.claims["retrained"]["holds"] and "bit for bit" in repr(audit) and audit.not_checked == []
    quick = training.model.certify(x, y, retrain=False)
    assert quick and "retrained" not in quick.claims and "loss bounds" in repr(quick).splitlines()[-1]


@pytest.mark.parametrize(
    "x, y, figures",
    [
        (lambda x: x, lambda y: y + 0.25, ""),
        (lambda x: x, lambda y: 0 * y + 7.5, ""),
        (lambda x: x[::-1].copy(), lambda y: y, ""),
        (lambda x: x[:5], lambda y: y[:5], "samples, the data have 5"),
        (lambda x: 1000 * x, lambda y: y, "lies outside"),
    ],
    ids=["other labels", "one label", "other order", "fewer rows", "too large"],
)
def test_other_data_fail_a_claim(x, y, figures):
    """However far the data are from those of the training: the verdict says so, and nothing is raised."""
    own_x, own_y, *_ = luge.dataset("sgd_linear")
    audit = luge.train("sgd_linear").model.certify(x(own_x), y(own_y))
    assert not audit and not audit.holds and not audit.claims["data"]["holds"]
    assert figures in audit.claims["data"]["figures"] and repr(audit).startswith("data           NO: ")


@pytest.mark.skipif(not (ROOT / "target/release/luge").exists(), reason="the command line is not built")
def test_the_command_line_says_the_same(tmp_path):
    luge_cli = ROOT / "target/release/luge"
    done = subprocess.run([luge_cli, "train", "sgd_linear", "--json", "--out", tmp_path / "a.safetensors"], capture_output=True, check=True)
    said = json.loads(done.stdout)
    training = luge.train("sgd_linear")
    assert {name: value for name, value in said.items() if name != "wall_s"} == training.summary
    training.model.save(tmp_path / "b.safetensors")
    theirs, ours = (luge.Model.load(tmp_path / f"{name}.safetensors") for name in "ab")
    # The safetensors header lists its metadata in any order; weights and metadata are the same.
    assert theirs.card == ours.card and all((theirs.weights[n] == w).all() for n, w in ours.weights.items())


def test_jobs_are_written_down(tmp_path):
    job = luge.train_job("mean", landscape="plain")
    again = luge.Job.from_json(job.to_json())
    assert again == job == pickle.loads(pickle.dumps(job)) and again.key == job.key and again.kind == "train"
    assert luge.train_job("mean").key != job.key
    assert (again.run().theta == [2.5625, 0]).all()
    assert luge.trace_job("bb4", steps=5).run().outcome == "step-limit"


def test_lessons_can_be_walked_through():
    walked = list(luge.steps(luge.train_job("mean")))
    training = luge.train("mean")
    assert len(walked) == training.steps + 1 and walked[-1].loss == training.train_loss


def test_programs_are_compiled():
    machine = luge.compile("perceptron", n_features=4, format="fix:8.4")
    assert machine.weights == 5 and machine.machine.lstrip().startswith("machine") and machine.states > 50
    x, y, *_ = luge.dataset("perceptron")
    assert luge.train(machine, x, y, format="fix:8.4").theta.tolist() == [1, 1.375, 5.125, -6.875, -3.125]
    with pytest.raises(luge.LugeError, match="fix:I.F"):
        luge.compile("perceptron", 4, format="float:4.3")


def test_a_simulated_learner(perceptron):
    run = luge.train_job("perceptron").simulate()
    assert run.steps == perceptron.machine_steps and run.accepting


def test_notebooks_get_cards(perceptron):
    html = perceptron._repr_html_()
    assert "certificate: trace" in html and perceptron.path in html and "<svg" in html
    assert "150 of 150 rows right" in html and "every gradient step is a step of the machine" in html and "although every row is right" in html
    figure = perceptron.model.figure()
    assert figure.startswith("<svg") and "150 × 4" in figure and "compact" in figure
    assert "f_θ(x)" in perceptron.model._repr_html_() and "NaN" not in html
    assert perceptron.picture(64, 64)[:4] == b"\x89PNG"


def test_catalogue():
    assert "perceptron" in luge.learners() and "bb5" in luge.machines() and "bb5" not in luge.learners()
    with pytest.raises(KeyError, match="nothing of the name"):
        luge.dataset("nothing")


def test_overflow_is_a_warning_and_shows():
    x, y = np.full((3, 1), 60.0), np.array([1.0, -1.0, 1.0])
    sum_ = "learner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {\n for sample in data {\n  theta[0] += x[0];\n }\n}\n"
    with pytest.warns(luge.OverflowWarning, match="1 number was too large .* in line 3 of the program") as warned:
        training = luge.train(sum_, x, y, format="fix:8.0")
    assert warned[0].filename == __file__
    assert training.theta[0] == -76 and training.certified and "line 3" in training.overflow
    assert "certified, OVERFLOW: 1 number" in repr(training) and "OVERFLOW" in repr(training.model) and "<b>Overflow:</b>" in training._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = luge.train(sum_, x, y)
    assert held.theta[0] == 180 and held.overflow is None and held.format == "fix:9.0" and "OVERFLOW" not in repr(held)
    job = luge.train_job(sum_, x, y, format="auto")
    assert "fix:9.0, the smallest in which no number wraps around and theta is within" in job.format_choice
    with pytest.raises(luge.LugeError, match="too large for 32 bits, in line 3"):
        luge.train(sum_, x * 2**24, y)


def test_frames_are_predicted_by_the_names_of_their_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, -1.0, 0.5, 2.0]})
    model = luge.train("sgd_linear", frame, pandas.Series([1.0, 0.0, 0.5, 1.5], name="z"), scale="minmax").model
    expected = model.predict(frame.to_numpy())
    assert (model.predict(frame[["b", "a"]]) == expected).all() and (model.predict(frame.assign(z=0.0)[["z", "b", "a"]]) == expected).all()
    with pytest.raises(luge.LugeError, match="unknown column c"):
        model.predict(frame.assign(c=1.0))
    with pytest.raises(luge.LugeError, match="has no column a and has the unknown column A"):
        model.predict(frame.rename(columns={"a": "A"}))


def test_whole_numbers_are_classes_where_the_learner_wants_classes():
    x, y = np.array([[1.0], [1.25], [2.0], [3.0]]), np.array([0, 0, 1, 2])
    training = luge.train("nearest_centroid", x, y)
    assert training.model.card["labels"] == ["y=0", "y=1", "y=2"] and training.predict(x).argmax(axis=1).tolist() == [0, 0, 1, 2]
    assert training.model.certify(x, y)
    assert luge.train_job("nearest_centroid", x, y, classes="numbers", format="fix:8.6").steps() is not None
    with pytest.raises(luge.LugeError, match="has 3 classes, and only two"):
        luge.train("perceptron", x, y)


def test_a_perceptron_that_never_ends_is_refused():
    with pytest.raises(luge.LugeError, match="never ends .* perceptron_rounds"):
        luge.train("perceptron", [[1.0], [1.0]], [1.0, -1.0])


def test_dates_and_words_are_refused_with_a_hint():
    days = pd.to_datetime(["2020-01-01", "2020-01-03"])
    for column, message in [
        (days, "column `day` has dates, and learners take numbers"), (["2020-01-01", "2020-01-03"], "column `day`: 2020-01-01 is a date"),
        (["31.05.2024", "1.6.2024"], "31.05.2024 is a date"), (["mon", "tue"], "column `day`: 'mon' is no number: pandas.get_dummies"),
    ]:
        with pytest.raises(luge.LugeError, match=message):
            luge.train("mean", pd.DataFrame({"a": [1.0, 2.0], "day": column}), [1.0, 2.0])
    with pytest.raises(luge.LugeError, match="the data: 'x' is no number"):
        luge.train("mean", [[1.0], ["x"]], [1.0, 2.0])
    counted = pd.Series(days, name="day")
    assert luge.train("mean", pd.DataFrame({"day": (counted - counted.min()).dt.days}), [1.0, 2.0], format="fix:4.4").certified
