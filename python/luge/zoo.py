"""A zoo of certified networks with their algorithms as ground truth, for work on interpretability and training dynamics.

``luge.zoo.build("zoo", n=100)`` trains networks that run different learners on different data and sizes, and writes a folder:
``manifest.json`` with a row for each network, and for each a folder with its algorithm, its job (program, data and options) and its model.
Network number k is the same whoever builds it. ``luge.zoo.load("zoo")`` reads the folder; ``python -m luge.zoo zoo`` builds it from a terminal.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from . import _luge, data
from .errors import LugeError
from .jobs import Job, train_job
from .results import Audit, Model, Stream, StreamModel, Training
from .streams import stream_job

MANIFEST = "manifest.json"


def _grid(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers on a grid of quarters from -2 to 2."""
    return random.integers(-8, 9, size=shape) / 4


def _separable(random: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on either side of a plane, none near it."""
    plane, x = random.choice([-1.0, 1.0], size=m), _grid(random, 8 * n + 8, m)
    x = x[np.abs(x @ plane) >= 1][:n]
    return x, np.sign(x @ plane)


def _line(random: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of a linear function of numbers up to 1, with noise."""
    x = _grid(random, n, m) / 2
    return x, x @ (_grid(random, m) / 2) + random.integers(-2, 3, size=n) / 16


def _groups(random: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of two or three classes, one column for each."""
    n_classes = 2 + n % 2
    classes = np.arange(n) % n_classes
    return (_grid(random, n_classes, m)[classes] + random.integers(-1, 2, size=(n, m)) / 4), np.eye(n_classes)[classes]


def _signs(random: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Features that are there or not, and their class."""
    x = random.integers(0, 2, size=(n, m)).astype(float)
    classes = x[:, 0].astype(int)
    classes[:2] = [0, 1]
    return x, np.eye(2)[classes]


#: Learners, the data that they are for, and options; in this order they follow each other.
TABLES: list[tuple[str, Callable[..., tuple[np.ndarray, np.ndarray]], dict[str, Any]]] = [
    ("perceptron", _separable, {"format": "fix:10.4"}),
    ("least_squares_line", lambda random, n, m: _line(random, n, 1), {"format": "fix:8.8"}),
    ("nearest_centroid", _groups, {"format": "fix:8.6"}),
    ("sgd_linear", _line, {"format": "fix:4.8"}),
    ("naive_bayes", _signs, {"format": "fix:8.6"}),
    ("perceptron", _separable, {"format": "fix:10.4", "landscape": "plain"}),
    ("decision_stump", _separable, {"format": "fix:6.4"}),
]
STREAMS: list[tuple[str, Callable[[int], str], str]] = [
    ("parity", lambda size: f"parity:bits={3 + size % 5},hidden={1 + size % 3}", "plain"),
    ("parity", lambda size: f"parity:bits={3 + size % 5},hidden={1 + size % 3}", "mlp"),
    ("stream_perceptron", lambda size: f"halfspace:features={1 + size % 3}", "mlp"),
]


def job(number: int) -> Job:
    """The job of network ``number``: which learner, which data, which size."""
    random, size = np.random.default_rng(number), number // (len(TABLES) + len(STREAMS))
    kind = number % (len(TABLES) + len(STREAMS))
    if kind < len(TABLES):
        learner, make, options = TABLES[kind]
        return train_job(learner, *make(random, 6 + 2 * (size % 8), 1 + size % 4), **options)
    name, draw, landscape = STREAMS[kind - len(TABLES)]
    return stream_job(name, draw=draw(size), landscape=landscape, seed=number)


class Entry:
    """A network of the zoo: its figures, its algorithm, its data, its job and its model."""

    def __init__(self, folder: Path, figures: dict[str, Any]) -> None:
        self.folder, self.figures = folder / figures["name"], figures

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["figures"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def algorithm(self) -> str:
        """The program that the network was trained to run: the ground truth."""
        return (self.folder / "learner.sled").read_text(encoding="utf-8")

    @property
    def job(self) -> Job:
        """Program, data and options: ``job.run()`` trains the network again, ``job.steps()`` goes through the run."""
        return Job.from_json((self.folder / "job.json").read_text(encoding="utf-8"))

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Features and labels; ``None`` if samples were drawn."""
        return data.kept(self.job.to_json())

    @property
    def model(self) -> Model | StreamModel:
        """The trained network; its file must be the one that was built."""
        content = (self.folder / "model.safetensors").read_bytes()
        if hashlib.sha256(content).hexdigest() != self.figures["sha256"]:
            raise LugeError(f"{self.folder / 'model.safetensors'} is not the file that the manifest lists")
        return Model.from_bytes(content) if self.figures["kind"] == "train" else StreamModel.from_bytes(content)

    def certify(self) -> Audit:
        """Derives the network again from its algorithm and data, and trains again: every weight must be the same."""
        return self.model.certify(*(self.data or ()))

    def __repr__(self) -> str:
        return f"<{self.figures['name']}: {self.figures['learner']} on {self.figures['landscape']}, {self.figures['steps']:,} steps>"


class Zoo:
    """The networks of a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        rows = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        self.entries = [Entry(self.folder, row) for row in rows]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]

    def frame(self) -> Any:
        """The manifest as a pandas frame."""
        import pandas

        return pandas.DataFrame([entry.figures for entry in self.entries])

    def __repr__(self) -> str:
        return f"<zoo of {len(self)} networks in {self.folder}>"


def load(folder: str | os.PathLike[str]) -> Zoo:
    """Reads a folder that :func:`build` wrote."""
    return Zoo(folder)


def build(folder: str | os.PathLike[str], n: int = 100, *, workers: int | None = None, callback: Callable[[int, int], Any] | None = None) -> Zoo:
    """Trains networks 0 to n - 1 and writes them; those that are in the folder already stay. ``callback(done, n)`` after each."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    known = {entry.figures["name"]: entry.figures for entry in load(place)} if (place / MANIFEST).exists() else {}
    listed = dict(known)
    with ThreadPoolExecutor(max_workers=workers or os.cpu_count()) as pool:
        for done, row in enumerate(pool.map(lambda number: _made(place, number, known), range(n)), 1):
            listed[row["name"]] = row
            manifest = json.dumps([listed[name] for name in sorted(listed)], indent=1)
            _luge.write_files([(str(place / MANIFEST), manifest.encode())], True)
            if callback is not None:
                callback(done, n)
    return load(place)


def _made(place: Path, number: int, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    made = job(number)
    text = made.to_json()
    described = json.loads(text)[made.kind]
    learner = Path(described["source"]["name"]).stem
    name = f"{number:03}-{learner}"
    if name in known:
        return known[name]
    result = made.run()
    assert isinstance(result, (Training, Stream))
    if not result.certified or result.overflow is not None:
        raise LugeError(f"{name} is not certified, or its numbers wrapped around: {result!r}")
    content = result.model.to_bytes()
    (place / name).mkdir(exist_ok=True)
    files = {"learner.sled": described["source"]["text"].encode(), "job.json": text.encode(), "model.safetensors": content}
    _luge.write_files([(str(place / name / file), part) for file, part in files.items()], True)
    table = data.kept(text)
    shape = {} if table is None else {"samples": len(table[0]), "features": table[0].shape[1], "labels": table[1].shape[1]}
    drawn = {} if table is not None else {"draw": described["samples"]["draw"], "seed": number}
    return {
        "name": name, "kind": made.kind, "learner": learner, "landscape": result.landscape, "format": result.format, "primary": result.primary,
        **shape, **drawn, "steps": result.steps, "theta": result.theta.tolist(), "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip


if __name__ == "__main__":
    where, *count = sys.argv[1:] or ["zoo"]
    print(build(where, int(count[0]) if count else 100, callback=lambda done, n: print(f"{done} of {n}", end="\r", file=sys.stderr)))
