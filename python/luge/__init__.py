"""Learning algorithms, given as Turing machines or Sled programs, compiled to networks and run by gradient descent.

``luge.train("perceptron", x, y)`` builds a network around a learner, trains it by gradient descent, which runs the learner, and
certifies the run. ``@luge.learner`` turns a Python function into a learner. ``luge.stream`` trains on samples from
a generator. ``luge.trace("bb4")`` trains the landscape of a machine. ``luge.sklearn``, ``luge.torch``, ``luge.jax``,
``luge.onnx`` and ``luge.hub`` connect Luge with these libraries and formats; ``luge.sweep`` makes many runs,
and ``luge.compare`` compares a learner with ordinary networks.
"""

from . import hub
from ._luge import Step, __version__
from .catalogue import dataset, learners, machines, program
from .errors import LugeError, OverflowWarning
from .learner import F, I, L, M, Learner, array, bit, cast, fix, int_, learner, relu, samples, saturate, sign, take
from .jobs import Compiled, Job, compile, run, steps, trace, trace_job, train, train_job
from .results import Audit, Model, Run, Stream, StreamModel, Trace, Training
from .streams import stream, stream_job
from .sweeps import compare, grid, sweep

__all__ = [
    "Audit", "Compiled", "F", "I", "Job", "L", "Learner", "LugeError", "M", "Model", "OverflowWarning", "Run", "Step", "Stream",
    "StreamModel", "Trace", "Training", "__version__", "array", "bit", "cast", "compare", "compile", "dataset", "fix", "grid", "hub", "int_", "learner", "learners",
    "machines", "program", "relu", "run", "samples", "saturate", "sign", "steps", "stream", "stream_job", "sweep", "take", "trace", "trace_job",
    "train", "train_job",
]  # fmt: skip
