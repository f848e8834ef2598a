#!/usr/bin/env python3
"""Trains a small exported graph with PyTorch, as it is and with faults planted. Needs torch; CI does not run it.

    python3 tests/independent/test_train_torch.py        (or pytest)

copy_label.graph.json is what this writes:

    luge train copy_label --data crates/luge/learners/copy_label.csv --target y --format fix:3.2 --out m.safetensors
    luge export m.safetensors --graph tests/independent/copy_label.graph.json
"""

import contextlib
import copy
import io
import json
import math
import sys
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bits  # noqa: E402
import train_torch  # noqa: E402

GRAPH, DATA = HERE / "copy_label.graph.json", HERE.parents[1] / "crates/luge/learners" / "copy_label.csv"
STEPS, THETA, PATH = 13, [1.5, 0.0], 0xDEB1F1C7E86B7E48
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


def run(graph, device="cpu", **options):
    inputs = train_torch.read_table(DATA, "y")
    return train_torch.train(copy.deepcopy(graph), inputs, device, most_steps=60, keep=True, **options)


def facts(report):
    return report["stopped"], report["steps"], report["theta"], report["path"]


def node(graph, name, op):
    return next(n for n in graph["nodes"] if (n["name"], n["op"]) == (name, op))


def dropped(graph, name):
    graph = copy.deepcopy(graph)
    node(graph, name, "stop-gradient").update(op="sum", weights=[1.0])
    return graph


def flipped(graph, vertex):
    graph = copy.deepcopy(graph)
    entry = next(e for e in node(graph, "gate", "linear")["entries"] if e[1] == vertex)
    entry[2] = -entry[2]
    return graph


def test_the_run_is_the_one_that_luge_made():
    graph = train_torch.read_graph(GRAPH)
    for device in DEVICES:
        report = run(graph, device)
        assert facts(report) == (True, STEPS, THETA, PATH), (device, report)
        assert len(report["vertices"]) == STEPS + 1


def test_fused_operations_go_the_same_way():
    for device in DEVICES:
        assert facts(run(train_torch.read_graph(GRAPH), device, compiled=True)) == (True, STEPS, THETA, PATH), device


def test_a_run_in_two_parts_is_the_same_run():
    state = HERE / "state.tmp"
    graph = train_torch.read_graph(GRAPH)
    try:
        inputs = train_torch.read_table(DATA, "y")
        part = train_torch.train(copy.deepcopy(graph), inputs, "cpu", chunk=1, seconds=0.0, state=state)
        while not part["stopped"]:
            assert part["made"] > 0
            part = train_torch.train(copy.deepcopy(graph), inputs, "cpu", chunk=1, seconds=0.0, state=state)
        assert facts(part) == (True, STEPS, THETA, PATH) and part["made"] < STEPS, part
    finally:
        state.unlink(missing_ok=True)


def test_faults_are_noticed():
    graph = train_torch.read_graph(GRAPH)
    visited = run(graph)["vertices"][2]
    faults = {
        "labels differentiated": dropped(graph, "[labels]"),
        "move differentiated": dropped(graph, "[moved head]"),
        "weight negated": flipped(graph, visited),
    }
    for name, fault in faults.items():
        report = run(fault)
        assert report["path"] != PATH, name
        assert report["theta"] != THETA, name


def test_what_is_expected_decides_the_exit_status():
    def status(*expected):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = train_torch.main([str(GRAPH), str(DATA), "--target", "y", "--device", "cpu", *expected])
        return code, json.loads(printed.getvalue())["differences"]

    right = ["--expect-steps", str(STEPS), "--expect-theta", "1.5 0", "--expect-path", hex(PATH)]
    assert status(*right) == (0, [])
    wrong = ["--expect-steps", str(STEPS + 1), "--expect-theta", "1.5,0.5", "--expect-path", hex(PATH + 1)]
    for i, word in enumerate(("steps", "theta", "path")):
        assert status(*wrong[2 * i : 2 * i + 2]) == (1, [word])


def test_bits_are_those_of_exact_arithmetic():
    forms = [
        dict(kind="fixed", integer_bits=3, fraction_bits=2, negatives="twos-complement"),
        dict(kind="fixed", integer_bits=2, fraction_bits=3, negatives="sign-magnitude"),
        dict(kind="float", exponent_bits=3, mantissa_bits=2, bias=3),
        dict(kind="float", exponent_bits=4, mantissa_bits=1, bias=7),
        dict(kind="float", exponent_bits=3, mantissa_bits=0, bias=3),
    ]
    numbers = [i / 64 for i in range(-1200, 1201)] + [math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, -0.0]
    for form in forms:
        signs = train_torch.quantize(form, torch.tensor(numbers, dtype=torch.float64))
        assert signs.tolist() == bits.quantize(form, numbers).tolist(), form
        assert train_torch.dequantize(form, signs).tolist() == bits.dequantize(form, signs).tolist(), form


def test_a_branch_not_taken_is_not_seen():
    zero = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)
    root = train_torch.Root.apply(zero)
    infinite = train_torch.GuardedProduct.apply(train_torch.Quotient.apply(root, root), root)
    for shut in (0.0, 1.0):
        open_ = torch.full((1, 1), shut, dtype=torch.float64, requires_grad=True)
        branches = (infinite, zero * 3.0) if shut == 0.0 else (zero * 3.0, infinite)
        value = train_torch.Switch.apply(open_, *branches)
        by_zero, by_open = torch.autograd.grad(value.sum(), (zero, open_), retain_graph=True)
        assert (value.item(), by_zero.item(), by_open.item()) == (0.0, 3.0, 0.0)
    half = torch.full((1, 1), 0.25, dtype=torch.float64, requires_grad=True)
    on, off = (torch.full((2, 1), v, dtype=torch.float64, requires_grad=True) for v in (8.0, 4.0))
    slopes = torch.autograd.grad(train_torch.Switch.apply(half, on, off).sum(), (half, on, off))
    assert [s.reshape(-1).tolist() for s in slopes] == [[8.0], [0.25, 0.25], [0.75, 0.75]]


def test_matrices_and_their_derivatives():
    torch.manual_seed(0)
    for shape, filled in (((3, 2000), 4000), ((700, 5), 300), ((1, 70000), 70000), ((4, 4), 0)):
        rows, columns = torch.randint(shape[0], (filled,)), torch.randint(shape[1], (filled,))
        weights = torch.randint(-8, 8, (filled,)).to(torch.float64)
        dense = torch.zeros(shape, dtype=torch.float64).index_put((rows, columns), weights, accumulate=True)
        v = torch.randint(-8, 8, (shape[1],)).to(torch.float64).requires_grad_()
        out = train_torch.Linear.apply(v, train_torch.Matrix(rows, columns, weights, shape, "cpu"))
        above = torch.randint(-8, 8, (shape[0],)).to(torch.float64)
        (slope,) = torch.autograd.grad(out, v, above)
        assert torch.equal(out, dense @ v.detach()) and torch.equal(slope, above @ dense), shape


def test_frank_wolfe_takes_the_first_and_only_what_is_better():
    point = torch.tensor([[0.0], [1.0], [0.0]], dtype=torch.float64)
    moves = lambda *slopes: train_torch.frank_wolfe(point, torch.tensor(slopes, dtype=torch.float64).reshape(3, 1))
    to, better = moves(-1.0, 0.0, -1.0)
    assert to.reshape(-1).tolist() == [1.0, 0.0, 0.0] and bool(better)
    assert not bool(moves(0.0, 0.0, 5.0)[1])
    assert bool(moves(math.nan, 0.0, -1.0)[1])
    assert not bool(moves(math.inf, -2.0, math.inf)[1])


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name} ok", flush=True)
