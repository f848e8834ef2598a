"""Streams: every gradient step sees a fresh sample, and the network knows only that sample and its own weights."""

from __future__ import annotations

import itertools
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _luge, data
from .errors import LugeError
from .jobs import Callback, Job, _outside, given, source
from .learner import located
from .results import Stream

#: The number of samples that are first drawn from a generator, and the factor by which it grows until the learner halts.
_FIRST, _MORE = 4096, 4
#: No more numbers of samples are kept.
_MOST_NUMBERS = 2**26


def takes(learner: _luge.Source) -> bool:
    """Whether a learner takes samples from a stream; a program without ``take`` loops over a table."""
    return not learner.is_program or re.search(r"\btake\s*;", re.sub(r"//.*", "", learner.text)) is not None


def stream_job(
    learner: Any = "parity",
    samples: Any = None,
    *,
    draw: str | None = None,
    target: str | list[str] | None = None,
    order: str = "cycle",
    landscape: str = "plain",
    primary: str | None = None,
    constants: dict[str, float] | None = None,
    format: str | None = None,
    batch: int = 1,
    seed: int = 0,
    steps: int | None = None,
    label_bound: float | None = None,
    carrier: float | None = None,
    cells: int | None = None,
    engine: str | None = None,
    hold: int | None = None,
    precision: str | None = None,
    via: str | None = None,
    saturate: bool = False,
    missing: str | None = None,
    scale: str | None = None,
    classes: str | None = None,
) -> Job:
    """A learner on a stream. The options are those of ``luge stream``.

    ``samples`` is a pair of arrays ``(x, y)`` or a frame with its ``target`` columns, whose rows pass again and again in the given ``order``; or any
    other iterable of samples, such as a generator, each of which passes once. Such a sample is a pair ``(x, y)``, a row of numbers that ends with the
    label, or a dictionary, a pandas series or a named tuple with its ``target``. First 4,096 batches are drawn, then four times as many, until the
    learner halts; they are stored, so that the run can be repeated. ``format="auto"``, the default if ``samples`` are given, chooses the smallest
    ``fix:I.F`` in which no number of a program wraps around, as in :func:`luge.train_job`. Without ``samples``, ``draw`` describes what is drawn; the default is what ships with the learner.
    """
    auto = format == "auto" or (format is None and samples is not None)
    asked: dict[str, Any] = {
        "draw": draw, "order": order, "primary": primary, "set": [f"{name}={value}" for name, value in (constants or {}).items()],
        "landscape": landscape, "saturate": None if auto else saturate, "prepare": given(missing=missing, scale=scale, classes=classes),
        "options": given(
            format=None if auto else format, batch=batch, seed=seed, steps=steps, label_bound=label_bound, carrier=carrier, cells=cells,
            engine=engine, hold=hold, precision=precision, via=via,
        ),
    }  # fmt: skip
    if samples is not None and draw is not None:
        raise TypeError("samples are given or drawn, not both")
    with located(learner):
        text = source(learner)
        for warning in text.circuit_warnings:
            warnings.warn(f"{text.name}: {warning}", stacklevel=_outside())

        def make(table: Any, **changes: Any) -> Job:
            job = _luge.Job.stream(text, table, json.dumps({**asked, **changes}))
            return Job(job.choose_format(saturate) if auto else job, learner)

        if samples is None:
            return make(None)
        table = _table(samples, target)
        if table is not None:
            return make(table)
        if not takes(text):
            raise LugeError(f"{text.name} loops over its data, which must end: give arrays (x, y) or a frame")
        if order != "cycle" or missing is not None or scale is not None:
            raise LugeError("samples of an iterable pass one by one: order, missing and scale are for arrays and frames")
        return _until_it_halts(make, _rows(samples, target), asked["options"])


def stream(learner: Any = "parity", samples: Any = None, *, callback: Callback | None = None, every: int = 1, **options: Any) -> Stream:
    """Trains a network on a stream, one gradient step per batch, until the learner halts, and certifies the run.

    The options are those of :func:`stream_job`. ``callback(step, loss)`` stops the run by returning something true; on landscape ``mlp`` the loss is nan.
    """
    result = stream_job(learner, samples, **options).run(callback=callback, every=every)
    assert isinstance(result, Stream)
    return result


def _table(samples: Any, target: str | list[str] | None) -> tuple[np.ndarray, np.ndarray, list[str], list[str]] | None:
    """Arrays or a frame as a table; ``None`` for an iterable of samples."""
    if hasattr(samples, "columns"):
        targets = [target] if isinstance(target, str) else list(target or [])
        if not targets:
            raise LugeError("a frame needs target: the column of the label")
        return data.table(samples.drop(columns=targets), samples[targets])
    if isinstance(samples, tuple) and len(samples) == 2 and all(isinstance(part, list) or hasattr(part, "__array__") for part in samples):
        return data.table(*samples)
    return None


def _until_it_halts(make: Any, rows: Iterator[tuple[Any, ...]], options: dict[str, Any]) -> Job:
    """Asks for more and more samples until the learner halts before they are used up; none passes twice."""
    x: list[Any] = []
    y: list[Any] = []
    names: tuple[list[str], list[str]] | None = None
    wanted, batch = _FIRST * options["batch"], options["batch"]
    while True:
        before = len(x)
        for features, labels, *known in itertools.islice(rows, wanted - before):
            x.append(features)
            y.append(labels)
            names = names or tuple(known)  # type: ignore[assignment]
        if not x:
            raise LugeError("the iterable has no samples")
        if len({len(row) for row in x[before:]} | {len(x[0])}) > 1:
            raise LugeError("samples have different numbers of features")
        features, labels = data.matrix(x), data.matrix(y)
        table = (features, labels, names[0], names[1]) if names else data.table(features, labels)
        ended = len(x) < wanted
        most = options.get("steps", sys.maxsize)
        steps = min(most, len(x) // batch)
        job = make(table, options={**options, "steps": steps})
        taken, halts = job._inner.prepare().rehearsal[1:]
        if halts or steps == most:
            return job
        if ended:
            raise LugeError(
                f"{len(x):,} samples passed, of which the learner took {taken:,}, and it has not halted: every gradient step sees another sample. "
                "Give more of them, or arrays (x, y), whose rows pass again and again"
            )
        if len(x) * (features.shape[1] + labels.shape[1]) * _MORE > _MOST_NUMBERS:
            raise LugeError(f"{len(x):,} samples passed, and the learner has not halted: more are not kept; give steps to stop earlier")
        wanted *= _MORE


def _rows(samples: Iterable[Any], target: str | list[str] | None) -> Iterator[tuple[Any, ...]]:
    """Samples one by one: features, labels, and the names of both where they have any."""
    targets = [target] if isinstance(target, str) else list(target or ["y"])
    features: list[str] | None = None
    for sample in samples:
        # As pandas.DataFrame.iterrows gives them.
        if isinstance(sample, tuple) and len(sample) == 2 and hasattr(sample[1], "index") and hasattr(sample[1], "to_dict"):
            sample = sample[1]
        if hasattr(sample, "_asdict"):
            sample = {name: value for name, value in sample._asdict().items() if name != "Index"}
        elif hasattr(sample, "to_dict"):
            sample = sample.to_dict()
        if isinstance(sample, Mapping):
            absent = [name for name in targets if name not in sample]
            if absent:
                raise LugeError(f"a sample has no {', '.join(absent)}, but {', '.join(map(str, sample))}: name the label with target")
            own = {str(name): value for name, value in sample.items() if name not in targets}
            features = features or list(own)
            if own.keys() != set(features):
                raise LugeError(f"a sample has the features {', '.join(own)}, but the first one has {', '.join(features)}")
            yield [own[name] for name in features], [sample[name] for name in targets], features, targets
            continue
        row = list(sample)
        if len(row) < 2:
            raise LugeError(f"{sample!r} is no sample: expected (x, y), a row of numbers, or a dictionary")
        if len(row) == 2 and np.ndim(row[0]) == 1:
            yield list(row[0]), list(np.atleast_1d(row[1]))
        else:
            yield row[:-1], row[-1:]
