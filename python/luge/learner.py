"""Learners written in Python: ``@luge.learner`` translates a function to Sled, and the same function runs on fixed-point numbers.

The function is read with ``ast``, not traced: what is outside of the subset is refused with its line and column.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from . import _luge, fixed
from .errors import LugeError
from .expressions import Unfit
from .translate import Translation, translate


class _Named:
    """A name that stands in annotations; it has no meaning elsewhere."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, arguments: Any) -> _Named:
        return self

    def _same(self, other: Any) -> _Named:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same

    def __repr__(self) -> str:
        return f"luge.{self._name}"


#: Bits before and after the point of the data's format, features and labels of a sample: sizes of types.
I, F, M, L = (_Named(name) for name in "IFML")  # noqa: E741
#: ``fix[8, 4]`` is a number with 8 bits before the point and 4 after it; ``fix`` alone has the data's format.
fix = _Named("fix")
#: ``int_[16]`` is an integer of 16 bits.
int_ = _Named("int_")
#: A truth value.
bit = _Named("bit")
#: ``array[T, n]``: n numbers, bits or arrays.
array = _Named("array")
#: ``samples[X, Y]``: the data, whose features are an ``X`` and whose labels are a ``Y``, or ``samples[X]`` without labels; ``for x, y in data`` goes through them,
#: ``x, y = luge.take()`` takes the next one of a stream.
samples = _Named("samples")


def _only_inside(name: str) -> Callable[..., NoReturn]:
    def refused(*arguments: Any) -> NoReturn:
        raise LugeError(f"luge.{name} has a meaning inside of a learner only: decorate the function with @luge.learner")

    refused.__name__, refused.__doc__ = name, f"``{name}`` of Sled; it has a meaning inside of a learner only."
    return refused


cast, saturate, take, relu, sign = (_only_inside(name) for name in ("cast", "saturate", "take", "relu", "sign"))


class Learner:
    """A learner written in Python. It can stand wherever a learner can; ``sled`` is its text, and calling it runs it in plain Python."""

    __name__: str

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        lines, first = inspect.findsource(function)
        self._file, self._text, self._function = inspect.getsourcefile(function) or "<python>", "".join(lines), function
        own = inspect.getblock(lines[first:])
        self._indent = len(own[0]) - len(own[0].lstrip())
        tree = ast.parse(textwrap.dedent("".join(own)))
        ast.increment_lineno(tree, first)
        closure = inspect.getclosurevars(function)
        try:
            self._translation: Translation = translate(tree.body[0], {**function.__globals__, **closure.nonlocals}, _tree_of)
        except Unfit as unfit:
            raise self._refusal(str(unfit), [self._finding(unfit.node, str(unfit), unfit.help)]) from None
        self.sled: str = self._translation.sled

    def __luge_source__(self) -> _luge.Source:
        return _luge.Source.of_text(self.__name__, self.sled, "sled")

    def __call__(self, x: Any, y: Any = None, *, format: str) -> np.ndarray:
        """Runs the function in plain Python on these data, and gives theta."""
        kind, _, sizes = format.partition(":")
        if kind != "fix" or not sizes.replace(".", "", 1).isdigit():
            raise LugeError(f"a learner computes with fix:I.F numbers, not with {format}")
        integer, fraction = (int(bits) for bits in sizes.split("."))
        tables = [np.asarray(part, dtype=float) for part in (x, y) if part is not None]
        if len(tables) != len(self._translation.sample):
            raise LugeError(f"{self.__name__} takes {'no labels' if y is not None else 'labels'}")
        tables = [table[:, None] if table.ndim == 1 else table for table in tables]
        number = lambda value: fixed.Fixed(_nearest(value, integer, fraction), integer, fraction)
        part = lambda row, kind: fixed.Array(map(number, row)) if kind == "array" else number(row[0])
        rows = [tuple(map(part, sample, self._translation.sample)) for sample in zip(*tables)]
        sizes_of = {"I": integer, "F": fraction, "M": tables[0].shape[1], "L": tables[-1].shape[1]}
        return np.array([float(value) for value in self._translation.run(rows, sizes_of)])

    def located(self, error: LugeError) -> LugeError:
        """An error in the Sled text, at the corresponding place in Python."""
        if error.text != self.sled:
            return error
        nodes = self._translation.nodes
        found = [self._finding(nodes[f["line"]], f["message"], f["help"], f["label"]) for f in error.findings if f["line"] in nodes]
        return self._refusal(error.headline, found) if found else error

    def _refusal(self, headline: str, findings: list[dict[str, Any]]) -> LugeError:
        return LugeError(f"{self.__name__} is no learner: {headline}", self._file, self._text, findings)

    def _finding(self, node: ast.AST, message: str, help: str | None, label: str = "here") -> dict[str, Any]:
        line, column = node.lineno, node.col_offset + self._indent  # type: ignore[attr-defined]
        lines = self._text.splitlines(keepends=True)
        start = len("".join(lines[: line - 1]).encode()) + column
        last, end = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", 0) + self._indent
        stop = start + (end - column if last == line else len(lines[line - 1].encode()) - column)
        return {"message": message, "label": label, "help": help, "line": line, "column": column + 1, "span": (start, stop), "warning": False}

    def __repr__(self) -> str:
        return f"<learner {self.__name__} in {self._file}>"

    def __reduce__(self) -> str:
        return self._function.__qualname__


def _nearest(value: float, integer: int, fraction: int) -> int:
    end = 1 << (integer + fraction - 1)
    return max(-end, min(round(value * (1 << fraction)), end - 1))


def _tree_of(function: FunctionType) -> ast.FunctionDef:
    """A helper function as it was written."""
    lines, first = inspect.findsource(function)
    tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines[first:]))))
    ast.increment_lineno(tree, first)
    assert isinstance(tree.body[0], ast.FunctionDef)
    return tree.body[0]


@contextmanager
def located(learner: Any) -> Iterator[None]:
    """Moves errors in the Sled text of a learner to the corresponding places in Python."""
    try:
        yield
    except LugeError as error:
        if isinstance(learner, Learner):
            raise learner.located(error) from None
        raise


def learner(function: Callable[..., Any]) -> Learner:
    """Makes a learner of a Python function: see docs/python.md for what may stand in it."""
    if not isinstance(function, FunctionType):
        raise TypeError("@luge.learner is for functions")
    return Learner(function)
