"""What Python adds to the command line: python python/benches/overhead.py target/release/luge

Both do the same work, in turns, and each run takes a second or more; the smallest time of each counts. Time on the clock is disturbed by
whatever else the machine does, processor time much less, so both are printed. Not part of the tests: a clock is no judge of a change.
"""

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import luge
from luge.sklearn import LugeRegressor, learner_source


def spent(work, who):
    """Seconds on the clock and of the processor."""
    used = lambda: (lambda usage: usage.ru_utime + usage.ru_stime)(resource.getrusage(who))
    began, before = time.perf_counter(), used()
    work()
    return time.perf_counter() - began, used() - before


def compare(title, ours, theirs, n):
    pairs = [(spent(ours, resource.RUSAGE_SELF), spent(theirs, resource.RUSAGE_CHILDREN)) for _ in range(n)]
    for kind, name in enumerate(("on the clock", "of processor")):
        python, command = (min(pair[side][kind] for pair in pairs) for side in (0, 1))
        print(f"{title:<34} {name}: python {python:.3f} s, command line {command:.3f} s: {100 * (python / command - 1):+.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("luge", type=Path, help="the command, built with --release from the same commit")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    command = lambda *words: subprocess.run([options.luge, *words], check=True, stdout=subprocess.DEVNULL)
    constants = {"ROUNDS": 1500}
    with tempfile.TemporaryDirectory() as folder:
        x, y, features, labels = luge.dataset("sgd_linear")
        program, table = Path(folder, "sgd.sled"), Path(folder, "data.csv")
        program.write_text(learner_source("sgd_linear", constants).text)
        rows = [",".join(map(repr, map(float, (*a, *b)))) for a, b in zip(x, y)]
        table.write_text("\n".join([",".join(features + labels), *rows]) + "\n")
        arguments = ["train", program, "--data", table, "--target", labels[0], "--format", "fix:4.8"]
        regressor = LugeRegressor("sgd_linear", format="fix:4.8", constants=constants)
        compare("LugeRegressor.fit, luge train", lambda: regressor.fit(x, y[:, 0]), lambda: command(*arguments), options.runs)
        print(f"{'':<34} {regressor.n_iter_:,} gradient steps, certified")
    # Without per-step arrays: the engine at its own speed, and every step held to the simulator.
    trace = lambda: luge.trace("bb5", arrays=False, compare="end")
    compare("luge.trace, luge trace (bb5, end)", trace, lambda: command("trace", "bb5", "--check", "end"), options.runs)
    trace = lambda: luge.trace("bb5", arrays=False, steps=5_000_000)
    compare("luge.trace, luge trace (5e6 steps)", trace, lambda: command("trace", "bb5", "--steps", "5_000_000"), options.runs)


if __name__ == "__main__":
    main()
