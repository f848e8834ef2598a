"""The wheel itself: its types, its signals, its threads."""

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import luge


#: How mypy is to look.
CONFIG = str(Path(__file__).resolve().parents[1] / "pyproject.toml")


def test_the_stubs_are_the_module():
    """mypy imports the module and compares it with its stubs, both ways."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "luge._luge", "--ignore-disjoint-bases", "--mypy-config-file", CONFIG], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_hold():
    done = subprocess.run([sys.executable, "-m", "mypy", "-p", "luge", "--config-file", CONFIG], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_exported_is_there_and_says_what_it_is():
    for name in luge.__all__:
        assert name.startswith("__") or getattr(luge, name).__doc__, name
    for name, thing in vars(luge._luge).items():
        if not name.startswith("_"):
            assert thing.__doc__, name


def interrupted(code, after):
    """The last words of a program that is interrupted in the middle of what it does."""
    # Whoever runs the tests in the background has them ignore the signal, and a child would too.
    heed = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"import luge\n{heed}\nprint('ready', flush=True)\n{code}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(after)
            assert child.poll() is None, child.communicate()
            child.send_signal(signal.SIGINT)
            return child.communicate(timeout=60)[1].strip().splitlines()[-1]
        finally:
            child.kill()


#: Runs for ever, two cells wide.
ENDLESS = r"machine\ntape t: 0 1 blank 0\na:\n* -> *, R, b\nb:\n* -> *, L, a\nz: accept\n"


@pytest.mark.parametrize(
    "code",
    [
        f"luge.trace('{ENDLESS}', steps=10**12, arrays=False)",
        f"luge.trace('{ENDLESS}', steps=10**12, arrays=False, compare='end')",
        f"luge.trace('{ENDLESS}', steps=10**12, landscape='plain', noise=0.001, arrays=False, cells=8)",
        f"luge.run('{ENDLESS}', steps=10**13)",
        f"for step in luge.steps(luge.trace_job('{ENDLESS}', steps=10**12)): pass",
    ],
)
def test_ctrl_c_works(code):
    assert interrupted(code, 1.0) == "KeyboardInterrupt"


def test_the_interpreter_is_free_while_rust_trains():
    """Another thread of this interpreter counts on while a run is made."""
    counted, done = 0, threading.Event()

    def train():
        luge.trace("bb5", steps=3_000_000, arrays=False, engine="sparse")
        done.set()

    thread = threading.Thread(target=train)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 10


def test_two_runs_at_once():
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: luge.trace(n).steps})) for n in ("bb2", "bb3", "bb4")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"bb2": 6, "bb3": 21, "bb4": 107}


def test_the_version_is_the_crates():
    cargo = Path(__file__).resolve().parents[2] / "Cargo.toml"
    if cargo.exists():
        assert re.search(r'^version = "(.*)"', cargo.read_text(), re.M)[1] == luge.__version__
