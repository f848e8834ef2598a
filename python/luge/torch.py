"""Networks as ``torch.nn.Module``: autograd differentiates them, an ordinary loop trains them.

>>> net = luge.torch.module(model)
>>> optimizer = torch.optim.SGD(net.parameters(), lr=1.0)  # landscape plain; FrankWolfe(net.groups()) on the others
>>> for step in itertools.count():
...     loss = 0.5 * (net(x) - y).square().sum()
...     if net.stopped(step, loss):
...         break
...     optimizer.zero_grad()
...     loss.backward()
...     optimizer.step()
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from .graph import Graph, Matrix, Node, Operations, Path, compute
from .jobs import Job
from .ordinary import sequential as sequential
from .results import Model

#: Rows of a sparse matrix longer than this are cut to pieces.
LONG_ROW = 256


# ---- derivatives that are not left to torch -------------------------------------------------------------------------------------------


def _guarded(slope: torch.Tensor, derivative: torch.Tensor) -> torch.Tensor:
    """No slope from above means no slope below, be the derivative infinite: so a branch not taken is not differentiated."""
    return torch.where(slope == 0, 0.0, derivative)


def _fold(slope: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The sum over what was stretched."""
    stretched = [i for i, side in enumerate(shape) if side == 1 and slope.shape[i] != 1]
    return slope.sum(stretched, keepdim=True) if stretched else slope


class _Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        root = torch.sqrt(v)
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> torch.Tensor:
        (root,) = ctx.saved_tensors
        return _guarded(slope, slope / (2.0 * root))


class _Quotient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = ctx.saved_tensors
        return _fold(_guarded(slope, slope / b), a.shape), _fold(_guarded(slope, -slope / b * (a / b)), b.shape)


class _Product(torch.autograd.Function):
    """For factors that may be infinite."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = ctx.saved_tensors
        return _fold(_guarded(slope, slope * b), a.shape), _fold(_guarded(slope, slope * a), b.shape)


class _Switch(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, open_: torch.Tensor, on: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(open_, on, off)
        between = open_ * on + (1.0 - open_) * off
        return torch.where(open_ == 1.0, on, torch.where(open_ == 0.0, off, between))

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, ...]:
        open_, on, off = ctx.saved_tensors
        full, shut = open_ == 1.0, open_ == 0.0
        by_on = torch.where(full, slope, torch.where(shut, 0.0, slope * open_))
        by_off = torch.where(shut, slope, torch.where(full, 0.0, slope * (1.0 - open_)))
        by_open = torch.where(full | shut, 0.0, slope * (on - off)).sum().reshape(open_.shape)
        return by_open, _fold(by_on, on.shape), _fold(by_off, off.shape)


#: A sparse matrix as gathers of equally long rows, one after the other: positions, and weights unless all are 1.
Plan = list[tuple[torch.Tensor, "torch.Tensor | None"]]


def _apply(plan: Plan, v: torch.Tensor) -> torch.Tensor:
    for positions, weights in plan:
        v = v[positions] if weights is None else v[positions] * weights
        v = v.sum(1) if positions.shape[1] > 1 else v.squeeze(1)
    return v


class _Linear(torch.autograd.Function):
    """Torch's own gathers scatter in their derivative; here it is the gather of the transposed matrix."""

    @staticmethod
    def forward(ctx: Any, v: torch.Tensor, forth: Plan, back: Plan) -> torch.Tensor:
        ctx.back = back
        return _apply(forth, v)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _apply(ctx.back, slope), None, None


def _gathers(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, n_rows: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """The rows of a sparse matrix, padded to one length; long rows are cut to pieces first, whose sums are gathered again."""
    order = np.argsort(rows, kind="stable")
    rows, columns, weights = rows[order], columns[order], weights[order]
    counts = np.bincount(rows, minlength=n_rows)
    most = max(int(counts.max(initial=0)), 1)
    place = np.arange(len(rows)) - (counts.cumsum() - counts)[rows]
    cut = most > LONG_ROW
    length = 2 ** math.ceil(math.log2(most) / 2) if cut else most
    pieces = -(-counts // length) if cut else np.ones(n_rows, dtype=np.int64)
    piece = (pieces.cumsum() - pieces)[rows] + place // length
    positions, factors = np.zeros((int(pieces.sum()), length), dtype=np.int64), np.zeros((int(pieces.sum()), length))
    positions[piece, place % length], factors[piece, place % length] = columns, weights
    level = [(positions, None if (factors == 1.0).all() else factors)]
    if not cut:
        return level
    owner = np.repeat(np.arange(n_rows), pieces)
    return level + _gathers(owner, np.arange(len(owner)), np.ones(len(owner)), n_rows)


class _TorchOperations(Operations):
    """The operations with torch; constants and matrices are buffers of a module."""

    xp, integer = torch, torch.int64

    def __init__(self, network: Network) -> None:
        self.network = network

    def array(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(values, dtype=self.network.dtype, device=self.network.device)

    def integers(self, v: torch.Tensor) -> torch.Tensor:
        return v.to(torch.int64)

    def reals(self, v: torch.Tensor) -> torch.Tensor:
        return v.to(self.network.dtype)

    def linear(self, node: Node, v: torch.Tensor) -> torch.Tensor:
        found = _Linear.apply(v.reshape(-1), *self.network.plans(node))
        bias = self.network.bias(node)
        return found if bias is None else found + bias

    def gather(self, node: Node, v: torch.Tensor) -> torch.Tensor:
        return _Linear.apply(v.reshape(-1), *self.network.plans(node))

    def relu(self, node: Node, v: torch.Tensor) -> torch.Tensor:
        return torch.relu(v)

    def product(self, node: Node, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _Product.apply(a, b) if node.unbounded else a * b

    def quotient(self, node: Node, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _Quotient.apply(a, b)

    def matmul(self, node: Node, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a.unsqueeze(2), b.unsqueeze(0)
        return (_Product.apply(a, b) if node.unbounded else a * b).sum(1)

    def sqrt(self, node: Node, v: torch.Tensor) -> torch.Tensor:
        return _Root.apply(v)

    def pad(self, v: torch.Tensor, before: int, after: int) -> torch.Tensor:
        return torch.nn.functional.pad(v, (before, after))

    def stop_gradient(self, node: Node, v: torch.Tensor) -> torch.Tensor:
        return v.detach()

    def switch(self, node: Node, open_: torch.Tensor, on: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
        return _Switch.apply(open_, on, off)

    def places(self, like: torch.Tensor, n: int) -> torch.Tensor:
        return torch.arange(n, device=like.device)


# ---- the module -----------------------------------------------------------------------------------------------------------------------


class Network(torch.nn.Module):
    """An extended network. Its parameters are the weights of Figure 1: s, T, H and z; constants and matrices are buffers."""

    def __init__(self, graph: Graph, dtype: torch.dtype = torch.float64, weights: dict[str, np.ndarray] | None = None) -> None:
        super().__init__()
        self.graph, self._operations = graph, _TorchOperations(self)
        for block in graph.parameters:
            start = block.initial if weights is None else weights[block.name]
            self.register_parameter(block.name, torch.nn.Parameter(torch.tensor(start, dtype=dtype)))
        self._fixed = self._fold_constants(dtype)
        self._shape_of: dict[str, list[bool]] = {}
        self._index = {id(node): index for index, node in enumerate(graph.nodes)}
        for index, node in enumerate(graph.nodes):
            if index not in self._fixed and node.op in ("linear", "gather"):
                self._add_plans(index, node, dtype)
        self._seen: tuple[Any, int, dict[int, torch.Tensor]] | None = None
        self._of_x = self._depending_on_x_alone()

    def _fold_constants(self, dtype: torch.dtype) -> set[int]:
        """Computes the nodes without arguments, once."""
        plain, values = Operations(), dict[int, np.ndarray]()
        for index, node in enumerate(self.graph.nodes):
            if node.op not in ("parameter", "input") and all(operand in values for operand in node.operands):
                values[index] = compute(self.graph, plain, index, values, {}, {})
                self.register_buffer(f"constant_{index}", torch.tensor(values[index], dtype=dtype), persistent=False)
        return set(values)

    def _depending_on_x_alone(self) -> list[int]:
        found: list[int] = []
        for index, node in enumerate(self.graph.nodes):
            known = all(o in self._fixed or o in found for o in node.operands)
            if index not in self._fixed and ((node.op == "input" and node.input == "x") or (node.operands and known)):
                found.append(index)
        return found

    def _add_plans(self, index: int, node: Node, dtype: torch.dtype) -> None:
        if node.op == "gather":
            size = math.prod(self.graph.nodes[node.operands[0]].shape)
            n = len(node.positions)
            matrix = Matrix(np.arange(n), node.positions, np.ones(n), (n, size), np.zeros(n))
        else:
            matrix = node.matrix
        if matrix.bias.any():
            self.register_buffer(f"bias_{index}", torch.tensor(matrix.bias, dtype=dtype), persistent=False)
        for way, rows, columns, n_rows in (
            ("forth", matrix.rows, matrix.columns, matrix.shape[0]), ("back", matrix.columns, matrix.rows, matrix.shape[1]),
        ):  # fmt: skip
            levels = _gathers(rows, columns, matrix.weights, n_rows)
            self._shape_of[f"{way}_{index}"] = [weights is not None for _, weights in levels]
            for level, (positions, weights) in enumerate(levels):
                self.register_buffer(f"{way}_{index}_{level}", torch.tensor(positions), persistent=False)
                if weights is not None:
                    self.register_buffer(f"{way}_{index}_{level}_weights", torch.tensor(weights, dtype=dtype), persistent=False)

    def plans(self, node: Node) -> tuple[Plan, Plan]:
        """The gathers of a node's matrix and of its transpose."""
        index = self._index[id(node)]

        def plan(way: str) -> Plan:
            name = f"{way}_{index}"
            return [
                (getattr(self, f"{name}_{level}"), getattr(self, f"{name}_{level}_weights") if weighted else None)
                for level, weighted in enumerate(self._shape_of[name])
            ]

        return plan("forth"), plan("back")

    def bias(self, node: Node) -> torch.Tensor | None:
        """What a node's matrix adds, unless it is 0."""
        return getattr(self, f"bias_{self._index[id(node)]}", None)

    @property
    def dtype(self) -> torch.dtype:
        """The arithmetic."""
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """Where it is computed."""
        return next(self.parameters()).device

    def _known(self, x: torch.Tensor) -> dict[int, torch.Tensor]:
        """The values that do not depend on weights: constants, and those that follow from x, computed once for each x."""
        if self._seen is None or self._seen[0] is not x or self._seen[1] != x._version:
            values = {index: getattr(self, f"constant_{index}") for index in self._fixed}
            for index in self._of_x:
                values[index] = compute(self.graph, self._operations, index, values, {}, {"x": x}).detach()
            self._seen = (x, x._version, values)
        return self._seen[2]

    def _apply(self, fn: Any, recurse: bool = True) -> Network:
        self._seen = None
        return super()._apply(fn, recurse)

    def values(self, x: torch.Tensor, wanted: list[int], weights: dict[str, torch.Tensor] | None = None) -> list[torch.Tensor]:
        """The values of some nodes on the training samples, at its own weights or others."""
        values = dict(self._known(x))
        weights = dict(self.named_parameters()) if weights is None else weights
        for index in self.graph.needed(wanted, values):
            values[index] = compute(self.graph, self._operations, index, values, weights, {"x": x})
        return [values[index] for index in wanted]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """F(x). During training it takes the training samples; afterwards, any number of samples."""
        x = x if x.dtype == self.dtype else x.to(self.dtype)
        n, features = self.graph.inputs["x"]
        if x.ndim != 2 or x.shape[1] != features:
            raise ValueError(f"x has the shape {tuple(x.shape)}, the network takes {features} features")
        if x.shape[0] == n:
            return self.values(x, [self.graph.out])[0]
        outputs = []
        for chunk in x.split(n):
            missing = n - chunk.shape[0]
            filled = torch.nn.functional.pad(chunk, (0, 0, 0, missing))
            outputs.append(self.values(filled, [self.graph.out])[0][: chunk.shape[0]])
        return torch.cat(outputs) if outputs else x.new_zeros(0, self.graph.nodes[self.graph.out].shape[1])

    def theta(self, x: torch.Tensor) -> torch.Tensor:
        """The primary network's weights that the machine has left on its tape; x: the training samples."""
        with torch.no_grad():
            return self.values(x.to(self.dtype), [self.graph.theta])[0].reshape(-1)

    def current_vertex(self) -> torch.Tensor:
        """The current vertex."""
        return torch.argmax(self.get_parameter(self.graph.vertex).detach().reshape(-1))

    def stopped(self, step: int, loss: torch.Tensor | float) -> bool:
        """Whether training is finished after this number of steps."""
        return self.graph.stopped(step, float(loss.detach() if isinstance(loss, torch.Tensor) else loss))

    def groups(self) -> list[dict[str, Any]]:
        """Its parameters with their rates, for :class:`FrankWolfe`."""
        return [
            {"params": [self.get_parameter(block.name)], "lr": block.rate, "simplex": block.simplex} for block in self.graph.parameters
        ]


class FrankWolfe(torch.optim.Optimizer):
    """Frank-Wolfe with rate 1 in groups with ``simplex``: all the way to the vertex with the smallest slope, if that is strictly better
    than staying. Plain gradient steps with the group's ``lr`` in the others."""

    def __init__(self, params: Iterable[Any], lr: float = 1.0) -> None:
        super().__init__(params, {"lr": lr, "simplex": False})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                if group["simplex"]:
                    weight.copy_(self._moved(weight, weight.grad))
                else:
                    weight.sub_(weight.grad * group["lr"])
        return loss

    @staticmethod
    def _moved(weight: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        point, slope = weight.reshape(-1), grad.reshape(-1)
        here = torch.where(point != 0, slope * point, 0.0).sum()
        best = torch.argmin(torch.where(torch.isnan(slope), math.inf, slope))
        vertex = (torch.arange(len(point), device=point.device) == best).to(point.dtype)
        better = slope.gather(0, best.reshape(1)) < here
        return torch.where(better, point + (vertex - point), point).reshape(weight.shape)


def module(model: Model | Job, *, dtype: torch.dtype = torch.float64, trained: bool = False) -> Network:
    """The network of a model, or of a job before training. It starts from the weights before training, or with ``trained`` from
    the model's."""
    if isinstance(model, Job):
        if trained:
            raise ValueError("a job has no trained weights: run it, and give its model")
        return Network(Graph(model.graph()), dtype)
    return Network(Graph(model.graph()), dtype, model.weights if trained else None)


# ---- training, many steps at a time ---------------------------------------------------------------------------------------------------


class _Steps:
    """Steps of an optimizer on one network and one table, whose losses and vertices stay on the device for a while."""

    def __init__(self, net: Network, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor, fused: bool) -> None:
        self.net, self.optimizer, self.x, self.y = net, optimizer, x, y
        self.names, self.parameters = zip(*net.named_parameters())
        for weight in self.parameters:
            weight.grad = torch.zeros_like(weight)
        self.slopes = self._fused() if fused else self._slopes

    def _slopes(self, *weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The loss at some weights, and its slopes by autograd."""
        with torch.enable_grad():
            weights = tuple(weight.detach().requires_grad_() for weight in weights)
            (out,) = self.net.values(self.x, [self.net.graph.out], dict(zip(self.names, weights)))
            loss = 0.5 * (out - self.y).square().sum()
            slopes = torch.autograd.grad(loss, weights, allow_unused=True)
        zeros = (torch.zeros_like(weight) if slope is None else slope for slope, weight in zip(slopes, weights))
        return loss.detach(), *zeros

    def _fused(self) -> Callable[..., tuple[torch.Tensor, ...]]:
        """The operations that autograd makes, traced once and fused into fewer kernels; each keeps its own rounding."""
        import torch._inductor.config
        from torch.fx.experimental.proxy_tensor import make_fx

        torch._inductor.config.emulate_precision_casts = True
        return torch.compile(make_fx(self._slopes)(*(weight.detach() for weight in self.parameters)), fullgraph=True)

    def one(self) -> tuple[torch.Tensor, torch.Tensor]:
        """One step; the loss and the vertex before it."""
        vertex = self.net.current_vertex()
        loss, *slopes = self.slopes(*(weight.detach() for weight in self.parameters))
        for weight, slope in zip(self.parameters, slopes):
            weight.grad.copy_(slope)
        self.optimizer.step()
        # The slots of a compiled function are used again by its next call.
        return loss.clone(), vertex

    def several(self, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Some steps; the losses and vertices before them."""
        seen = [self.one() for _ in range(n)]
        return torch.stack([loss for loss, _ in seen]), torch.stack([vertex for _, vertex in seen])

    def weights(self) -> list[torch.Tensor]:
        return [weight.detach().clone() for weight in self.net.parameters()]

    @torch.no_grad()
    def restore(self, weights: list[torch.Tensor]) -> None:
        for weight, kept in zip(self.net.parameters(), weights):
            weight.copy_(kept)

    def captured(self, n: int) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
        """A number of steps as one CUDA graph, which is captured once and then replayed; capturing does not change the weights."""
        kept, stream = self.weights(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.one()
        torch.cuda.current_stream().wait_stream(stream)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            seen = self.several(n)
        self.restore(kept)

        def replay() -> tuple[torch.Tensor, torch.Tensor]:
            recorded.replay()
            return seen

        return replay


def train(
    net: Network, x: torch.Tensor, y: torch.Tensor, optimizer: torch.optim.Optimizer | None = None, *, most_steps: int = 2**62,
    per_replay: int = 16, chunk: int = 4096, fused: bool = False, callback: Callable[[int, float], Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Trains until the network's rule stops it: steps, loss, path, theta and speed.

    On a GPU ``per_replay`` steps are captured once as a CUDA graph and replayed; ``chunk`` steps are made before anybody looks at their
    losses, and those beyond the end are taken back. ``fused``: let ``torch.compile`` fuse what autograd makes of a step. ``callback(step,
    loss)`` is called once a chunk.
    """
    optimizer = FrankWolfe(net.groups()) if optimizer is None else optimizer
    x, y = (torch.as_tensor(t, dtype=net.dtype, device=net.device) for t in (x, y))
    y = y.reshape(net.graph.inputs["y"])
    steps, on_gpu, path = _Steps(net, optimizer, x, y, fused), net.device.type == "cuda", Path()
    per_replay, chunk = (per_replay, max(per_replay, chunk)) if on_gpu else (1, min(chunk, 64))
    several = steps.captured(per_replay) if on_gpu else lambda: steps.several(1)
    made, began = 0, time.monotonic()
    while True:
        kept = steps.weights()
        seen = [tuple(part.clone() for part in several()) for _ in range(chunk // per_replay)]
        losses, vertices = (torch.cat([part[i] for part in seen]).tolist() for i in (0, 1))
        for i, loss in enumerate(losses):
            path.visit([vertices[i]])
            stopped = net.stopped(made + i, loss)
            if stopped or made + i >= most_steps or not math.isfinite(loss):
                steps.restore(kept)
                for _ in range(i // per_replay):
                    several()
                for _ in range(i % per_replay):
                    steps.one()
                wall = time.monotonic() - began
                return dict(
                    stopped=stopped, steps=made + i, loss=loss, path=str(path), theta=net.theta(x).cpu().numpy(), wall_s=wall,
                    steps_per_second=(made + i) / wall, device=str(net.device), dtype=str(net.dtype),
                )  # fmt: skip
        made += len(losses)
        if callback is not None and callback(made, losses[-1]):
            return dict(stopped=False, steps=made, loss=losses[-1], path=str(path), theta=net.theta(x).cpu().numpy())
