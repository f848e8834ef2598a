"""The estimators, as scikit-learn sees them."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import luge
from luge.sklearn import LugeClassifier, LugeRegressor, estimator_learners


@parametrize_with_checks([LugeRegressor(constants={"ROUNDS": 1}), LugeClassifier()])
def test_check_estimator(estimator, check):
    check(estimator)


def test_a_fit_is_a_training():
    x, y, *_ = luge.dataset("sgd_linear")
    fitted = LugeRegressor("sgd_linear", format="fix:4.8").fit(x, y[:, 0])
    training = luge.train("sgd_linear", x, y, format="fix:4.8")
    assert (fitted.theta_ == training.theta).all() and fitted.n_iter_ == training.steps and fitted.certificate_ == training.certificate
    assert (fitted.predict(x) == training.predict(x)[:, 0]).all() and fitted.score(x, y[:, 0]) > 0.99
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(x) == fitted.predict(x)).all() and again.model_.certify(x, y, retrain=False)


def test_a_learner_of_ones_own(tmp_path):
    x, y, *_ = luge.dataset("sgd_linear")
    text = luge.program("sgd_linear")
    (tmp_path / "mine.sled").write_text(text)
    by_path = LugeRegressor(tmp_path / "mine.sled", format="fix:4.8", constants={"ROUNDS": 3}).fit(x, y[:, 0])
    by_text = LugeRegressor(text, format="fix:4.8", constants={"ROUNDS": 3}).fit(x, y[:, 0])
    assert (by_path.theta_ == by_text.theta_).all() and by_path.n_iter_ < 200_000
    with pytest.raises(luge.LugeError, match="has no constant TURNS"):
        LugeRegressor(text, constants={"TURNS": 3}).fit(x, y[:, 0])


def test_classes_can_be_words():
    x, y, *_ = luge.dataset("perceptron")
    words = np.where(y[:, 0] > 0, "setosa", "another")
    fitted = LugeClassifier("perceptron", format="fix:8.4").fit(x, words)
    assert fitted.classes_.tolist() == ["another", "setosa"] and fitted.score(x, words) == 1.0
    assert fitted.theta_.tolist() == [1, 1.375, 5.125, -6.875, -3.125]


def test_several_classes():
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = LugeClassifier("nearest_centroid", format="fix:8.6").fit(x, names)
    # As many as the learner's own answer tells right: docs/learners.md.
    assert round(fitted.score(x, names) * 150) == 139 and fitted.decision_function(x).shape == (150, 3)
    with pytest.raises(ValueError, match="Only binary classification"):
        LugeClassifier().fit(x, names)
    rest = OneVsRestClassifier(LugeClassifier(format="fix:8.4", constants={"ROUNDS": 2})).fit(StandardScaler().fit_transform(x), names)
    assert rest.score(StandardScaler().fit_transform(x), names) > 0.65


def test_a_search_over_formats():
    """Breast cancer, in a pipeline that scales it; beside scikit-learn's own perceptron on the same features."""
    x, y = load_breast_cancer(return_X_y=True)
    front = make_pipeline(StandardScaler(), PCA(4), StandardScaler())
    search = GridSearchCV(
        make_pipeline(front, LugeClassifier(constants={"ROUNDS": 1})), {"lugeclassifier__format": ["fix:4.2", "fix:8.4"]}, cv=2
    ).fit(x, y)
    theirs = make_pipeline(clone(front), Perceptron()).fit(x, y)
    assert search.best_score_ > 0.85 and search.score(x, y) > theirs.score(x, y) - 0.06
    assert all(claim["holds"] for claim in search.best_estimator_[-1].certificate_.values())


def test_defaults_do_not_overflow_on_scaled_data():
    """All 30 features of breast cancer, everything as it comes."""
    x, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", luge.OverflowWarning)
        ours = make_pipeline(StandardScaler(), LugeClassifier()).fit(x, y)
    theirs = make_pipeline(StandardScaler(), Perceptron()).fit(x, y)
    assert ours.score(x, y) > theirs.score(x, y) - 0.02
    assert "no_overflow" not in ours[-1].certificate_ and ours[-1].model_.card["options"]["format"].startswith("fix:")


def test_the_learners_of_the_estimators():
    assert estimator_learners() == ["lms"]
    with pytest.raises(ValueError, match="coding='two'"):
        LugeClassifier(coding="two").fit([[0.0], [1.0]], [0, 1])


def test_probabilities_and_weights_are_as_for_a_perceptron():
    """No probabilities but what a calibration makes of the decision function; weights of samples, which the learner would not see, are refused."""
    x, y, *_ = luge.dataset("perceptron")
    ours, theirs = LugeClassifier(), Perceptron()
    assert not hasattr(ours, "predict_proba") and not hasattr(theirs, "predict_proba")
    assert not has_fit_parameter(ours, "sample_weight") and not has_fit_parameter(LugeRegressor(), "sample_weight")
    with pytest.raises(TypeError, match="sample_weight"):
        ours.fit(x, y[:, 0], sample_weight=np.ones(len(x)))
    scores = ours.fit(x, y[:, 0]).decision_function(x)
    assert (ours.predict(x) == np.where(scores > 0, 1, -1)).all() and scores.shape == (len(x),)
    calibrated = CalibratedClassifierCV(FrozenEstimator(ours), method="sigmoid").fit(x, y[:, 0])
    chances = calibrated.predict_proba(x)
    assert np.allclose(chances.sum(axis=1), 1) and (np.diff(chances[np.argsort(scores), 1]) >= -1e-12).all()
