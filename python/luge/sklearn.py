"""Estimators for scikit-learn. Fitting trains a network to run a learner, and certifies the run."""

from __future__ import annotations

import re
import warnings
from importlib import resources
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _luge
from .errors import LugeError, OverflowWarning
from .jobs import Job, source, train_job
from .learner import located
from .results import Model, StreamModel
from .streams import stream_job, takes


def estimator_learners() -> list[str]:
    """The general learners of the estimators, in addition to those that ship with the library."""
    return sorted(file.name.removesuffix(".sled") for file in resources.files("luge").joinpath("learners").iterdir())


def learner_source(learner: Any, constants: dict[str, int] | None) -> _luge.Source:
    """The text of a learner, its ``const`` lines changed."""
    if isinstance(learner, str) and learner in estimator_learners():
        text = resources.files("luge").joinpath("learners", f"{learner}.sled").read_text(encoding="utf-8")
        found = _luge.Source.of_text(learner, text, "sled")
    else:
        found = source(learner)
    text = found.text
    for name, value in (constants or {}).items():
        text, n_changed = re.subn(rf"^(\s*const\s+{re.escape(name)}\s*=)[^;]*;", rf"\g<1> {value};", text, flags=re.M)
        if n_changed != 1:
            raise LugeError(f"{found.name} has no constant {name} to change: it would stand there as `const {name} = …;`")
    return _luge.Source.of_text(found.name, text, found.extension)


class _LugeEstimator(BaseEstimator):
    """What both estimators share: a learner, a number format, a landscape."""

    #: The format if 32 bits are too few for the learner on these data.
    _wide = "fix:9.8"
    _rows: tuple[np.ndarray, np.ndarray]
    _pending: tuple[np.ndarray, np.ndarray]

    def _job(self, learner: _luge.Source, x: np.ndarray, y: np.ndarray, format: str) -> Job:
        options = {"landscape": self.landscape, "primary": self.primary, "engine": self.engine, "steps": self.max_steps, "saturate": self.saturate}
        if not learner.is_program or not takes(learner):
            return train_job(learner, x, y, format=format, label_offset=self.label_offset, **options)
        stream = {name: value for name, value in options.items() if value is not None}
        return stream_job(learner, (x, y), format=format, **stream)

    def _train(self, x: np.ndarray, y: np.ndarray) -> None:
        learner = learner_source(self.learner, self.constants)
        job = lambda format: self._job(learner, x, y, format)
        with located(self.learner):
            try:
                training = job(self.format).run()
            except LugeError as error:
                # A learner that diverges on data that are not scaled.
                if self.format != "auto" or "too large for 32 bits" not in error.headline:
                    raise
                warnings.warn(f"{error.headline}; {self._wide} is taken: scale the data", OverflowWarning, stacklevel=3)
                training = job(self._wide).run()
        if not training.certified:
            failed = [f"{name}: {claim['figures']}" for name, claim in training.certificate.items() if not claim["holds"]]
            raise RuntimeError(f"the run is not certified: {'; '.join(failed)}")
        self._rows = self.__dict__.pop("_pending")  # Rows that were refused are not kept.
        self.model_: Model | StreamModel = training.model
        self.theta_: np.ndarray = training.theta
        self.certificate_: dict[str, Any] = training.certificate
        self.n_iter_: int = training.steps
        self.n_machine_steps_: int = training.summary.get("machine_steps", training.steps)

    def _with_earlier(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """These rows behind those of ``fit`` and of earlier calls of ``partial_fit``, all of which are kept."""
        if hasattr(self, "_rows"):
            x, y = np.concatenate([self._rows[0], x]), np.concatenate([self._rows[1], y])
        self._pending = (x, y)
        return x, y

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.model_.predict(X)


class LugeRegressor(RegressorMixin, _LugeEstimator):
    """A regression whose weights a learner finds, run by gradient descent.

    Parameters
    ----------
    learner : str, path or function, default="lms"
        A learner that comes with the estimators or ships with the library, a file, a text of several lines, or a function decorated with
        ``@luge.learner``.
    format : str, default="auto"
        How numbers become bits: ``fix:I.F``, or ``"auto"`` for the smallest in which no number of the learner wraps around. Data outside the
        range of a format are refused, or taken as its ends with ``saturate``.
    landscape : str, default=None
        ``"compact"``, ``"plain"``, …; by default what the learner is for.
    primary : str, default=None
        The network whose weights are learned: ``"linear"``, or ``"mlp:"`` and its widths.
    constants : dict, default=None
        New values for ``const`` lines of the learner, such as ``{"ROUNDS": 8}``.
    engine, label_offset, saturate, max_steps
        As ``engine``, ``label_offset``, ``saturate`` and ``steps`` of :func:`luge.train`.

    Attributes
    ----------
    theta_ : ndarray
        The weights that were learned.
    certificate_ : dict
        What was proved of the run, claim by claim.
    n_iter_ : int
        Gradient steps.
    model_ : luge.Model
        The trained network.
    """

    def __init__(
        self, learner: Any = "lms", *, format: str = "auto", landscape: str | None = None, primary: str | None = None,
        constants: dict[str, int] | None = None, engine: str | None = None, label_offset: float | None = None, saturate: bool = False,
        max_steps: int = 1_000_000_000,
    ) -> None:  # fmt: skip
        self.learner, self.format, self.landscape, self.primary, self.constants = learner, format, landscape, primary, constants
        self.engine, self.label_offset, self.saturate, self.max_steps = engine, label_offset, saturate, max_steps

    def fit(self, X: Any, y: Any) -> LugeRegressor:
        """Trains the network on the data."""
        self.__dict__.pop("_rows", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any) -> LugeRegressor:
        """Adds rows to those that it was fitted on, and trains the network from its initial weights on all of them, in their order.

        The result is that of ``fit`` on all rows so far. They are kept, and every call takes the time of that ``fit``.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, reset=not hasattr(self, "_rows"))
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._n_dimensions = y.ndim
        self._train(*self._with_earlier(X, y.astype(np.float64)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What the network puts out for new samples."""
        outputs = self._outputs(X)
        return outputs[:, 0] if self._n_dimensions == 1 else outputs


class LugeClassifier(ClassifierMixin, _LugeEstimator):
    """A classifier whose weights a learner finds, run by gradient descent.

    Parameters
    ----------
    learner : str, path or function, default="perceptron_rounds"
        As for :class:`LugeRegressor`.
    coding : {"sign", "one-hot"}, default=None
        How classes become labels: one column of -1 and 1, for two classes, or one column of zeros and ones per class. By default what the
        learner that ships is for, else ``"sign"``.
    format : str, default="auto"
        And the rest as for :class:`LugeRegressor`.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    theta_, certificate_, n_iter_, model_
        As for :class:`LugeRegressor`.
    """

    def __init__(
        self, learner: Any = "perceptron_rounds", *, coding: str | None = None, format: str = "auto", landscape: str | None = None,
        primary: str | None = None, constants: dict[str, int] | None = None, engine: str | None = None, label_offset: float | None = None,
        saturate: bool = False, max_steps: int = 1_000_000_000,
    ) -> None:  # fmt: skip
        self.learner, self.coding, self.format, self.landscape, self.primary = learner, coding, format, landscape, primary
        self.constants, self.engine, self.label_offset, self.saturate, self.max_steps = constants, engine, label_offset, saturate, max_steps

    def _coding(self) -> str:
        if self.coding not in (None, "sign", "one-hot"):
            raise ValueError(f'coding={self.coding!r}: expected "sign", "one-hot" or None')
        return self.coding or ("one-hot" if self.learner == "nearest_centroid" else "sign")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A learner of signs distinguishes two classes only; sklearn.multiclass combines several.
        tags.classifier_tags.multi_class = self._coding() == "one-hot"
        return tags

    def fit(self, X: Any, y: Any) -> LugeClassifier:
        """Trains the network on the data."""
        self.__dict__.pop("_rows", None)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        return self._fit(*self._with_earlier(X, y), LabelEncoder().fit(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> LugeClassifier:
        """Adds rows to those that it was fitted on, and trains the network from its initial weights on all of them, in their order.

        The result is that of ``fit`` on all rows so far. They are kept, and every call takes the time of that ``fit``. ``classes`` lists all
        classes, and is needed unless it was fitted before.
        """
        first = not hasattr(self, "_rows")
        X, y = validate_data(self, X, y, dtype=np.float64, reset=first)
        check_classification_targets(y)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is not None and not first and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"classes={classes!r} is not the same as on the last call to partial_fit: {self.classes_!r}")
        encoder = LabelEncoder().fit(unique_labels(classes) if first else self.classes_)
        encoder.transform(y)
        return self._fit(*self._with_earlier(X, y), encoder)

    def _fit(self, X: np.ndarray, y: np.ndarray, encoder: LabelEncoder) -> LugeClassifier:
        self.classes_ = encoder.classes_
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError("the labels have one class only: there is nothing to tell apart")
        if self._coding() == "sign":
            if n_classes > 2:
                raise ValueError(
                    f"Only binary classification is supported. The type of the target is {type_of_target(y)}: the learner tells two classes "
                    'apart; use coding="one-hot" with a learner of several labels, or sklearn.multiclass.OneVsRestClassifier'
                )
            labels = 2.0 * encoder.transform(y) - 1.0
        else:
            labels = np.eye(n_classes)[encoder.transform(y)]
        self._train(X, labels)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """What the network puts out: one number per sample for two classes, above 0 for the second; else one number per class."""
        outputs = self._outputs(X)
        if outputs.shape[1] == 1:
            return outputs[:, 0]
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
