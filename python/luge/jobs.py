"""Jobs: complete descriptions of what to do. A job can be run, iterated step by step, serialised and sent elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _luge, data
from .errors import LugeError, OverflowWarning
from .learner import located
from .results import Run, Stream, Trace, Training

#: Called as ``callback(step, loss)``; stops the run by returning something true.
Callback = Callable[[int, float], Any]


#: What to do about numbers that were too large.
REMEDY = 'leave format out or give format="auto", name a format with more bits before the point, or scale the data'


def _outside() -> int:
    """How many calls lie between the caller and the first frame outside of this package."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "luge":
        depth, frame = depth + 1, frame.f_back
    return depth


def source(program: Any) -> _luge.Source:
    """The text that an argument names.

    A string of several lines is a text: a machine if it reads like one, else a Sled program. Any other string is a file, the name of
    something that ships, or a bbchallenge line.
    """
    if isinstance(program, _luge.Source):
        return program
    if hasattr(program, "__luge_source__"):
        return program.__luge_source__()
    place = os.fspath(program)
    if "\n" in place:
        return _luge.Source.of_text("the text", place)
    return _luge.Source.open(place)


class Job:
    """What to do. Made by :func:`trace_job`, :func:`train_job` and :func:`luge.stream_job`."""

    def __init__(self, inner: _luge.Job, learner: Any = None) -> None:
        self._inner, self._learner = inner, learner

    @property
    def kind(self) -> str:
        """``"trace"``, ``"train"`` or ``"stream"``."""
        return self._inner.kind

    def to_json(self) -> str:
        """The job as JSON, data and programs included; equal jobs have equal texts."""
        return self._inner.to_json()

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Reads a job back."""
        return cls(_luge.Job.from_json(text))

    @property
    def format_choice(self) -> str | None:
        """Which number format was chosen and why, if none was given."""
        return self._inner.format_choice

    @property
    def key(self) -> str:
        """SHA-256 of the job's JSON: the name of its result on disk."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def run(self, *, arrays: bool = True, callback: Callback | None = None, every: int = 1) -> Trace | Training | Stream:
        """Trains. ``arrays``: keep losses, vertices and heads of every step of a trace."""
        with located(self._learner):
            prepared = self._inner.prepare()
        finished = prepared.train(arrays=arrays, callback=callback, every=every)
        if self.kind == "trace":
            return Trace(finished, self._inner)
        training: Training | Stream = Stream(finished, self._inner) if self.kind == "stream" else Training(finished, self._inner)
        if training.overflow is not None:
            warnings.warn(f"{training.overflow}; {REMEDY}", OverflowWarning, stacklevel=_outside())
        return training

    def simulate(self, *, steps: int = 1_000_000_000) -> Run:
        """Runs the machine by the simulator alone, without any network."""
        return Run(_luge.Run.of(self._inner, steps))

    def graph(self) -> dict[str, Any]:
        """The network that training would begin with, for other programs: docs/graph-format.md."""
        if self.kind != "train":
            raise LugeError(f"only training on a table has a graph to export here, not a {self.kind}")
        return json.loads(self._inner.prepare().graph())

    def steps(self) -> Iterator[_luge.Step]:
        """The run step by step; it advances as steps are read."""
        if self.kind == "stream":
            raise LugeError("the steps of a stream are seen by a callback: luge.stream(…, callback=…)")
        return self._inner.prepare().steps()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return Job.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        job = json.loads(self.to_json())[self.kind]
        return f"<{self.kind} job: {job['source']['name']} on landscape {job.get('landscape') or job['options']['landscape']}>"


def given(**options: Any) -> dict[str, Any]:
    """The options that are given."""
    return {name: value for name, value in options.items() if value is not None}


def trace_job(
    machine: Any,
    input: str | Sequence[str] | None = None,
    *,
    landscape: str | None = None,
    vertices: str | None = None,
    engine: str | None = None,
    compare: str | None = None,
    precision: str | None = None,
    rate: str | None = None,
    noise: float | None = None,
    seed: int = 0,
    cells: int | None = None,
    steps: int | None = None,
    moves: str | None = None,
    constants: dict[str, float] | None = None,
    autodiff_checks: int | None = None,
    start: str | None = None,
    line: int | None = None,
) -> Job:
    """A trace: a machine's landscape, trained in lockstep with the simulator. The options are those of ``luge trace``."""
    drawn = None if noise is None else [float(noise), int(seed)]
    manner = given(engine=engine, precision=precision, rate=rate, noise=drawn)
    options = given(
        landscape=landscape, vertices=vertices, compare=compare, cells=cells, steps=steps, moves=moves, constants=constants, autodiff_checks=autodiff_checks,
        manner=manner,
    )  # fmt: skip
    inputs = [input] if isinstance(input, str) else list(input or [])
    return Job(_luge.Job.trace(source(machine), input=inputs, start=start, line=line, options=json.dumps(options)))


def train_job(
    learner: Any = "perceptron",
    x: Any = None,
    y: Any = None,
    *,
    format: str | None = None,
    landscape: str | None = None,
    vertices: str | None = None,
    primary: str | None = None,
    program: Any = None,
    engine: str | None = None,
    precision: str | None = None,
    carrier: str | None = None,
    bits: str | None = None,
    cells: int | None = None,
    label_offset: float | None = None,
    final_loss: float | None = None,
    steps: int | None = None,
    constants: dict[str, float] | None = None,
    autodiff_checks: int | None = None,
    saturate: bool = False,
    missing: str | None = None,
    scale: str | None = None,
    classes: str | None = None,
    split: float | None = None,
    split_seed: int = 0,
) -> Job:
    """A learner on data; without ``x`` and ``y`` on those that ship with it. The options are those of ``luge train``.

    ``format="auto"``, which is the default for data of one's own, takes the smallest ``fix:I.F`` in which no number of the program wraps
    around and theta is nearly what it is with wide numbers; ``format_choice`` of the job says which and why.

    NaN in ``x`` is a missing value. ``classes`` says how whole numbers in ``y`` become labels if they are classes: ``"signs"`` or
    ``"each"``; ``"numbers"`` keeps them. ``split`` holds that share of the rows out of training; ``tested`` of the result says how it does on them.
    """
    if x is None and y is not None:
        raise TypeError("y without x: give both, neither for the data that ship with the learner, or x alone for a learner without labels")
    options = given(
        format=format, landscape=landscape, vertices=vertices, engine=engine, precision=precision, carrier=carrier, bits=bits, cells=cells,
        label_offset=label_offset, final_loss=final_loss, steps=steps, constants=constants, autodiff_checks=autodiff_checks,
    )  # fmt: skip
    auto = format == "auto" or (format is None and x is not None)
    if auto:
        options.pop("format", None)
    held_out = None if split is None else {"fraction": float(split), "seed": int(split_seed)}
    prepare = given(missing=missing, scale=scale, split=held_out, classes=classes)
    with located(learner):
        job = _luge.Job.train(
            source(learner),
            None if x is None else data.table(x, y),
            program=None if program is None else source(program),
            primary=primary,
            options=json.dumps(options),
            prepare=json.dumps(prepare),
            saturate=None if auto else saturate,
        )
        return Job(job.choose_format(saturate) if auto else job, learner)


def run(machine: Any, input: str | Sequence[str] | None = None, *, steps: int = 1_000_000_000, start: str | None = None, line: int | None = None) -> Run:
    """Runs a machine by the simulator: until it halts, has no rule, or has made ``steps`` steps."""
    return trace_job(machine, input, start=start, line=line).simulate(steps=steps)


def trace(
    machine: Any, input: str | Sequence[str] | None = None, *, arrays: bool = True, callback: Callback | None = None, every: int = 1, **options: Any
) -> Trace:
    """Trains a machine's landscape in lockstep with the simulator; the options are those of :func:`trace_job`."""
    result = trace_job(machine, input, **options).run(arrays=arrays, callback=callback, every=every)
    assert isinstance(result, Trace)
    return result


def train(learner: Any = "perceptron", x: Any = None, y: Any = None, *, callback: Callback | None = None, every: int = 1, **options: Any) -> Training:
    """Trains a network that runs the learner, and certifies the run; the options are those of :func:`train_job`."""
    result = train_job(learner, x, y, **options).run(callback=callback, every=every)
    assert isinstance(result, Training)
    return result


def steps(job: Job) -> Iterator[_luge.Step]:
    """The run of a job step by step: ``for step in luge.steps(job)``."""
    return job.steps()


class Compiled:
    """A program as a machine. It can stand wherever a machine or a learner can."""

    def __init__(self, machine: str, summary: dict[str, Any], name: str) -> None:
        self.machine, self.summary, self._name = machine, summary, name

    def __luge_source__(self) -> _luge.Source:
        return _luge.Source.of_text(self._name, self.machine, "native")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["summary"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return f"<machine of {self.learner}: {self.states} states, {self.rules} rules, {self.tracks} binary tapes>"


def compile(learner: Any, n_features: int, n_labels: int = 1, format: str = "fix:4.4") -> Compiled:
    """Compiles a Sled program to a machine, for samples with these numbers of features and labels."""
    text = source(learner)
    machine, summary = _luge.compile(text, n_features, n_labels, format)
    return Compiled(machine, json.loads(summary), text.name)
