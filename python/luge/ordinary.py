"""Landscape mlp: an ordinary network, Linear and ReLU alone, whose initial weights hold a learner; plain SGD runs it.

>>> net, lr = luge.torch.sequential("parity_circuit", "parity:bits=8,hidden=4")
>>> sgd = torch.optim.SGD(net.parameters(), lr=lr)
>>> for step in range(40):
...     x = 2.0 * torch.randint(2, (1, 8)).double() - 1.0
...     loss = (net(x)[:, 0] - label(x)).square().sum() / 2
...     sgd.zero_grad()
...     loss.backward()
...     sgd.step()
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _luge
from .errors import LugeError
from .streams import stream_job

_PRECISIONS = {"float64": "f64", "float32": "f32"}


@dataclass(frozen=True)
class Network:
    """Linear layers with a ReLU after each but the last: weights of shape (units, inputs), and biases."""

    layers: list[tuple[np.ndarray, np.ndarray]] = field(repr=False)
    #: The rate of SGD.
    lr: float
    #: Steps after which the learner halts on the stream that was drawn.
    steps: int
    #: The number of steps for which each sample passes: row ``step // hold`` of a table, starting again after the last.
    hold: int = 1
    #: What a run by Luge proved; ``None`` for initial weights.
    report: dict[str, Any] | None = field(default=None, repr=False)
    certified: bool | None = None

    def __call__(self, x: Any) -> np.ndarray:
        """The outputs for rows of inputs."""
        values = np.asarray(x, dtype=self.layers[0][0].dtype)
        for i, (weight, bias) in enumerate(self.layers):
            values = (values if i == 0 else np.maximum(values, 0)) @ weight.T + bias
        return values[:, 0]


def network(
    learner: str = "parity_circuit",
    draw: str | None = None,
    *,
    data: tuple[Any, Any] | None = None,
    format: str | None = None,
    dtype: str = "float64",
    seed: int = 0,
    train: bool = False,
) -> Network:
    """The network of a learner in Sled, by its name or file, of a machine that takes samples, of a circuit that ships, or of an AIGER file;
    trained on request.

    It is that of ``luge.stream(learner, data, landscape="mlp")``: samples are drawn as ``luge stream --draw`` takes it, or are rows of
    ``data=(x, y)`` that pass in cycles, each for ``hold`` steps; numbers outside ``format`` are refused, and without it the smallest that works
    is chosen for a program. Without either a learner that ships has its own samples, and a circuit parities. All weights are there, zeros
    included: with many bits there are billions of them, and ``luge export --torch --sparse`` is the way."""
    if dtype not in _PRECISIONS:
        raise LugeError(f"there is no dtype `{dtype}`; there are {', '.join(_PRECISIONS)}")
    job = stream_job(learner, data, draw=draw, format=format, landscape="mlp", precision=_PRECISIONS[dtype], seed=seed)
    prepared = job._inner.prepare()
    trained = prepared.train(arrays=False, callback=None, every=1) if train else None
    layers, lr, hold = _luge.ordinary(prepared, None if trained is None else trained.model)
    made = [(weight.astype(dtype), bias.astype(dtype)) for weight, bias in layers]
    known = (None, None) if trained is None else (json.loads(trained.summary), trained.certified)
    return Network(made, lr, prepared.rehearsal[0], hold, *known)


def sequential(learner: str = "parity_circuit", draw: str | None = None, **asked: Any) -> tuple[Any, float]:
    """The same as a ``torch.nn.Sequential`` of Linear and ReLU, and the rate for ``torch.optim.SGD``."""
    import torch

    made = network(learner, draw, **asked)
    kind = getattr(torch, asked.get("dtype", "float64"))
    parts: list[Any] = []
    state = {}
    for weight, bias in made.layers:
        state[f"{len(parts)}.weight"], state[f"{len(parts)}.bias"] = torch.from_numpy(weight), torch.from_numpy(bias)
        parts += [torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=kind), torch.nn.ReLU()]
    net = torch.nn.Sequential(*parts[:-1])
    net.load_state_dict(state)
    return net, made.lr
