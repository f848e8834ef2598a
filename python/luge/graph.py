"""Exported networks (docs/graph-format.md): read once, evaluated by any array library.

``Graph`` is the network as data. ``evaluate`` computes its nodes in order with an ``Operations``, which implements each operation: here
with numpy, in ``luge.jax`` and ``luge.torch`` with automatic differentiation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import LugeError


@dataclass
class Matrix:
    """A sparse matrix and a bias: rows, columns and weights of its entries."""

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    shape: tuple[int, int]
    bias: np.ndarray


_EMPTY = np.zeros(0)
_NO_MATRIX = Matrix(_EMPTY, _EMPTY, _EMPTY, (0, 0), _EMPTY)


@dataclass
class Node:
    """One operation."""

    op: str
    name: str
    shape: tuple[int, int]
    operands: list[int]
    parameter: str = ""
    input: str = ""
    values: np.ndarray = field(default_factory=lambda: _EMPTY)
    matrix: Matrix = field(default_factory=lambda: _NO_MATRIX)
    weights: tuple[float, ...] = ()
    by: int = 0
    positions: np.ndarray = field(default_factory=lambda: _EMPTY)
    format: dict[str, Any] = field(default_factory=dict)
    #: Whether an operand may be infinite, so that 0 times it is no number.
    unbounded: bool = False


@dataclass
class Parameter:
    """A block of weights: how it starts, and how a step moves it."""

    name: str
    initial: np.ndarray
    simplex: bool
    rate: float


class Graph:
    """A network and how to train it."""

    def __init__(self, graph: dict[str, Any]) -> None:
        if (graph.get("format"), graph.get("version")) != ("luge-graph", 1):
            raise LugeError("not a luge-graph of version 1")
        self.nodes: list[Node] = []
        for node in graph["nodes"]:
            self.nodes.append(self._node(node))
        self.inputs = {block["name"]: tuple(block["shape"]) for block in graph["inputs"]}
        self.parameters = [_parameter(block) for block in graph["parameters"]]
        self.loss, self.theta, self.out, self.vertex = graph["loss"], graph["theta"], graph["out"], graph["vertex"]
        self.loss_at_most, self.not_before = float(graph["stop"]["loss_at_most"]), int(graph["stop"]["not_before"])

    def _node(self, node: dict[str, Any]) -> Node:
        operands = node["operands"]
        read = Node(node["op"], node["name"], tuple(node["shape"]), operands)
        read.unbounded = any(self.nodes[o].unbounded or self.nodes[o].op in ("sqrt", "quotient") for o in operands)
        read.parameter, read.input, read.by = node.get("parameter", ""), node.get("input", ""), node.get("by", 0)
        read.weights = tuple(float(weight) for weight in node.get("weights", ()))
        read.format = node.get("format", {})
        if "values" in node:
            read.values = _numbers(node["values"]).reshape(read.shape)
            read.unbounded = not bool(np.isfinite(read.values).all())
        if "positions" in node:
            read.positions = np.array(node["positions"], dtype=np.int64)
        if "entries" in node:
            entries = np.array(node["entries"], dtype=np.float64).reshape(-1, 3)
            shape = (read.shape[0], math.prod(self.nodes[operands[0]].shape))
            read.matrix = Matrix(
                entries[:, 0].astype(np.int64), entries[:, 1].astype(np.int64), entries[:, 2], shape, _numbers(node["bias"])
            )
        return read

    def stopped(self, step: int, loss: float) -> bool:
        """Whether training is done."""
        return step >= self.not_before and loss <= self.loss_at_most

    def needed(self, wanted: Iterable[int], known: Iterable[int] = ()) -> list[int]:
        """The nodes to compute for some, in order."""
        known, needed = set(known), set(wanted)
        for index in range(max(needed), -1, -1):
            if index in needed and index not in known:
                needed.update(self.nodes[index].operands)
        return [index for index in sorted(needed) if index not in known]


def _numbers(values: list[Any]) -> np.ndarray:
    # Infinities and NaN are strings that numpy reads.
    return np.array(values, dtype=np.float64) if not any(isinstance(v, str) for v in values) else np.array([float(v) for v in values])


def _parameter(block: dict[str, Any]) -> Parameter:
    step = block["step"]
    initial = _numbers(block["initial"]).reshape(block["shape"])
    return Parameter(block["name"], initial, step["rule"] == "simplex", float(step.get("rate", 1.0)))


def bit_width(form: dict[str, Any]) -> int:
    """Bits of a number of a format."""
    if form["kind"] == "fixed":
        return form["integer_bits"] + form["fraction_bits"]
    return 1 + form["exponent_bits"] + form["mantissa_bits"]


class Operations:
    """What the operations do, with numpy. Others override what their arrays do differently, and the derivatives."""

    xp: Any = np
    integer: Any = np.int64

    def array(self, values: np.ndarray) -> Any:
        """Constant numbers as the library's own array."""
        return values

    def integers(self, v: Any) -> Any:
        return v.astype(self.integer)

    def reals(self, v: Any) -> Any:
        return v.astype(np.float64)

    def linear(self, node: Node, v: Any) -> Any:
        matrix = node.matrix
        return matrix.bias + np.bincount(matrix.rows, matrix.weights * v.reshape(-1)[matrix.columns], matrix.shape[0])

    def sum(self, node: Node, *terms: Any) -> Any:
        """From left to right; a weight of 1 or -1 is not multiplied."""
        total = None
        for weight, term in zip(node.weights, terms):
            if weight not in (1.0, -1.0) or (total is None and weight == -1.0):
                term, weight = term * weight, 1.0
            total = term if total is None else total + term if weight == 1.0 else total - term
        return total

    def relu(self, node: Node, v: Any) -> Any:
        return np.maximum(v, 0.0)

    def product(self, node: Node, a: Any, b: Any) -> Any:
        return a * b

    def quotient(self, node: Node, a: Any, b: Any) -> Any:
        return a / b

    def matmul(self, node: Node, a: Any, b: Any) -> Any:
        return (a[:, :, None] * b[None, :, :]).sum(1)

    def sqrt(self, node: Node, v: Any) -> Any:
        return self.xp.sqrt(v)

    def sum_columns(self, node: Node, v: Any) -> Any:
        return v.sum(1)

    def sum_all(self, node: Node, v: Any) -> Any:
        return v.sum()

    def shift(self, node: Node, v: Any) -> Any:
        width = v.shape[1]
        by = max(-width, min(node.by, width))
        rest = v[:, : width - by] if by >= 0 else v[:, -by:]
        return self.pad(rest, max(by, 0), max(-by, 0))

    def pad(self, v: Any, before: int, after: int) -> Any:
        return np.pad(v, ((0, 0), (before, after)))

    def reshape(self, node: Node, v: Any) -> Any:
        return v

    def stack(self, node: Node, a: Any, b: Any) -> Any:
        return self.xp.concatenate([a, b])

    def gather(self, node: Node, v: Any) -> Any:
        return v.reshape(-1)[node.positions]

    def stop_gradient(self, node: Node, v: Any) -> Any:
        return v

    def switch(self, node: Node, open_: Any, on: Any, off: Any) -> Any:
        with np.errstate(invalid="ignore"):
            between = open_ * on + (1.0 - open_) * off
        return self.xp.where(open_ == 1.0, on, self.xp.where(open_ == 0.0, off, between))

    def select(self, node: Node, condition: Any, a: Any, b: Any) -> Any:
        return self.xp.where(condition > 0, a, b)

    def quantize(self, node: Node, v: Any) -> Any:
        """Bits as -1 and 1, lowest first: nearest, ties to even, saturating."""
        form, xp = node.format, self.xp
        v = self.stop_gradient(node, v).reshape(-1)
        v = xp.clip(xp.where(xp.isnan(v), 0.0, v), -3e38, 3e38)
        codes = self._fixed_codes(form, v) if form["kind"] == "fixed" else self._float_codes(form, v)
        bits = (codes[:, None] >> self.places(codes, bit_width(form))) & 1
        return self.reals(2 * bits - 1).reshape(-1)

    def places(self, like: Any, n: int) -> Any:
        """0, 1, …, n - 1 as integers."""
        return self.xp.arange(n, dtype=self.integer)

    def _fixed_codes(self, form: dict[str, Any], v: Any) -> Any:
        xp, top = self.xp, 2 ** (bit_width(form) - 1)
        steps = self.integers(xp.round(xp.clip(v * 2.0 ** form["fraction_bits"], -2.0 * top, 2.0 * top)))
        if form["negatives"] == "twos-complement":
            return xp.clip(steps, -top, top - 1) & (2 * top - 1)
        return xp.clip(xp.abs(steps), 0, top - 1) + xp.where(steps < 0, top, 0)

    def _float_codes(self, form: dict[str, Any], v: Any) -> Any:
        xp, one, top = self.xp, 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
        size = xp.abs(v)
        mantissa, exponent = xp.frexp(size)  # in [1/2, 1)
        scaled = mantissa * (2.0 * one)
        below = xp.floor(scaled)
        rest = scaled - below
        code = self.integers(below) + (self.integers(exponent) - 1 + form["bias"] - 1) * one
        code = code + self.integers((rest > 0.5) | ((rest == 0.5) & (code % 2 == 1)))
        smallest = 2.0 ** (1 - form["bias"])
        tiny = xp.where(size * 2.0 > smallest, one, 0)
        code = xp.where(size < smallest, tiny, xp.clip(code, None, top - 1))
        return code + xp.where((v < 0) & (code != 0), top, 0)

    def dequantize(self, node: Node, v: Any) -> Any:
        """Numbers from bits, which are 1 where positive."""
        form, xp = node.format, self.xp
        width = bit_width(form)
        bits = self.integers(self.stop_gradient(node, v).reshape(-1, width) > 0)
        codes = (bits << self.places(bits, width)).sum(1)
        if form["kind"] == "fixed":
            top = 2 ** (width - 1)
            negative = codes - 2 * top if form["negatives"] == "twos-complement" else top - codes
            return self.reals(xp.where(codes >= top, negative, codes)) * 2.0 ** -form["fraction_bits"]
        one, top = 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
        exponent = codes % top // one
        size = xp.ldexp(self.reals(one + codes % one) / one, exponent - form["bias"])
        size = xp.where(exponent == 0, 0.0, size)
        return xp.where(codes >= top, -size, size)


def evaluate(graph: Graph, operations: Operations, parameters: dict[str, Any], inputs: dict[str, Any], wanted: list[int]) -> list[Any]:
    """The values of some nodes."""
    values: dict[int, Any] = {}
    for index in graph.needed(wanted):
        values[index] = compute(graph, operations, index, values, parameters, inputs)
    return [values[index] for index in wanted]


def compute(graph: Graph, operations: Operations, index: int, values: dict[int, Any], parameters: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """The value of one node whose operands are known."""
    node = graph.nodes[index]
    if node.op == "parameter":
        value = parameters[node.parameter]
    elif node.op == "input":
        value = inputs[node.input]
    elif node.op == "constant":
        value = operations.array(node.values)
    else:
        value = getattr(operations, node.op.replace("-", "_"))(node, *(values[operand] for operand in node.operands))
    return value.reshape(node.shape)


class Path:
    """One number for all vertices visited: two runs that agree in it went the same way."""

    MULTIPLIER, MASK = 0x9E3779B97F4A7C15, 2**64 - 1

    def __init__(self) -> None:
        self.digest = 0

    def visit(self, vertices: Iterable[int]) -> None:
        """Notes further vertices."""
        for vertex in vertices:
            self.digest = (self.digest * self.MULTIPLIER + int(vertex) + 1) & self.MASK

    def __str__(self) -> str:
        return f"{self.digest:016x}"
