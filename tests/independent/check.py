#!/usr/bin/env python3
"""Trains an exported graph with JAX: jax.grad for the gradients, an optimiser of its own, nothing of Luge.

    check.py GRAPH.json DATA.csv --features a,b --target y [--expect RUN.json] [--most-steps N] [--venv DIR]

A graph whose inputs are fed anew at every step is trained on the rows of DATA.csv as they pass: one step per batch.
Prints one JSON object: vertices (argmax of the vertex block at every step), losses, steps, stopped, theta, out; for a
stream also at_rest, how many steps before the end moved no weight.
With --expect it also compares the run with another program's (differences: a list of words). Exit status: 0 if the
run stopped by its rule and nothing differs, 1 if not. docs/graph-format.md is all one needs to know to write this.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "jax>=0.4.30,<0.12"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--features", required=True, help="columns of x, separated by commas")
    parser.add_argument("--target", required=True, help="columns of y, separated by commas")
    parser.add_argument("--expect", type=Path, help="a run to compare with: vertices, losses, theta")
    parser.add_argument("--most-steps", type=int, default=1000)
    parser.add_argument("--venv", type=Path, default=ROOT / "target" / "independent" / "venv")
    return parser.parse_args()


def enter(directory):
    """Makes the virtual environment unless JAX is already in it, and starts over inside it."""
    python = directory / "bin" / "python"
    if Path(sys.prefix).resolve() == directory.resolve():
        return
    if subprocess.run([python, "-c", "import jax"], capture_output=True).returncode if python.exists() else True:
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PACKAGE], check=True, stdout=sys.stderr)
    os.execv(python, [python, *sys.argv])


options = arguments()
enter(options.venv)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.dont_write_bytecode = True

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from bits import dequantize, quantize  # noqa: E402

jax.config.update("jax_enable_x64", True)


def shift(by, v):
    by = max(-v.shape[1], min(by, v.shape[1]))
    rest = v[:, : v.shape[1] - by] if by >= 0 else v[:, -by:]
    return jnp.pad(rest, ((0, 0), (max(by, 0), max(-by, 0))))


def linear(node, v):
    rows, cols, weights = node["matrix"]
    return jnp.asarray(node["bias"]).at[rows].add(weights * jnp.ravel(v)[cols])


OPERATIONS = {
    "linear": linear,
    "sum": lambda node, *terms: sum(w * term for w, term in zip(node["weights"], terms)),
    "relu": lambda node, v: jnp.where(v > 0, v, 0.0),
    "product": lambda node, a, b: a * b,
    "quotient": lambda node, a, b: a / b,
    "matmul": lambda node, a, b: a @ b,
    "sqrt": lambda node, v: jnp.sqrt(v),
    "sum-columns": lambda node, v: jnp.sum(v, axis=1),
    "sum-all": lambda node, v: jnp.sum(v),
    "shift": lambda node, v: shift(node["by"], v),
    "reshape": lambda node, v: v,
    "stack": lambda node, a, b: jnp.concatenate([a, b]),
    "gather": lambda node, v: jnp.ravel(v)[np.array(node["positions"], int)],
    "stop-gradient": lambda node, v: jax.lax.stop_gradient(v),
}


CONVERSIONS = {"quantize": quantize, "dequantize": dequantize}


class Network:
    """An exported graph, its weights apart."""

    def __init__(self, graph):
        assert graph["format"] == "luge-graph" and graph["version"] in (1, 2), "another format"
        self.graph, self.nodes, self.inputs = graph, graph["nodes"], {}
        for node in self.nodes:
            for field in {"values", "bias", "weights"} & node.keys():
                node[field] = np.array(node[field], dtype=np.float64)
            if "entries" in node:
                rows, cols, weights = zip(*node["entries"]) if node["entries"] else ((), (), ())
                node["matrix"] = (np.array(rows, int), np.array(cols, int), np.array(weights, np.float64))

    def feed(self, inputs):
        self.inputs = {i["name"]: np.reshape(inputs[i["name"]], i["shape"]) for i in self.graph["inputs"]}

    def values(self, parameters, known=None):
        """All nodes' values. `known`: those of an earlier pass here, for what is never differentiated.

        Branches are chosen in Python, so that the other branch does not exist for jax.grad.
        """
        values = []
        for index, node in enumerate(self.nodes):
            op, operands = node["op"], [values[o] for o in node["operands"]]
            concrete = [(known or values)[o] for o in node["operands"]]
            if op == "parameter":
                value = parameters[node["parameter"]]
            elif op == "input":
                value = self.inputs[node["input"]]
            elif op == "constant":
                value = node["values"]
            elif op in CONVERSIONS:
                value = known[index] if known else self.convert(node, operands[0])
            elif op == "select":
                value = self.select(concrete[0], operands[1], operands[2])
            elif op == "switch" and concrete[0].item() in (0.0, 1.0):
                value = operands[1] if concrete[0].item() else operands[2]
            elif op == "switch":
                value = operands[0] * operands[1] + (1.0 - operands[0]) * operands[2]
            else:
                value = OPERATIONS[op](node, *operands)
            values.append(jnp.reshape(value, node["shape"]))
        return values

    def convert(self, node, numbers):
        return CONVERSIONS[node["op"]](node["format"], numbers)

    def select(self, condition, yes, no):
        return yes if condition.item() > 0 else no

    def gradient(self, parameters, known):
        return jax.grad(lambda p: self.values(p, known)[self.graph["loss"]][0, 0])(parameters)


class StreamNetwork(Network):
    """The same, compiled once for all batches: no number in such a graph is infinite, so both branches may be looked at."""

    def __init__(self, graph):
        super().__init__(graph)
        self.step = jax.jit(jax.grad(self.loss, has_aux=True))

    def convert(self, node, numbers):
        shape = jax.ShapeDtypeStruct(tuple(node["shape"]), np.float64)
        to_bits = lambda v: np.reshape(CONVERSIONS[node["op"]](node["format"], np.asarray(v)), node["shape"])
        return jax.pure_callback(to_bits, shape, jax.lax.stop_gradient(numbers))

    def select(self, condition, yes, no):
        return jnp.where(condition > 0, yes, no)

    def loss(self, parameters, inputs):
        self.inputs = inputs
        values = self.values(parameters)
        loss, theta, out = (values[self.graph[node]] for node in ("loss", "theta", "out"))
        return loss[0, 0], (loss, theta, out)


def frank_wolfe(point, slopes):
    """All the way to the steepest vertex, if it is strictly better than staying."""
    point, slopes = np.asarray(point), np.asarray(slopes)
    here = np.sum(slopes[point != 0] * point[point != 0])
    best = np.where(np.isnan(slopes), np.inf, slopes).argmin()
    if not slopes.flat[best] < here:
        return point
    target = np.zeros_like(point)
    target.flat[best] = 1.0
    return point + (target - point)


def initial(graph):
    return {p["name"]: np.reshape(np.array(p["initial"], np.float64), p["shape"]) for p in graph["parameters"]}


def descend(graph, parameters, gradient):
    """One step of every block by its own rule."""
    after = {}
    for block in graph["parameters"]:
        name, step = block["name"], block["step"]
        if step["rule"] == "simplex":
            after[name] = frank_wolfe(parameters[name], gradient[name])
        else:
            after[name] = parameters[name] - step["rate"] * np.asarray(gradient[name])
    return after


def train(network, most_steps):
    graph, stop = network.graph, network.graph["stop"]
    parameters, vertices, losses = initial(graph), [], []
    while True:
        values = network.values(parameters)
        loss = values[graph["loss"]].item()
        vertices.append(int(np.argmax(parameters[graph["vertex"]])))
        losses.append(loss)
        steps = len(losses) - 1
        stopped = steps >= stop["not_before"] and loss <= stop["loss_at_most"]
        if stopped or steps == most_steps or not np.isfinite(loss):
            theta, out = (np.ravel(values[graph[node]]).tolist() for node in ("theta", "out"))
            return dict(stopped=stopped, steps=steps, theta=theta, out=out, vertices=vertices, losses=losses)
        parameters = descend(graph, parameters, network.gradient(parameters, values))


def train_on_stream(network, batches):
    """Every step on a batch of its own; nothing says when to stop, and at the end nothing moves."""
    graph = network.graph
    parameters, vertices, losses, at_rest = initial(graph), [], [], 0
    for batch in batches:
        network.feed(batch)
        gradient, (loss, theta, out) = network.step(parameters, network.inputs)
        losses.append(loss.item())
        vertices.append(int(np.argmax(parameters[graph["vertex"]])))
        after = descend(graph, parameters, gradient)
        moved = any(not np.array_equal(after[name], parameters[name]) for name in after)
        parameters, at_rest = after, 0 if moved else at_rest + 1
    run = dict(stopped=at_rest > 0, at_rest=at_rest, steps=len(losses), vertices=vertices, losses=losses)
    return run | dict(theta=np.ravel(theta).tolist(), out=np.ravel(out).tolist())


def differences(run, expected):
    """Vertices and theta must be the same; losses go through a square root, so they agree to rounding."""
    names = ["steps", "vertices", "theta"] + ["at_rest"] * ("at_rest" in run)
    found = [name for name in names if run[name] != expected[name]]
    pairs = zip(run["losses"], expected["losses"])
    if not all(np.isclose(a, b, rtol=1e-9, atol=1e-9) for a, b in pairs):
        found.append("losses")
    return found


def main():
    with options.data.open(newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    columns = lambda names: np.array([[float(row[name]) for name in names.split(",")] for row in rows])
    inputs = {"x": columns(options.features), "y": columns(options.target)}
    graph = json.loads(options.graph.read_text())
    if graph.get("per_step"):
        size = graph["inputs"][0]["shape"][0]
        batch = lambda at: {name: values[at : at + size] for name, values in inputs.items()}
        run = train_on_stream(StreamNetwork(graph), [batch(at) for at in range(0, len(rows), size)])
    else:
        network = Network(graph)
        network.feed(inputs)
        run = train(network, options.most_steps)
    if options.expect:
        run["differences"] = differences(run, json.loads(options.expect.read_text()))
    print(json.dumps(run))
    return 0 if run["stopped"] and not run.get("differences") else 1


if __name__ == "__main__":
    sys.exit(main())
