"""The trained network for ONNX: F(x) without its training branches, for any number of samples."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import _luge
from .errors import LugeError
from .graph import Graph, Node, Operations, compute
from .results import Model


def export(model: Model, path: str | os.PathLike[str] | None = None, *, force: bool = False) -> onnx.ModelProto:
    """F as an ONNX model in float64, from ``x`` to ``y``; the preparation of the columns (missing values, scales) is part of it, so that it
    takes the numbers of the table. Features of words are given as their columns of 0 and 1. Written to ``path`` if one is given, over another file only with ``force``."""
    graph = Graph(model.graph())
    values = _values(graph, model.weights)
    output = _live(graph, values)
    builder = _Builder(graph, values)
    builder.prepare(model.card["preparation"]["features"])
    builder.add(output)
    n_outputs = graph.nodes[output].shape[1]
    builder.nodes.append(helper.make_node("Identity", [builder.names[output]], ["y"]))
    features = graph.inputs["x"][1]
    made = helper.make_graph(
        builder.nodes,
        "luge",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["n", features])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["n", n_outputs])],
        builder.constants,
    )
    exported = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="luge")
    for name in ("features", "labels"):
        entry = exported.metadata_props.add()
        entry.key, entry.value = name, ",".join(model.card[name])
    onnx.checker.check_model(exported)
    if path is not None:
        _luge.write_files([(os.fspath(path), exported.SerializeToString())], force)
    return exported


def _values(graph: Graph, weights: dict[str, np.ndarray]) -> dict[int, np.ndarray]:
    """All nodes but the loss, at the trained weights and on samples of zeros."""
    values: dict[int, np.ndarray] = {}
    inputs = {"x": np.zeros(graph.inputs["x"])}
    with np.errstate(all="ignore"):
        for index in graph.needed([graph.out]):
            values[index] = compute(graph, Operations(), index, values, weights, inputs)
    return values


def _live(graph: Graph, values: dict[int, np.ndarray]) -> int:
    """The node that passes all switches to the output."""
    index = graph.out
    while True:
        node = graph.nodes[index]
        if node.op == "switch":
            open_ = values[node.operands[0]].item()
            if open_ not in (0.0, 1.0):
                raise LugeError("the network is not trained: a switch stands half open")
            index = node.operands[1] if open_ == 1.0 else node.operands[2]
        elif node.op == "select":
            index = node.operands[1] if values[node.operands[0]].item() > 0 else node.operands[2]
        elif node.op in ("parameter", "constant"):
            raise LugeError("the network is not trained: it puts out its own weights")
        else:
            return index


class _Builder:
    """Translates the nodes that depend on x; what does not is a constant."""

    def __init__(self, graph: Graph, values: dict[int, np.ndarray]) -> None:
        self.graph, self.values = graph, values
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.names: dict[int, str] = {}
        self.moving: set[int] = set()
        self.x = "x"
        for index, node in enumerate(graph.nodes):
            # theta depends on the tapes alone; the bits of x it may seem to depend on do not move it.
            if node.op == "input" and node.input == "x" or index != graph.theta and self.moving.intersection(node.operands):
                self.moving.add(index)

    def prepare(self, features: list[dict[str, Any]]) -> None:
        """What was done to the columns before training; a column of words is one of 0 and 1 for each already."""
        columns = [(feature if not feature.get("words") else {}) for feature in features for _ in feature.get("words") or [None]]
        fills = [column.get("fill") for column in columns]
        scales = [column.get("scale") or (0.0, 1.0) for column in columns]
        if any(fill is not None for fill in fills):
            # NaN stays NaN where no number replaces missing ones.
            fill = self.constant([[np.nan if fill is None else fill for fill in fills]], "fill")
            self.nodes += [helper.make_node("IsNaN", [self.x], ["missing"]), helper.make_node("Where", ["missing", fill, self.x], ["filled"])]
            self.x = "filled"
        if any(scale != (0.0, 1.0) for scale in map(tuple, scales)):
            shift = self.constant([[shift for shift, _ in scales]], "shift")
            width = self.constant([[width for _, width in scales]], "width")
            self.nodes += [helper.make_node("Sub", [self.x, shift], ["shifted"]), helper.make_node("Div", ["shifted", width], ["scaled"])]
            self.x = "scaled"

    def add(self, index: int) -> str:
        """The name of a node's value, its operations added first."""
        if index not in self.names:
            node = self.graph.nodes[index]
            if index not in self.moving:
                self.names[index] = self.constant(self.values[index], f"c{index}")
            elif node.op == "input":
                self.names[index] = self.x if node.input == "x" else node.input
            else:
                self.names[index] = f"n{index}"
                self.translate(node, [self.add(operand) for operand in node.operands], f"n{index}")
        return self.names[index]

    def constant(self, values: Any, name: str) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=np.float64), name))
        return name

    def translate(self, node: Node, operands: list[str], name: str) -> None:
        if node.op == "sum":
            total = ""
            for i, (weight, term) in enumerate(zip(node.weights, operands)):
                if weight != 1.0:
                    factor = self.constant([[weight]], f"{name}_w{i}")
                    self.nodes.append(helper.make_node("Mul", [term, factor], [f"{name}_t{i}"]))
                    term = f"{name}_t{i}"
                if total:
                    self.nodes.append(helper.make_node("Add", [total, term], [f"{name}_s{i}"]))
                    term = f"{name}_s{i}"
                total = term
            self.nodes.append(helper.make_node("Identity", [total], [name]))
        elif node.op in SIMPLE:
            self.nodes.append(helper.make_node(SIMPLE[node.op], operands, [name]))
        else:
            raise LugeError(f"the primary network has an operation that is not exported: {node.op} ({node.name})")


#: Operations that are one operation of ONNX, row by row.
SIMPLE = {"matmul": "MatMul", "relu": "Relu", "product": "Mul", "quotient": "Div", "sqrt": "Sqrt", "stop-gradient": "Identity"}
