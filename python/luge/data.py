"""Tables in: numpy arrays, pandas frames and series, lists."""

from __future__ import annotations

from typing import Any

import numpy as np


def matrix(data: Any) -> np.ndarray:
    """Numbers as a float64 array of two dimensions; an array that is one already is not copied."""
    array = np.asarray(data, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"expected an array of one or two dimensions, found {array.ndim}")
    return array


def names(data: Any, n_columns: int, default: str) -> list[str]:
    """The names of a frame's columns or of a series; of other data ``default`` with numbers."""
    columns = getattr(data, "columns", None)
    if columns is not None:
        return [str(column) for column in columns]
    name = getattr(data, "name", None)
    if n_columns == 1 and name is not None:
        return [str(name)]
    return [default] if n_columns == 1 and default == "y" else [f"{default}{i}" for i in range(n_columns)]


def table(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Features and labels with their names."""
    features, labels = matrix(x), matrix(y)
    return features, labels, names(x, features.shape[1], "x"), names(y, labels.shape[1], "y")
