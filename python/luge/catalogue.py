"""What ships: learners with their data, and machines."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import Any

import numpy as np

from . import _luge


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in json.loads(_luge.shipped())}


def learners() -> dict[str, str]:
    """The learners that ship: a name and a line on each."""
    return {name: entry["summary"] for name, entry in _shipped().items() if entry["lesson"]}


def machines() -> dict[str, str]:
    """The machines that ship: a name and a line on each."""
    return {name: entry["summary"] for name, entry in _shipped().items() if not entry["lesson"]}


def program(name: str) -> str:
    """The text of a learner or machine that ships."""
    return _entry(name)["text"]


def dataset(name: str) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """The data that ship with a learner: features, labels, and their names."""
    lesson = _entry(name)["lesson"]
    if lesson is None:
        raise KeyError(f"{name} is a machine, which has no data")
    table = list(csv.reader(io.StringIO(lesson["csv"]), skipinitialspace=True))
    header, numbers = [column.strip() for column in table[0]], np.array(table[1:], dtype=np.float64)
    labels = [header.index(target) for target in lesson["targets"]]
    named = [header.index(feature) for feature in lesson["features"]]
    features = named or [column for column in range(len(header)) if column not in labels]
    return numbers[:, features], numbers[:, labels], [header[i] for i in features], list(lesson["targets"])


def _entry(name: str) -> dict[str, Any]:
    try:
        return _shipped()[name]
    except KeyError:
        raise KeyError(f"nothing of the name {name} ships; there are {', '.join(_shipped())}") from None
