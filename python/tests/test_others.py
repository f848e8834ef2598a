"""Other worlds: JAX, ONNX, safetensors."""

import itertools
import json

import numpy as np
import pytest

import luge

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import luge.jax  # noqa: E402
import luge.onnx  # noqa: E402


@pytest.fixture(scope="module")
def trained():
    return {lesson: luge.train(lesson[0], landscape=lesson[1]) for lesson in LESSONS}


#: Small learners, between them on every landscape.
LESSONS = [("copy_label", "plain"), ("copy_label", "relu"), ("majority", "compact"), ("keep_label", "internal")]
PLAIN = LESSONS[0]


@pytest.mark.parametrize("lesson", LESSONS)
def test_jax_goes_the_same_way(trained, lesson):
    training, (x, y, *_) = trained[lesson], luge.dataset(lesson[0])
    run = luge.jax.train(training.model, x, y)
    assert run["stopped"] and run["steps"] == training.steps and run["path"] == training.path
    assert run["theta"].tolist() == training.theta.tolist()
    assert run["losses"][-1] == pytest.approx(training.train_loss, rel=1e-9, abs=1e-9)


def test_a_loop_of_six_lines_trains_in_jax(trained):
    model, (x, y, *_) = trained[PLAIN].model, luge.dataset("copy_label")
    weights, loss = luge.jax.initial(model), jax.jit(jax.value_and_grad(luge.jax.loss(model)))
    for step in itertools.count():
        here, slopes = loss(weights, x, y)
        if luge.jax.stopped(model, step, here):
            break
        weights = {name: weights[name] - slopes[name] for name in weights}
    assert step == trained[PLAIN].steps
    assert luge.jax.theta(model, weights, x).tolist() == trained[PLAIN].theta.tolist()
    assert np.array_equal(luge.jax.forward(model)(weights, x), trained[PLAIN].predict(x))


def test_a_spoilt_network_goes_another_way(trained):
    """A weight with the other sign, or a stop-gradient left out, and the run is another."""
    training, (x, y, *_) = trained[PLAIN], luge.dataset("copy_label")
    spoilt = training.model.graph()
    linear = next(node for node in spoilt["nodes"] if node["op"] == "linear" and len(node["entries"]) > 4)
    linear["entries"][0][2] = -linear["entries"][0][2]
    run = luge.jax.train(luge.graph.Graph(spoilt), x, y, most_steps=2 * training.steps)
    assert (run["stopped"], run["path"]) != (True, training.path)


def test_onnx_takes_the_numbers_of_the_table():
    """Scales and what stands for missing numbers are part of the exported function."""
    ort = pytest.importorskip("onnxruntime")
    generator = np.random.default_rng(0)
    x = generator.normal(size=(20, 2)) * [1000, 0.01] + [5000, 3]
    x[3, 0] = np.nan
    y = np.where(x[:, 1] > 3, 1.0, -1.0)
    for scale in ("standard", "minmax"):
        model = luge.train("sgd_linear", x, y, missing="mean", scale=scale).model
        session = ort.InferenceSession(luge.onnx.export(model).SerializeToString())
        assert np.allclose(session.run(["y"], {"x": x})[0], model.predict(x), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["sgd_linear", "xor"])
def test_onnx_predicts_the_same(name, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    if name == "xor":
        # A hidden layer: two features, two units.
        x, y, *_ = luge.dataset("mlp_backprop")
        model = luge.train("mlp_backprop", landscape="plain", engine="auto").model
    else:
        x, y, *_ = luge.dataset(name)
        model = luge.train(name).model
    luge.onnx.export(model, tmp_path / "f.onnx")
    session = ort.InferenceSession(tmp_path / "f.onnx")
    for samples in (x, np.random.default_rng(0).normal(size=(33, x.shape[1])), x[:1]):
        (found,) = session.run(None, {"x": samples})
        np.testing.assert_allclose(found, model.predict(samples), rtol=1e-12, atol=1e-12)


def test_folders(trained, tmp_path):
    model = trained[PLAIN].model
    folder = luge.hub.save(model, tmp_path / "copy-label")
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    assert luge.hub.load(folder).card == model.card
    safetensors = pytest.importorskip("safetensors.numpy")
    tensors = safetensors.load_file(folder / "model.safetensors")
    assert tensors["theta"].ravel().tolist() == model.theta.tolist()
    assert all((tensors[name] == block).all() for name, block in model.weights.items())
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "primary": "mlp:1-1"}))
    with pytest.raises(luge.LugeError, match="differ in primary"):
        luge.hub.load(folder)
