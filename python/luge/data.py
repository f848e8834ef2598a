"""Tables in: numpy arrays, pandas frames and series, lists."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from .errors import LugeError


def matrix(data: Any) -> np.ndarray:
    """Numbers as a float64 array of two dimensions; an array that is one already is not copied."""
    columns = [data[name] for name in data.columns] if hasattr(data, "columns") else [data]
    for column in columns:
        if getattr(getattr(column, "dtype", None), "kind", "") == "M":
            raise LugeError(f"{_called(column)} has dates, and learners take numbers: give days since a first one, {DAYS}")
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LugeError(_no_numbers(columns) or str(error)) from None
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"expected an array of one or two dimensions, found {array.ndim}")
    return array


#: How dates become numbers.
DAYS = "such as (day - day.min()).dt.days"


def _called(column: Any) -> str:
    name = getattr(column, "name", None)
    return "the data" if name is None else f"column `{name}`"


def _no_numbers(columns: list[Any]) -> str | None:
    """Which value is no number, and what to do."""
    for column in columns:
        for value in np.ravel(np.asarray(column, dtype=object)):
            try:
                float(value)
            except (TypeError, ValueError):
                if hasattr(value, "isoformat") or re.match(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}", str(value)):
                    return f"{_called(column)}: {value} is a date, and learners take numbers: give days since a first one, {DAYS}"
                return f"{_called(column)}: {value!r} is no number: pandas.get_dummies makes columns of 0 and 1 of words"
    return None


def names(data: Any, n_columns: int, default: str) -> list[str]:
    """The names of a frame's columns or of a series; of other data ``default`` with numbers."""
    columns = getattr(data, "columns", None)
    if columns is not None:
        return [str(column) for column in columns]
    name = getattr(data, "name", None)
    if n_columns == 1 and name is not None:
        return [str(name)]
    return [default] if n_columns == 1 and default == "y" else [f"{default}{i}" for i in range(n_columns)]


def columns(data: Any, wanted: list[str], known: list[str]) -> Any:
    """The wanted columns of a frame in their order; columns that are neither wanted nor known are refused. Other data stay as they are."""
    found = getattr(data, "columns", None)
    if found is None:
        return data
    names = [str(column) for column in found]
    unknown = [name for name in names if name not in wanted and name not in known]
    missing = [name for name in wanted if name not in names]
    if unknown or missing:
        words = [f"has no column {', '.join(missing)}"] * bool(missing) + [f"has the unknown column {', '.join(unknown)}"] * bool(unknown)
        raise LugeError(f"the frame {' and '.join(words)}; the model was trained on {', '.join(wanted)}")
    return data.iloc[:, [names.index(name) for name in wanted]] if hasattr(data, "iloc") else data[wanted]


def table(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Features and labels with their names; without labels none."""
    features = matrix(x)
    if y is None:
        return features, np.empty((len(features), 0)), names(x, features.shape[1], "x"), []
    labels = matrix(y)
    return features, labels, names(x, features.shape[1], "x"), names(y, labels.shape[1], "y")


def kept(job: str) -> tuple[np.ndarray, np.ndarray] | None:
    """The features and labels of a job's JSON; ``None`` if its samples are drawn, or read elsewhere."""
    (described,) = json.loads(job).values()
    table = described.get("data", {}).get("table") or (described.get("samples", {}).get("table") or [None])[0]
    if table is None:
        return None
    x = np.array(table["x"], dtype=np.float64).reshape(-1, len(table["features"]))
    return x, np.array(table["y"], dtype=np.float64).reshape(len(x), len(table["labels"]))
