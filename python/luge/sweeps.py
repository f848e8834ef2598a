"""Many runs: rows of a frame, stored on disk as they finish, computed by threads of this process or by a Ray cluster."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _luge
from .errors import LugeError
from .jobs import Job
from .results import Trace

if TYPE_CHECKING:
    import pandas

#: A job, or a job and what its row is to say beside its result.
Entry = Job | tuple[Mapping[str, Any], Job]


def grid(make: Callable[..., Job], **axes: Iterable[Any]) -> Iterator[tuple[dict[str, Any], Job]]:
    """The jobs of a grid, ``make(a=…, b=…)`` for every combination, each with its values: ``grid(trace_job, machine=["bb4"], seed=range(5))``."""
    for values in itertools.product(*axes.values()):
        named = dict(zip(axes, values))
        yield named, make(**named)


def run_job(job: str) -> dict[str, Any]:
    """The row of one job, given as JSON. A job that is refused has a row too, which says why."""
    try:
        result = Job.from_json(job).run(arrays=False)
    except LugeError as error:
        return {"error": str(error)}
    extra = {"exact": result.exact, "steps_traced": result.steps_traced} if isinstance(result, Trace) else {"certified": result.certified}
    return {**result.summary, **extra, "error": None}


def sweep(
    jobs: Iterable[Entry], *, on: str = "local", folder: str | os.PathLike[str] | None = None, workers: int | None = None,
    callback: Callable[[int, int], Any] | None = None,
) -> pandas.DataFrame:  # fmt: skip
    """Runs jobs and gives a frame with a row for each, in their order.

    ``on``: ``"local"`` runs them on ``workers`` threads of this process (Rust does the work, so threads are enough); ``"ray"`` as tasks of
    the Ray cluster this process is connected to, or of a local one. ``folder``: where finished rows are kept, one file per job; those that
    are there are not run again, whoever was killed meanwhile. ``callback(n_done, n_all)`` is called as rows come.
    """
    import pandas

    entries = [entry if isinstance(entry, tuple) else ({}, entry) for entry in jobs]
    texts = {job.key: job.to_json() for _, job in entries}
    store = _Store(folder)
    rows = {key: row for key in texts if (row := store.read(key)) is not None}
    waiting = {key: text for key, text in texts.items() if key not in rows}
    if on not in MAKERS:
        raise LugeError(f"there is no place `{on}` to run on; there are {', '.join(MAKERS)}")
    for key, row in MAKERS[on](waiting, workers):
        store.write(key, row)
        rows[key] = row
        if callback is not None:
            callback(len(rows), len(texts))
    return pandas.DataFrame([{**named, "key": job.key, **rows[job.key]} for named, job in entries])


def _locally(waiting: dict[str, str], workers: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    pool = ThreadPoolExecutor(max_workers=workers or os.cpu_count())
    try:
        yield from zip(waiting, pool.map(run_job, waiting.values()))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _by_ray(waiting: dict[str, str], workers: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ordinary tasks: Ray starts one again if its worker dies."""
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=workers)
    task = ray.remote(max_retries=-1)(run_job)
    running = {task.remote(text): key for key, text in waiting.items()}
    while running:
        done, _ = ray.wait(list(running), num_returns=1)
        for reference in done:
            yield running.pop(reference), ray.get(reference)


#: Where jobs can be run.
MAKERS = {"local": _locally, "ray": _by_ray}


class _Store:
    """Rows on disk: each file is complete or not there."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> dict[str, Any] | None:
        if self.folder is None or not (file := self.folder / f"{key}.json").exists():
            return None
        return json.loads(file.read_text(encoding="utf-8"))

    def write(self, key: str, row: dict[str, Any]) -> None:
        if self.folder is None:
            return
        # A row that is there is the same job's.
        _luge.write_files([(str(self.folder / f"{key}.json"), json.dumps(row).encode())], True)
