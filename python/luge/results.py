"""Results of runs: machines, traces, trained models."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import numpy as np

from . import _luge, data, display
from .display import Png, Svg
from .errors import LugeError


class _Summed:
    """A result whose figures are attributes: those that ``--json`` prints."""

    summary: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["summary"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.summary]


class Run(_Summed):
    """A machine's run by the simulator: ``outcome``, ``steps``, ``state``, ``tapes``, ``heads``, …"""

    def __init__(self, inner: _luge.Run) -> None:
        self._inner = inner
        self.summary = json.loads(inner.summary)

    def picture(self, width: int = 1024, height: int = 1024) -> Png:
        """The run as a picture: time goes down, the tapes go across."""
        return Png(self._inner.picture(width, height))

    def __repr__(self) -> str:
        return f"<run: {self.outcome} in state {self.state} after {self.steps:,} steps>"

    def _repr_html_(self) -> str:
        return display.card(repr(self)[1:-1], self.summary) + self.picture(512, 512).html()


class Trace(_Summed):
    """A trace: ``outcome``, ``steps``, ``machine_steps``, ``mismatches``, ``loss``, ``engine``, ``path``, …"""

    def __init__(self, inner: _luge.Finished, job: _luge.Job) -> None:
        self._inner, self._job = inner, job
        self.summary = json.loads(inner.summary)

    @property
    def exact(self) -> bool:
        """Whether every iterate is the machine's configuration, and training ends where the machine does."""
        return self._inner.certified

    @property
    def losses(self) -> np.ndarray | None:
        """The loss before each step and at the end; ``None`` without ``arrays``."""
        return None if self._inner.arrays is None else self._inner.arrays[0]

    @property
    def vertices(self) -> np.ndarray | None:
        """The vertex before each step and at the end; the smallest integer where none clearly has all the weight."""
        return None if self._inner.arrays is None else self._inner.arrays[1]

    @property
    def heads(self) -> np.ndarray | None:
        """The cell of each binary tape's head, one row per step, one column per tape."""
        return None if self._inner.arrays is None else self._inner.arrays[2]

    @property
    def steps_traced(self) -> int:
        """Steps from the start that are the machine's: all of them if the trace is exact."""
        first = self.first_mismatch
        return self.steps if first is None else max(first["step"] - 1, 0)

    def plot(self) -> Svg:
        """The loss over the steps, with the bounds it must keep."""
        verdict = "every iterate is the machine's configuration" if self.exact else "not exact"
        title = f"{self.machine or 'a machine'} on {self.landscape}"
        return Svg(self._inner.plot(title, f"{self.steps:,} gradient steps: {verdict}"))

    def picture(self, width: int = 1024, height: int = 1024) -> Png:
        """A picture of the machine's run, as far as it was traced."""
        return Run(_luge.Run.of(self._job, self.steps)).picture(width, height)

    def __repr__(self) -> str:
        verdict = "exact" if self.exact else f"{self.mismatches:,} mismatches"
        return f"<trace: {self.outcome} after {self.steps:,} gradient steps on {self.landscape}, {verdict}>"

    def _repr_html_(self) -> str:
        return display.card(repr(self)[1:-1], self.summary) + str(self.plot())


class Model:
    """A trained network: its origin, its weights, and its certificate."""

    def __init__(self, inner: _luge.Model) -> None:
        self._inner = inner
        self.card: dict[str, Any] = json.loads(inner.card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Reads a file that :meth:`save` or ``luge train --out`` wrote."""
        return cls(_luge.Model.load(os.fspath(path)))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes a safetensors file, whole or not at all; over another one only with ``force``."""
        self._inner.save(os.fspath(path), force)

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """Reads the bytes of a file."""
        return cls(_luge.Model.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        return self._inner.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(),)

    @property
    def theta(self) -> np.ndarray:
        """The primary network's weights, which the learner has found."""
        return self._inner.theta

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """All trained weights by the name of their block."""
        return self._inner.weights()

    def variables(self) -> Any:
        """Which weight holds which bit of which variable of the program, as a frame with a row for each bit.

        The weight ``weights[block][row, column]`` is 1 where bit ``bit``, which counts ``value``, of element ``element`` is one, and -1 where it is zero:
        at every step of the run: the same weight always holds the same bit. ``first_line`` and ``last_line`` are the lines of the program in which
        the name means this variable.
        """
        import pandas

        rows = []
        for held in json.loads(self._inner.variables()):
            for element, bit in itertools.product(range(held["length"] or 1), range(held["width"])):
                sign = -1 if bit == held["width"] - 1 and held["fraction"] is not None else 1
                rows.append({
                    "variable": held["name"], "element": element, "bit": bit, "value": sign * 2.0 ** (bit - (held["fraction"] or 0)), "block": held["block"],
                    "row": held["row"], "column": held["first"] + element * held["pitch"] + bit, "first_line": held["lines"][0],
                    "last_line": held["lines"][1],
                })  # fmt: skip
        return pandas.DataFrame(rows)

    def predict(self, x: Any) -> np.ndarray:
        """The primary network's outputs, one row per sample and one column per label.

        The columns of a frame are found by their names, in whatever order they stand; columns that the model does not know are refused.
        """
        return self._inner.predict(data.matrix(data.columns(x, *self._inner.columns)))

    def graph(self) -> dict[str, Any]:
        """The whole network before training, for other programs: docs/graph-format.md."""
        return json.loads(self._inner.graph())

    def certify(self, x: Any, y: Any, *, retrain: bool = True, saturate: bool = False) -> Audit:
        """Derives everything again from the model's machine and its data; with ``retrain`` trains again, and every weight must be the same.

        Data on which it was not trained are no error: the claim ``data`` does not hold then.
        """
        return Audit(json.loads(self._inner.certify((data.matrix(x), data.matrix(y)), retrain=retrain, saturate=saturate)))

    def figure(self) -> Svg:
        """The network of the paper's Figure 1, with this network's sizes."""
        return display.figure_1(self)

    def __repr__(self) -> str:
        overflow = ", OVERFLOW" if "no_overflow" in self.card["certificate"] else ""
        return f"<model: {self.card['primary']} of {len(self.card['features'])} features{overflow}, theta {display.numbers(self.theta)}>"

    def _repr_html_(self) -> str:
        return display.card(repr(self)[1:-1], {**self.card["options"], "certificate": self.card["certificate"]}) + str(self.figure())


class Training(_Summed):
    """What training left behind: ``theta``, ``steps``, ``certificate``, ``train_loss``, ``engine``, ``path``, …

    One that was pickled keeps its figures and its model; what needs the run itself makes it again.
    """

    def __init__(self, inner: _luge.Finished, job: _luge.Job) -> None:
        self._inner: _luge.Finished | None = inner
        self._job = job
        self.summary = json.loads(inner.summary)
        assert inner.model is not None
        self.model = Model(inner.model)
        #: Whether the certificate proves the run.
        self.certified: bool = inner.certified

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (Training, self._job.to_json(), {"summary": self.summary, "model": self.model, "certified": self.certified})

    def _run(self) -> _luge.Finished:
        if self._inner is None:
            self._inner = self._job.prepare().train(arrays=False, callback=None, every=1)
        return self._inner

    def variables(self, step: Any) -> dict[str, np.ndarray]:
        """The values of the program's variables after a number of gradient steps, read from the weights of the repeated run.

        ``step`` is a number, or a sequence of numbers; then every array has a first axis for it. If several variables have the same name, the
        line at which each begins is appended: ``i:7``.
        """
        steps = np.atleast_1d(np.asarray(step, dtype=np.int64))
        order = np.argsort(steps, kind="stable")
        found = self._run().variables(steps[order].tolist())
        names = [name for name, *_ in found]
        values: dict[str, np.ndarray] = {}
        for name, length, lines, rows in found:
            rows = rows[np.argsort(order)]
            rows = rows[:, 0] if length is None else rows
            values[name if names.count(name) == 1 else f"{name}:{lines[0]}"] = rows if np.ndim(step) else rows[0]
        return values

    @property
    def overflow(self) -> str | None:
        """What is to be said if numbers of the program were too large for their types and wrapped around; ``None`` if none was."""
        claim = self.certificate.get("no_overflow")
        return None if claim is None else claim["figures"]

    @property
    def theta(self) -> np.ndarray:
        """The weights that the learner has found."""
        return self.model.theta

    def predict(self, x: Any) -> np.ndarray:
        """The primary network's outputs."""
        return self.model.predict(x)

    def plot(self) -> Svg:
        """The loss over the steps, with the bounds it must keep."""
        return Svg(self._run().plot(self.learner or "a learner", f"{self.steps:,} gradient steps on {self.landscape}"))

    def picture(self, width: int = 1024, height: int = 1024) -> Png:
        """The learner's run on its data as a picture."""
        return Run(_luge.Run.of(self._job, self.machine_steps)).picture(width, height)

    def __repr__(self) -> str:
        verdict = "certified" if self.certified else "NOT certified"
        if self.overflow is not None:
            verdict += f", OVERFLOW: {self.overflow}"
        return f"<training: {self.steps:,} gradient steps on {self.landscape}, {self.format}, {verdict}, theta {display.numbers(self.theta)}>"

    def _repr_html_(self) -> str:
        details = {name: value for name, value in self.summary.items() if name != "answer"}
        return display.answer(self.answer) + str(self.plot()) + f"<details><summary>All figures</summary>{display.card(repr(self)[1:-1], details)}</details>"


def _restored(kind: Any, job: str, known: dict[str, Any]) -> Any:
    """A pickled result; the run is repeated if more is needed."""
    made = kind.__new__(kind)
    made.__dict__.update(known, _inner=None, _job=_luge.Job.from_json(job))
    return made


class StreamModel:
    """A network that was trained on a stream."""

    def __init__(self, inner: _luge.Model) -> None:
        if not inner.of_stream:
            raise LugeError("this is no model of a stream")
        self._inner = inner

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamModel:
        """Reads the bytes of a file."""
        try:
            inner = _luge.Model.from_bytes(data)
        except LugeError as error:
            raise LugeError(f"this is no model of a stream: {error}") from None
        return cls(inner)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StreamModel:
        """Reads a file that :meth:`save` or ``luge stream --out`` wrote."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes a safetensors file, whole or not at all; over another one only with ``force``."""
        self._inner.save(os.fspath(path), force)

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        return self._inner.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return StreamModel.from_bytes, (self.to_bytes(),)

    def predict(self, x: Any) -> np.ndarray:
        """What was learned, on new samples: one row per sample and one column per label. Columns of a frame are found by their names."""
        return self._inner.predict(data.matrix(data.columns(x, *self._inner.columns)))

    def certify(self, x: Any = None, y: Any = None, *, saturate: bool = False) -> Audit:
        """Trains again, and compares every weight; ``x`` and ``y``, as they were given to training, if the samples were rows of arrays."""
        table = None if x is None else (data.matrix(x), data.matrix(y))
        return Audit(json.loads(self._inner.certify(table, retrain=True, saturate=saturate)))


class Stream(_Summed):
    """What training on a stream left behind: ``theta``, ``steps``, ``taken``, ``halted``, ``certificate``, ``certified``, ``overflow``, …"""

    def __init__(self, inner: _luge.Finished, job: _luge.Job) -> None:
        self._inner: _luge.Finished | None = inner
        self._job = job
        self.summary = json.loads(inner.summary)
        assert inner.model is not None
        self.model = StreamModel(inner.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (Stream, self._job.to_json(), {"summary": self.summary, "model": self.model})

    @property
    def theta(self) -> np.ndarray:
        """The weights that the learner has found; none if the registers of a circuit hold no numbers."""
        return np.array(self.summary.get("theta", []), dtype=np.float64)

    @property
    def samples(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The samples as they passed, as numbers of the format; ``None`` if they were drawn."""
        return data.kept(self._job.to_json())

    def predict(self, x: Any) -> np.ndarray:
        """The primary network's outputs."""
        return self.model.predict(x)

    def plot(self) -> Svg:
        """The loss over the steps, with the bounds it must keep; on landscape plain."""
        if self._inner is None:
            self._inner = self._job.prepare().train(arrays=False, callback=None, every=1)
        return Svg(self._inner.plot(self.learner, f"{self.steps:,} gradient steps on a stream"))

    def __repr__(self) -> str:
        verdict = "certified" if self.certified else "NOT certified"
        if self.overflow is not None:
            verdict += f", OVERFLOW: {self.overflow}"
        return f"<stream: {self.steps:,} gradient steps on {self.landscape}, {self.taken:,} samples taken, {verdict}, theta {display.numbers(self.theta)}>"

    def _repr_html_(self) -> str:
        return display.card(repr(self)[1:-1], self.summary) + (str(self.plot()) if self.landscape == "plain" else "")


class Audit:
    """Whether a model is what it claims: true if every claim holds."""

    def __init__(self, verdict: dict[str, Any]) -> None:
        self.claims: dict[str, dict[str, Any]] = dict(verdict["audit"])
        if "retrained" in verdict:
            self.claims["retrained"] = verdict["retrained"]
        #: What was taken from the model's word, without ``retrain``.
        self.not_checked: list[str] = verdict.get("not_checked", [])
        self.holds: bool = verdict["holds"]

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        line = lambda name, claim: f"{name:<14} {'yes' if claim['holds'] else 'NO'}: {claim['figures']}"
        lines = [line(name, claim) for name, claim in self.claims.items()]
        return "\n".join(lines + ([f"{'not checked':<14} {'; '.join(self.not_checked)}"] if self.not_checked else []))

    def _repr_html_(self) -> str:
        unchecked = {"not checked": "; ".join(self.not_checked)} if self.not_checked else {}
        return display.card("certified" if self.holds else "NOT certified", {**self.claims, **unchecked})
