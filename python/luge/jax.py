"""Networks as pure functions for JAX: ``jax.grad`` differentiates them, a loop of a few lines trains them.

>>> loss, weights = luge.jax.loss(model), luge.jax.initial(model)
>>> step = jax.jit(lambda w: luge.jax.update(model, w, jax.grad(loss)(w, x, y)))

JAX computes in float32 by default; all landscapes except ``plain`` need ``jax.config.update("jax_enable_x64", True)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .errors import LugeError
from .graph import Graph, Node, Operations, Path, bit_width, evaluate
from .jobs import Job
from .results import Model

#: Weights by the name of their block.
Weights = dict[str, jax.Array]


def _guarded(slope: jax.Array, derivative: jax.Array) -> jax.Array:
    """No slope from above means no slope below, be the derivative infinite: so a branch not taken is not differentiated."""
    return jnp.where(slope == 0, 0.0, derivative)


def _fold(slope: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The sum over what was stretched."""
    stretched = tuple(i for i, side in enumerate(shape) if side == 1 and slope.shape[i] != 1)
    return slope.sum(stretched, keepdims=True) if stretched else slope


@jax.custom_vjp
def _root(v: jax.Array) -> jax.Array:
    return jnp.sqrt(v)


def _root_forward(v: jax.Array) -> tuple[jax.Array, jax.Array]:
    root = jnp.sqrt(v)
    return root, root


_root.defvjp(_root_forward, lambda root, slope: (_guarded(slope, slope / (2.0 * root)),))


@jax.custom_vjp
def _quotient(a: jax.Array, b: jax.Array) -> jax.Array:
    return a / b


def _quotient_backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    a, b = kept
    return _fold(_guarded(slope, slope / b), a.shape), _fold(_guarded(slope, -slope / b * (a / b)), b.shape)


_quotient.defvjp(lambda a, b: (a / b, (a, b)), _quotient_backward)


@jax.custom_vjp
def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return a * b


def _product_backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    a, b = kept
    return _fold(_guarded(slope, slope * b), a.shape), _fold(_guarded(slope, slope * a), b.shape)


_product.defvjp(lambda a, b: (a * b, (a, b)), _product_backward)


@jax.custom_vjp
def _switch(open_: jax.Array, on: jax.Array, off: jax.Array) -> jax.Array:
    between = open_ * on + (1.0 - open_) * off
    return jnp.where(open_ == 1.0, on, jnp.where(open_ == 0.0, off, between))


def _switch_backward(kept: tuple[jax.Array, ...], slope: jax.Array) -> tuple[jax.Array, ...]:
    open_, on, off = kept
    full, shut = open_ == 1.0, open_ == 0.0
    by_on = jnp.where(full, slope, jnp.where(shut, 0.0, slope * open_))
    by_off = jnp.where(shut, slope, jnp.where(full, 0.0, slope * (1.0 - open_)))
    by_open = jnp.where(full | shut, 0.0, slope * (on - off)).sum().reshape(open_.shape)
    return by_open, _fold(by_on, on.shape), _fold(by_off, off.shape)


_switch.defvjp(lambda open_, on, off: (_switch(open_, on, off), (open_, on, off)), _switch_backward)


class JaxOperations(Operations):
    """The operations with JAX."""

    xp = jnp

    def __init__(self) -> None:
        exact = jax.config.read("jax_enable_x64")
        self.real, self.integer = (jnp.float64, jnp.int64) if exact else (jnp.float32, jnp.int32)

    def array(self, values: np.ndarray) -> jax.Array:
        return jnp.asarray(values, dtype=self.real)

    def reals(self, v: jax.Array) -> jax.Array:
        return v.astype(self.real)

    def linear(self, node: Node, v: jax.Array) -> jax.Array:
        matrix = node.matrix
        weights = jnp.asarray(matrix.weights, dtype=self.real)
        return self.array(matrix.bias).at[matrix.rows].add(weights * v.reshape(-1)[matrix.columns])

    def relu(self, node: Node, v: jax.Array) -> jax.Array:
        return jnp.where(v > 0, v, 0.0)

    def product(self, node: Node, a: jax.Array, b: jax.Array) -> jax.Array:
        return _product(a, b) if node.unbounded else a * b

    def quotient(self, node: Node, a: jax.Array, b: jax.Array) -> jax.Array:
        return _quotient(a, b)

    def matmul(self, node: Node, a: jax.Array, b: jax.Array) -> jax.Array:
        return (_product if node.unbounded else jnp.multiply)(a[:, :, None], b[None, :, :]).sum(1)

    def sqrt(self, node: Node, v: jax.Array) -> jax.Array:
        return _root(v)

    def pad(self, v: jax.Array, before: int, after: int) -> jax.Array:
        return jnp.pad(v, ((0, 0), (before, after)))

    def stop_gradient(self, node: Node, v: jax.Array) -> jax.Array:
        return jax.lax.stop_gradient(v)

    def switch(self, node: Node, open_: jax.Array, on: jax.Array, off: jax.Array) -> jax.Array:
        return _switch(open_, on, off)

    def quantize(self, node: Node, v: jax.Array) -> jax.Array:
        if self.real == jnp.float32 and bit_width(node.format) > 24:
            raise LugeError(f"{node.format['text']} has more bits than float32: call jax.config.update(\"jax_enable_x64\", True)")
        return super().quantize(node, v)


@lru_cache(maxsize=8)
def _read(model: Model | Job) -> Graph:
    return Graph(model.graph())


def _network(model: Model | Job | Graph) -> Graph:
    """The network of a model, or of a job before training, read once."""
    return model if isinstance(model, Graph) else _read(model)


def initial(model: Model | Job | Graph) -> Weights:
    """The weights that training starts from."""
    operations = JaxOperations()
    return {block.name: operations.array(block.initial) for block in _network(model).parameters}


def trained(model: Model) -> Weights:
    """The weights that training has ended with."""
    operations = JaxOperations()
    return {name: operations.array(block) for name, block in model.weights.items()}


def _value(model: Model | Job | Graph, node: str) -> Callable[..., jax.Array]:
    network, operations = _network(model), JaxOperations()

    def value(weights: Weights, x: Any, y: Any = None) -> jax.Array:
        inputs = {"x": operations.array(x)}
        if y is not None:
            inputs["y"] = operations.array(y).reshape(network.inputs["y"])
        return evaluate(network, operations, weights, inputs, [getattr(network, node)])[0]

    return value


def loss(model: Model | Job | Graph) -> Callable[[Weights, Any, Any], jax.Array]:
    """The loss that training lowers, ``loss(weights, x, y)``: a pure function of the weights and the data."""
    value = _value(model, "loss")
    return lambda weights, x, y: value(weights, x, y).reshape(())


def forward(model: Model | Job | Graph) -> Callable[[Weights, Any], jax.Array]:
    """F(x) as ``forward(weights, x)``, for the number of samples in training."""
    return partial(_value(model, "out"))


def theta(model: Model | Job | Graph, weights: Weights, x: Any) -> jax.Array:
    """The primary network's weights that the machine has left on its tape."""
    return _value(model, "theta")(weights, x).reshape(-1)


def stopped(model: Model | Job | Graph, step: int, loss: Any) -> bool:
    """Whether training is finished after this number of steps."""
    return _network(model).stopped(step, float(loss))


def update(model: Model | Job | Graph, weights: Weights, slopes: Weights) -> Weights:
    """One step of training: Frank-Wolfe on the simplex, plain gradient steps elsewhere."""
    after = {}
    for block in _network(model).parameters:
        point, slope = weights[block.name], slopes[block.name]
        if not block.simplex:
            after[block.name] = point - block.rate * slope
            continue
        best = jnp.argmin(jnp.where(jnp.isnan(slope), jnp.inf, slope).reshape(-1))
        vertex = jnp.zeros(point.size, point.dtype).at[best].set(1.0).reshape(point.shape)
        better = slope.reshape(-1)[best] < jnp.where(point != 0, slope * point, 0.0).sum()
        after[block.name] = jnp.where(better, point + (vertex - point), point)
    return after


def train(model: Model | Job | Graph, x: Any, y: Any, *, most_steps: int = 2**31 - 1, per_look: int = 64) -> dict[str, Any]:
    """Trains from the start by ``jax.grad``: steps, losses, vertices, path and theta.

    ``per_look`` steps are made before anybody looks at the losses.
    """
    network, value = _network(model), loss(model)

    def step(state: tuple[Weights, jax.Array], _: None) -> tuple[tuple[Weights, jax.Array], tuple[jax.Array, jax.Array]]:
        """A run that has stopped stays where it is."""
        weights, count = state
        here, slopes = jax.value_and_grad(value)(weights, x, y)
        done = ((count >= network.not_before) & (here <= network.loss_at_most)) | (count >= most_steps)
        moved = update(network, weights, slopes)
        after = {name: jnp.where(done, weights[name], moved[name]) for name in weights}
        return (after, count + 1), (here, jnp.argmax(weights[network.vertex].reshape(-1)))

    several = jax.jit(lambda state: jax.lax.scan(step, state, length=per_look))
    state, losses, vertices, path = (initial(network), jnp.zeros((), JaxOperations().integer)), [], [], Path()
    while True:
        state, seen = several(state)
        some_losses, some_vertices = (np.asarray(part) for part in seen)
        for here, vertex in zip(some_losses, some_vertices):
            losses.append(float(here))
            vertices.append(int(vertex))
            steps = len(losses) - 1
            stopped = network.stopped(steps, here)
            if stopped or steps >= most_steps or not np.isfinite(here):
                path.visit(vertices)
                return dict(
                    stopped=stopped, steps=steps, losses=np.array(losses), vertices=np.array(vertices), path=str(path),
                    theta=np.asarray(theta(network, state[0], x)), weights=state[0],
                )  # fmt: skip
