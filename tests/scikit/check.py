"""Holds learners that ship to scikit-learn's: the same accuracy within 1 %, ridge's weights within 1e-3.

    LUGE_TEST=sklearn cargo test --test programs scikit

The test writes what every learner found, with the numbers it was given, and calls this script. If scikit-learn is not there, the
script installs it in a virtual environment of its own and starts again there.
"""

import json
import pathlib
import subprocess
import sys
import venv

try:
    import numpy
    import sklearn
except ImportError:
    place = pathlib.Path(sys.argv[2])
    python = place / "bin" / "python"
    if pathlib.Path(sys.executable) == python:
        raise
    if not python.exists():
        venv.create(place, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "scikit-learn==1.9.1"], check=True)
    sys.exit(subprocess.run([python, *sys.argv]).returncode)

from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier


def majorities(clusters, classes):
    """Every cluster stands for the class that most of its samples have."""
    names = {c: numpy.bincount(classes[clusters == c]).argmax() for c in set(clusters)}
    return numpy.array([names[c] for c in clusters])


FITTED = {
    "logistic_regression": lambda x, y: LogisticRegression().fit(x, y).predict(x),
    "naive_bayes": lambda x, y: BernoulliNB(binarize=0.0).fit(x, y).predict(x),
    "decision_stump": lambda x, y: DecisionTreeClassifier(max_depth=1, random_state=0).fit(x, y).predict(x),
    "decision_tree": lambda x, y: DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, y).predict(x),
    "k_means": lambda x, y: majorities(KMeans(3, n_init=10, random_state=0).fit_predict(x), y),
    "condensed_neighbours": lambda x, y: KNeighborsClassifier(1).fit(x, y).predict(x),
}


def classes(rows):
    """The class of each row: by sign if it has one number, else the place of the largest."""
    return (rows[:, 0] > 0).astype(int) if rows.shape[1] == 1 else rows.argmax(axis=1)


failed = False
for lesson in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    x, y, output = (numpy.array(lesson[key]) for key in ("x", "y", "output"))
    name = lesson["learner"]
    if name == "ridge":
        fitted = Ridge(alpha=1.0).fit(x, y[:, 0])
        off = abs(numpy.array(lesson["theta"]) - [fitted.intercept_, *fitted.coef_]).max()
        good, figures = off <= 1e-3, f"weights {off:.1e} off"
    else:
        truth = classes(y)
        ours, theirs = (classes(output) == truth).mean(), (FITTED[name](x, truth) == truth).mean()
        good, figures = abs(ours - theirs) <= 0.01, f"{ours:.4f} right, scikit-learn {theirs:.4f}"
    failed |= not good
    print(f"{name}: {figures}{'' if good else ': TOO FAR'}")
sys.exit(failed)
