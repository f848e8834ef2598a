"""Many runs: rows of a frame, stored on disk as they finish, computed by threads of this process or by a Ray cluster."""

from __future__ import annotations

import hashlib
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
from .streams import stream_job

if TYPE_CHECKING:
    import pandas

#: A job, or a job and the values to add to its row.
Entry = Job | tuple[Mapping[str, Any], Job]
#: Makes a row, or several, of a text.
Work = Callable[[str], Any]


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
    rows = _rows(run_job, {job.key: job.to_json() for _, job in entries}, on, folder, workers, callback)
    return pandas.DataFrame([{**named, "key": job.key, **rows[job.key]} for named, job in entries])


def compare(
    learner: Any, draw: Any, *, seeds: int | Iterable[int] = 1, samples: int = 1_000_000, on: str = "local",
    folder: str | os.PathLike[str] | None = None, workers: int | None = None, callback: Callable[[int, int], Any] | None = None, **options: Any,
) -> pandas.DataFrame:  # fmt: skip
    """Compares a learner with ordinary networks on the same streams: a frame with a row for each network on each stream.

    ``draw``: what is drawn, as :func:`luge.stream_job` takes it, or several, such as the same in different sizes; or arrays ``(x, y)`` or a frame with its
    ``target``, of two classes, whose rows are drawn at random. ``seeds``: the number of streams of each, or their seeds. Ordinary networks, with one and two hidden layers of 512 units by SGD and Adam at three rates each, see as many samples as pass before the
    learner, at most ``samples``. ``right`` is the share of 10,000 new inputs whose label is predicted; ``curve`` has pairs of samples seen and that share.
    ``on``, ``folder``, ``workers`` and ``callback`` are as in :func:`sweep`; here one worker is the default, which uses several threads.
    All other ``options`` are those of :func:`luge.stream_job`.
    """
    import pandas

    own = hasattr(draw, "columns") or (isinstance(draw, tuple) and not isinstance(draw[0], str))
    draws = [None if own else draw] if own or isinstance(draw, str) else list(draw)
    samples_of = lambda what: {"samples": draw, "order": "draw"} if own else {"draw": what}
    streams = list(itertools.product(draws, range(seeds) if isinstance(seeds, int) else seeds))
    jobs = [json.dumps([stream_job(learner, seed=seed, **samples_of(what), **options).to_json(), samples]) for what, seed in streams]
    keys = {text: hashlib.sha256(text.encode()).hexdigest() for text in jobs}
    rows = _rows(run_comparison, {key: text for text, key in keys.items()}, on, folder, workers or (1 if on == "local" else None), callback)
    return pandas.DataFrame([{"draw": what, "seed": seed, **row} for (what, seed), text in zip(streams, jobs) for row in rows[keys[text]]])


def run_comparison(asked: str) -> list[dict[str, Any]]:
    """The rows of one stream, for a job and the most samples as JSON: the learner, then the ordinary networks."""
    job, samples = json.loads(asked)
    try:
        compared = json.loads(_luge.compare(_luge.Job.from_json(job), samples))
    except LugeError as error:
        return [{"network": "learner", "error": str(error)}]
    learner, n_new = compared["learner"], 10_000
    before, after = learner["right_before"] / n_new, learner["right"] / n_new
    first = {
        "network": "learner", "samples": learner["passed"], "taken": learner["taken"], "right": after, "certified": learner["certified"],
        "curve": [[0, before], [learner["passed"], after]], "error": None,
    }  # fmt: skip
    others = []
    for run in compared["ordinary"]:
        curve = [[seen, right / n_new] for seen, right in run["curve"]]
        layers = f"{run['depth']} hidden layer{'s' if run['depth'] > 1 else ''}"
        known = {name: run[name] for name in ("optimiser", "depth", "rate")}
        others.append({"network": f"{run['optimiser']}, {layers}, rate {run['rate']}", **known, "samples": curve[-1][0], "right": curve[-1][1], "curve": curve})
    return [first, *others]


def _rows(
    work: Work, texts: dict[str, str], on: str, folder: str | os.PathLike[str] | None, workers: int | None, callback: Callable[[int, int], Any] | None
) -> dict[str, Any]:
    """The results for texts, by their keys: from the folder, or by work on them."""
    store = _Store(folder)
    rows = {key: row for key in texts if (row := store.read(key)) is not None}
    waiting = {key: text for key, text in texts.items() if key not in rows}
    if on not in MAKERS:
        raise LugeError(f"there is no place `{on}` to run on; there are {', '.join(MAKERS)}")
    for key, row in MAKERS[on](work, waiting, workers):
        store.write(key, row)
        rows[key] = row
        if callback is not None:
            callback(len(rows), len(texts))
    return rows


def _locally(work: Work, waiting: dict[str, str], workers: int | None) -> Iterator[tuple[str, Any]]:
    pool = ThreadPoolExecutor(max_workers=workers or os.cpu_count())
    try:
        yield from zip(waiting, pool.map(work, waiting.values()))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _by_ray(work: Work, waiting: dict[str, str], workers: int | None) -> Iterator[tuple[str, Any]]:
    """Ordinary tasks: Ray starts one again if its worker dies."""
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=workers)
    task = ray.remote(max_retries=-1)(work)
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

    def read(self, key: str) -> Any:
        if self.folder is None or not (file := self.folder / f"{key}.json").exists():
            return None
        return json.loads(file.read_text(encoding="utf-8"))

    def write(self, key: str, row: Any) -> None:
        if self.folder is None:
            return
        # A row that is there is the same job's.
        _luge.write_files([(str(self.folder / f"{key}.json"), json.dumps(row).encode())], True)
