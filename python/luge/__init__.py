"""Learning algorithms, given as Turing machines or Sled programs, compiled to networks and run by gradient descent.

``luge.train("perceptron", x, y)`` builds a network around a learner, trains it by gradient descent, and certifies the run. ``luge.trace("bb4")`` trains the landscape of a machine. ``luge.sklearn``, ``luge.torch``, ``luge.jax``,
``luge.onnx`` and ``luge.hub`` connect to the libraries of these names; ``luge.sweep`` makes many runs.
"""

from . import hub
from ._luge import Step, __version__
from .catalogue import dataset, learners, machines, program
from .errors import LugeError
from .jobs import Compiled, Job, compile, run, steps, trace, trace_job, train, train_job
from .results import Audit, Model, Run, Trace, Training
from .sweeps import grid, sweep

__all__ = [
    "Audit", "Compiled", "Job", "LugeError", "Model", "Run", "Step", "Trace", "Training", "__version__", "compile", "dataset",
    "grid", "hub", "learners", "machines", "program", "run", "steps", "sweep", "trace", "trace_job", "train", "train_job",
]  # fmt: skip
