#!/usr/bin/env python3
"""Trains an exported graph with PyTorch: autograd for the gradients, an optimiser of its own, nothing of Luge.

    train_torch.py GRAPH.json[.gz] DATA.csv --target y [--features a,b] [--device cuda] [--compile]

Prints one JSON object: stopped, steps, loss, theta, path, steps_per_second, and what computed it. On a GPU some steps
(forward, backward, update) are captured once as a CUDA graph, which is then replayed; losses and vertices stay on the
device for a chunk of steps before anybody looks at them. With --compile the very operations that autograd made are
fused into fewer kernels first. Exit status: 0 if the run stopped by its rule (or reached --most-steps) and is what
--expect-* says, 1 if not. docs/graph-format.md is all one needs to know to write this.
"""

import argparse
import csv
import gzip
import json
import math
import sys
import time
from pathlib import Path

import torch

from torch_operations import (
    LONG_ROW, REAL, GuardedProduct, Linear, Matrix, Quotient, Root, Switch, dequantize, quantize, shift, weighted_sum,
)

MULTIPLIER, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--target", required=True, help="columns of y, separated by commas")
    parser.add_argument("--features", help="columns of x; by default all that are no target")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compile", action="store_true", help="fuse autograd's operations with torch.compile")
    parser.add_argument("--most-steps", type=int, default=2**62)
    parser.add_argument("--per-replay", type=int, default=16, help="steps in one captured CUDA graph")
    parser.add_argument("--chunk", type=int, default=16384, help="steps between two looks at the losses")
    parser.add_argument("--state", type=Path, help="go on from this file if it exists; write it at the end")
    parser.add_argument("--marks", type=int, default=0, help="print the path's digest at every multiple of this step too")
    parser.add_argument("--seconds", type=float, default=math.inf, help="leave the loop after so long, for --state")
    parser.add_argument("--expect-steps", type=int)
    parser.add_argument("--expect-theta", help="numbers separated by commas or spaces")
    parser.add_argument("--expect-path", help="the path's digest, decimal or 0x hexadecimal")
    return parser.parse_args(argv)


class Network:
    """An exported graph on a device, its weights apart. What depends on no weight is computed once."""

    def __init__(self, graph, inputs, device):
        assert (graph["format"], graph["version"]) == ("luge-graph", 1), "another format"
        self.graph, self.nodes, self.device = graph, graph["nodes"], torch.device(device)
        inputs = {i["name"]: self.tensor(inputs[i["name"]], i["shape"]) for i in graph["inputs"]}
        self.matrices, self.biases, self.groups = {}, {}, {}
        self.known, self.unbounded = {}, set()
        for index, node in enumerate(self.nodes):
            op, operands = node["op"], node["operands"]
            if op in ("input", "constant"):
                source = inputs[node["input"]] if op == "input" else self.tensor(node["values"], node["shape"])
                self.known[index] = source
            if op in ("sqrt", "quotient") or (op == "constant" and not bool(self.known[index].isfinite().all())) or any(
                    o in self.unbounded for o in operands):
                self.unbounded.add(index)
            if op == "gather":
                positions = torch.tensor(node["positions"], dtype=torch.int64)
                ones = torch.ones(len(positions), dtype=REAL)
                size = math.prod(self.nodes[operands[0]]["shape"])
                self.matrices[index] = Matrix(
                    torch.arange(len(positions)), positions, ones, (len(positions), size), self.device)
            if op == "linear" and any(float(b) != 0.0 for b in node["bias"]):
                self.biases[index] = self.tensor(node["bias"], [-1])
            if op != "parameter" and index not in self.known and all(o in self.known for o in operands):
                if op == "linear":
                    self.matrices[index] = self.matrix([index])
                self.known[index] = self.compute(index, self.known)
        self.group()

    def tensor(self, values, shape):
        values = values if torch.is_tensor(values) else torch.tensor([float(v) for v in values], dtype=REAL)
        return values.reshape(shape).to(self.device)

    def matrix(self, indices):
        """The matrices of these nodes, one below the other."""
        rows, columns, weights, height = [], [], [], 0
        for index in indices:
            entries = torch.tensor(self.nodes[index].pop("entries"), dtype=REAL).reshape(-1, 3)
            rows.append(entries[:, 0].to(torch.int64) + height)
            columns.append(entries[:, 1].to(torch.int64))
            weights.append(entries[:, 2])
            height += self.nodes[index]["shape"][0]
        size = math.prod(self.nodes[self.nodes[indices[0]]["operands"][0]]["shape"])
        return Matrix(torch.cat(rows), torch.cat(columns), torch.cat(weights), (height, size), self.device)

    def group(self):
        """Linear nodes of few, long rows that read the same vector are multiplied together."""
        together = {}
        for index, node in enumerate(self.nodes):
            if node["op"] == "linear" and index not in self.known:
                long = len(node["entries"]) > LONG_ROW * node["shape"][0]
                together.setdefault((node["operands"][0], True if long else index), []).append(index)
        for members in together.values():
            self.matrices[members[0]] = self.matrix(members)
            for index in members:
                self.groups[index] = members

    def needed(self, targets):
        wanted = set(targets)
        for index in range(max(targets), -1, -1):
            if index in wanted and index not in self.known:
                wanted.update(self.nodes[index]["operands"])
        return [i for i in sorted(wanted) if i not in self.known]

    def linear(self, index, v, values):
        members = self.groups.get(index, [index])
        key = ("group", members[0])
        if key not in values:
            product = Linear.apply(v.reshape(-1), self.matrices[members[0]])
            values[key] = torch.split(product, [self.nodes[m]["shape"][0] for m in members])
        product = values[key][members.index(index)]
        return product + self.biases[index] if index in self.biases else product

    def compute(self, index, values):
        node = self.nodes[index]
        op, operands = node["op"], [values[o] for o in node["operands"]]
        guarded = any(o in self.unbounded for o in node["operands"])
        if op == "linear":
            value = self.linear(index, operands[0], values)
        elif op == "sum":
            value = weighted_sum(map(float, node["weights"]), operands)
        elif op == "relu":
            value = torch.relu(operands[0])
        elif op == "product":
            value = GuardedProduct.apply(*operands) if guarded else operands[0] * operands[1]
        elif op == "quotient":
            value = Quotient.apply(*operands)
        elif op == "matmul" and guarded:
            a, b = operands
            columns = [GuardedProduct.apply(a[:, k : k + 1], b[k : k + 1]) for k in range(a.shape[1])]
            value = weighted_sum([1.0] * len(columns), columns)
        elif op == "matmul":
            value = (operands[0].unsqueeze(2) * operands[1].unsqueeze(0)).sum(1)
        elif op == "sqrt":
            value = Root.apply(operands[0])
        elif op == "sum-columns":
            value = operands[0].sum(1)
        elif op == "sum-all":
            value = operands[0].sum()
        elif op == "shift":
            value = shift(node["by"], operands[0])
        elif op == "reshape":
            value = operands[0]
        elif op == "stack":
            value = torch.cat(operands)
        elif op == "gather":
            value = Linear.apply(operands[0].reshape(-1), self.matrices[index])
        elif op == "quantize":
            value = quantize(node["format"], operands[0].detach())
        elif op == "dequantize":
            value = dequantize(node["format"], operands[0].detach())
        elif op == "stop-gradient":
            value = operands[0].detach()
        elif op == "switch":
            value = Switch.apply(*operands)
        elif op == "select":
            value = torch.where(operands[0] > 0, operands[1], operands[2])
        else:
            raise ValueError(f"an operation the page does not name: {op}")
        return value.reshape(node["shape"])

    def values(self, parameters, targets):
        values = dict(self.known)
        for index in self.needed(targets):
            node = self.nodes[index]
            values[index] = (
                parameters[node["parameter"]] if node["op"] == "parameter" else self.compute(index, values))
        return [values[t] for t in targets]


def frank_wolfe(point, slopes):
    """All the way to the steepest vertex, and whether that is strictly better than staying."""
    w, g = point.reshape(-1), slopes.reshape(-1)
    here = torch.where(w != 0, g * w, 0.0).sum()
    best = torch.argmin(torch.where(torch.isnan(g), math.inf, g))
    vertex = (torch.arange(len(w), device=w.device) == best).to(REAL)
    return (w + (vertex - w)).reshape(point.shape), g.gather(0, best.reshape(1)) < here


class Trainer:
    """State: one tensor per parameter, and the number of steps made. A stopped run stays where it is."""

    def __init__(self, network, most_steps):
        self.network, self.graph, self.most_steps = network, network.graph, most_steps
        blocks = self.graph["parameters"]
        self.names, self.rules = [b["name"] for b in blocks], [b["step"] for b in blocks]
        self.state = [network.tensor(b["initial"], b["shape"]) for b in blocks]
        self.state.append(torch.zeros(1, dtype=torch.int64, device=network.device))
        self.steps, self.path, self.vertices, self.marks = 0, 0, [], {}

    def step(self, *state):
        """The next state, and the loss and the vertex before the step."""
        with torch.enable_grad():
            weights = [w.detach().requires_grad_() for w in state[:-1]]
            (loss,) = self.network.values(dict(zip(self.names, weights)), [self.graph["loss"]])
            slopes = torch.autograd.grad(loss.reshape(()), weights, allow_unused=True)
        with torch.no_grad():
            loss, count, stop = loss.detach().reshape(1), state[-1], self.graph["stop"]
            stopped = (loss <= float(stop["loss_at_most"])) & (count >= stop["not_before"])
            move = ~stopped & (count < self.most_steps)
            after = []
            for rule, weight, slope in zip(self.rules, state, slopes):
                if slope is None:
                    slope = torch.zeros_like(weight)
                if rule["rule"] == "simplex":
                    moved, better = frank_wolfe(weight, slope)
                    after.append(torch.where(move & better, moved, weight))
                else:
                    after.append(torch.where(move, weight - float(rule["rate"]) * slope, weight))
            vertex = torch.argmax(state[self.names.index(self.graph["vertex"])].reshape(-1)).reshape(1)
            return (*after, count + move.to(torch.int64), loss, vertex)

    def compile(self):
        """Traces one step, autograd and all, and fuses its operations."""
        from torch.fx.experimental.proxy_tensor import make_fx

        separate_roundings()
        traced = make_fx(self.step)(*self.state)
        self.step = torch.compile(traced, fullgraph=True)

    def several(self, n):
        state, losses, vertices = self.state, [], []
        for _ in range(n):
            *state, loss, vertex = self.step(*state)
            losses.append(loss)
            vertices.append(vertex)
        for old, new in zip(self.state, state):
            old.copy_(new)
        return torch.cat(losses), torch.cat(vertices)

    def capture(self, n):
        """n steps as one CUDA graph; the state does not move meanwhile."""
        before = [s.clone() for s in self.state]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.several(1)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            kept = self.several(n)
        for old, new in zip(self.state, before):
            old.copy_(new)

        def replay():
            recorded.replay()
            return kept

        return replay

    def run(self, per_replay, chunk, seconds, marks, keep):
        """Goes on until the rule stops it, the loss is no number, or steps or time run out."""
        on_gpu = self.network.device.type == "cuda"
        several = self.capture(per_replay) if on_gpu else lambda: self.several(1)
        n = per_replay if on_gpu else 1
        chunk = min(chunk if on_gpu else min(chunk, 16), self.most_steps - self.steps + 1)
        chunk = max(1, -(-chunk // n))
        stop, began = self.graph["stop"], time.monotonic()
        losses = torch.empty(chunk * n, dtype=REAL, device=self.network.device)
        vertices = torch.empty(chunk * n, dtype=torch.int64, device=self.network.device)
        first = self.steps
        while True:
            for i in range(chunk):
                some_losses, some_vertices = several()
                losses[i * n : (i + 1) * n].copy_(some_losses)
                vertices[i * n : (i + 1) * n].copy_(some_vertices)
            for loss, vertex in zip(losses.tolist(), vertices.tolist()):
                self.path = (self.path * MULTIPLIER + vertex + 1) & MASK
                if keep:
                    self.vertices.append(vertex)
                if marks and self.steps % marks == 0:
                    self.marks[self.steps] = f"{self.path:#018x}"
                stopped = self.steps >= stop["not_before"] and loss <= stop["loss_at_most"]
                if stopped or self.steps == self.most_steps or not math.isfinite(loss):
                    wall = time.monotonic() - began
                    return dict(stopped=stopped, steps=self.steps, loss=loss, made=self.steps - first, wall_s=wall)
                self.steps += 1
            wall = time.monotonic() - began
            if wall > seconds:
                return dict(stopped=False, steps=self.steps, loss=loss, made=self.steps - first, wall_s=wall)

    def save(self, path):
        state = [s.cpu() for s in self.state]
        torch.save(dict(state=state, steps=self.steps, path=f"{self.path:#x}"), path)

    def load(self, path):
        saved = torch.load(path)
        self.steps, self.path = saved["steps"], int(saved["path"], 0)
        self.state = [s.to(self.network.device) for s in saved["state"]]
        assert int(self.state[-1]) == self.steps, "the file's weights and its count differ"


def separate_roundings():
    """Keeps torch.compile from fusing a multiplication and an addition into one rounding."""
    import torch._inductor.config

    torch._inductor.config.emulate_precision_casts = True


def roundings_are_separate(device, compiled):
    """Whether a * b + c is rounded twice, as the page asks."""
    function = lambda a, c: a * a + c
    function = torch.compile(function) if compiled else function
    a = torch.full((32,), 1.0 + 2.0**-30, dtype=REAL, device=device)
    return bool((function(a, -(a * a).clone()) == 0).all())


def train(graph, inputs, device="cpu", compiled=False, most_steps=2**62, per_replay=16, chunk=16384, seconds=math.inf,
          state=None, marks=0, keep=False):
    """A run as a dictionary; with `keep` also its vertices."""
    trainer = Trainer(Network(graph, inputs, device), most_steps)
    if state and state.exists():
        trainer.load(state)
    if compiled:
        trainer.compile()
    assert roundings_are_separate(device, compiled), "a multiplication and an addition were fused"
    run = trainer.run(per_replay, chunk, seconds, marks, keep)
    if state:
        trainer.save(state)
    with torch.no_grad():
        parameters = dict(zip(trainer.names, trainer.state))
        theta, out = trainer.network.values(parameters, [graph["theta"], graph["out"]])
    run |= dict(theta=theta.reshape(-1).tolist(), out=out.reshape(-1).tolist(), path=trainer.path, marks=trainer.marks)
    if keep:
        run["vertices"] = trainer.vertices
    return run


def read_graph(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as file:
        return json.load(file)


def read_table(path, target, features=None):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    target = target.split(",")
    features = features.split(",") if features else [name for name in rows[0] if name not in target]
    columns = lambda names: torch.tensor([[float(row[name]) for name in names] for row in rows], dtype=REAL)
    return {"x": columns(features), "y": columns(target)}


def main(argv=None):
    options = arguments(argv)
    run = train(
        read_graph(options.graph), read_table(options.data, options.target, options.features), options.device,
        options.compile, options.most_steps, options.per_replay, options.chunk, options.seconds, options.state,
        options.marks)
    differences = []
    if options.expect_steps is not None and run["steps"] != options.expect_steps:
        differences.append("steps")
    if options.expect_theta and run["theta"] != [float(v) for v in options.expect_theta.replace(",", " ").split()]:
        differences.append("theta")
    if options.expect_path and run["path"] != int(options.expect_path, 0):
        differences.append("path")
    on_gpu = torch.device(options.device).type == "cuda"
    report = dict(
        stopped=run["stopped"], steps=run["steps"], loss=run["loss"], theta=run["theta"], path=f"{run['path']:#018x}",
        steps_per_second=round(run["made"] / run["wall_s"]), seconds=round(run["wall_s"], 2), steps_here=run["made"],
        device=torch.cuda.get_device_name() if on_gpu else "cpu", torch=torch.__version__, compiled=options.compile,
        differences=differences)
    print(json.dumps(report | (dict(marks=run["marks"]) if options.marks else {})))
    done = run["stopped"] or run["steps"] == options.most_steps
    return 0 if done and not differences else 1


if __name__ == "__main__":
    sys.exit(main())
