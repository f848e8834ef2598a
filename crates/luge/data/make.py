"""Makes wine.csv, breast_cancer.csv, diabetes.csv, digits.csv and ../learners/wine_signs.csv from the copies that come with scikit-learn.

    pip install scikit-learn && python data/make.py [--check]

Measurements become standard scores, (x - mean) / standard deviation, written with three decimals; a digit's pixels are
divided by 16. wine_signs.csv has 1 for scores above 0 and 0 for the others. With --check nothing is written: the script fails if a file is not what it would write.
"""

import pathlib
import sys

import numpy
from sklearn import datasets

HERE = pathlib.Path(__file__).parent


def scores(columns):
    """Standard scores with three decimals; the deviation is that of the whole population."""
    return numpy.round((columns - columns.mean(axis=0)) / columns.std(axis=0), 3)


def one_hot(classes, n_classes):
    return (classes[:, None] == numpy.arange(n_classes)).astype(int)


def text(header, *blocks):
    """The lines of a CSV file; a number takes no more digits than it has."""
    rows = numpy.hstack([numpy.asarray(block, dtype=float) for block in blocks])
    # Adding 0 makes a zero of minus zero.
    lines = [",".join(f"{number + 0.0:g}" for number in row) for row in rows]
    return "\n".join([",".join(header), *lines]) + "\n"


def named(names):
    return [name.replace(" ", "_").replace("/", "_") for name in names]


def wine():
    data = datasets.load_wine()
    classes = [f"class_{k}" for k in range(3)]
    return text(named(data.feature_names) + classes, scores(data.data), one_hot(data.target, 3))


def wine_signs():
    data = datasets.load_wine()
    classes = [f"class_{k}" for k in range(3)]
    return text(named(data.feature_names) + classes, scores(data.data) > 0, one_hot(data.target, 3))


def breast_cancer():
    data = datasets.load_breast_cancer()
    malignant = numpy.where(data.target == 0, 1, -1)
    return text(named(data.feature_names) + ["malignant"], scores(data.data), malignant[:, None])


def diabetes():
    data = datasets.load_diabetes(scaled=False)
    return text(named(data.feature_names) + ["progression"], scores(data.data), scores(data.target[:, None]))


def digits():
    data = datasets.load_digits()
    pixels = [f"p{k}" for k in range(64)]
    classes = [f"d{k}" for k in range(10)]
    zero = numpy.where(data.target == 0, 1, -1)
    return text(pixels + classes + ["zero"], data.data / 16, one_hot(data.target, 10), zero[:, None])


stale = []
for make in (wine, wine_signs, breast_cancer, diabetes, digits):
    folder = HERE.parent / "learners" if make is wine_signs else HERE
    path = folder / f"{make.__name__}.csv"
    if "--check" in sys.argv:
        if path.read_text() != make():
            stale.append(path.name)
    else:
        path.write_text(make())
sys.exit(f"not what scikit-learn's copies give: {', '.join(stale)}" if stale else None)
