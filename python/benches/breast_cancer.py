"""The perceptron on all 30 features of the breast cancer table, in a pipeline and a search over formats, beside scikit-learn's own.

    python python/benches/breast_cancer.py

Takes some minutes; the tests and the first notebook do the same with four principal components.
"""

import time

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from luge.sklearn import LugeClassifier

x, y = load_breast_cancer(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0)
began = time.perf_counter()
pipeline = make_pipeline(StandardScaler(), LugeClassifier(constants={"ROUNDS": 2}, saturate=True))
search = GridSearchCV(pipeline, {"lugeclassifier__format": ["fix:8.1", "fix:8.2", "fix:8.4"]}, cv=2).fit(x_train, y_train)
for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
    print(f"{parameters['lugeclassifier__format']}: {score:.3f} on held-out folds")
theirs = make_pipeline(StandardScaler(), Perceptron()).fit(x_train, y_train)
fitted = search.best_estimator_[-1]
print(f"best {search.best_params_['lugeclassifier__format']}: {search.score(x_test, y_test):.3f} on new data, {fitted.n_iter_:,} gradient steps,", end=" ")
print(f"{sum(claim['holds'] for claim in fitted.certificate_.values())} of {len(fitted.certificate_)} claims hold")
print(f"scikit-learn's Perceptron: {theirs.score(x_test, y_test):.3f} on new data")
print(f"{time.perf_counter() - began:.0f} s")
