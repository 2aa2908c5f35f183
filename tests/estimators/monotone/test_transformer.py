"""The transformer: the classifier's transform, in pipelines, frames and sparse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kernelweave import MonotoneClassifier, MonotoneTransformer

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (80, 2)) ** 2
Y = np.sqrt(X[:, 0]) > np.sqrt(X[:, 1])


@pytest.mark.parametrize("settings", [{}, {"method": "alternating", "start": "linear"}, {"share": "feature"}])
def test_transforms_as_the_classifier_does(settings):
    transformer = MonotoneTransformer(n_knots=5, **settings).fit(X, Y)
    classifier = MonotoneClassifier(n_knots=5, **settings).fit(X, Y)
    phi = transformer.transform(X)
    for f in range(2):
        np.testing.assert_allclose(phi[:, f], np.interp(X[:, f], *classifier.transform_curve(f)), atol=1e-12)
    assert phi.min() >= 0 and phi.max() <= 1
    assert (np.argsort(phi[:, 0], kind="stable") == np.argsort(np.round(phi[:, 0], 12), kind="stable")).all()


def test_names_and_frames():
    frame = pd.DataFrame(X, columns=["red", "green"])
    transformer = MonotoneTransformer(n_knots=4).fit(frame, Y)
    np.testing.assert_array_equal(transformer.get_feature_names_out(), ["red", "green"])
    out = transformer.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == ["red", "green"] and out.shape == (80, 2)
    np.testing.assert_array_equal(MonotoneTransformer().fit(X, Y).get_feature_names_out(), ["x0", "x1"])


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_sparse_samples_stay_sparse(shift):
    rows = scipy.sparse.csr_matrix(np.where(X > 0.3, X - shift, 0.0))
    phi = MonotoneTransformer(n_knots=5).fit_transform(rows, Y)
    assert scipy.sparse.issparse(phi)
    np.testing.assert_array_equal(phi.toarray()[rows.toarray() == 0], 0.0)


def test_pipelines_and_search():
    search = GridSearchCV(
        make_pipeline(MonotoneTransformer(n_knots=5), LogisticRegression()), {"monotonetransformer__C": [0.1, 10.0]}
    )
    assert search.fit(X, Y).score(X, Y) > 0.9
