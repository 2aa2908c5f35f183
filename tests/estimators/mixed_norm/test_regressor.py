"""Regression with mixed norms."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge

from kernelweave import MixedNormRegressor
from kernelweave.kernels import RBF, Linear, Sigmoid


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X.flags.writeable = False
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=50)


def test_is_ridge_regression_and_the_lasso_on_the_columns_of_the_kernels(data):
    X, y = data
    K = np.hstack([RBF(0.5)(X), Sigmoid(0.3)(X)])
    kernels = [RBF(0.5), Sigmoid(0.3)]
    ridge = MixedNormRegressor(kernels, penalty="l2", alpha=0.6, tol=1e-10).fit(X, y)
    # Half the squared norm against the sum of squares: scikit-learn's alpha is half of ours.
    np.testing.assert_allclose(ridge.predict(X), Ridge(alpha=0.3).fit(K, y).predict(K), atol=1e-4)
    lasso = MixedNormRegressor(kernels, penalty="l1", alpha=0.6, tol=1e-10).fit(X, y)
    other = Lasso(alpha=0.6 / (2 * len(y)), tol=1e-10, max_iter=100_000).fit(K, y)
    np.testing.assert_allclose(lasso.predict(X), other.predict(K), atol=1e-4)


def test_weights_count_as_copies_and_contributions_add_up(data):
    X, y = data
    copies = np.random.default_rng(1).integers(0, 3, size=len(y))
    kernels = [("rbf", RBF(0.5), [0]), ("linear", Linear(), [1, 2])]
    weighted = MixedNormRegressor(kernels, tol=1e-10).fit(X, y, sample_weight=copies)
    repeated = MixedNormRegressor(kernels, tol=1e-10).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-4)
    np.testing.assert_allclose(weighted.contributions(X).sum(axis=1) + weighted.intercept_, weighted.predict(X))
    assert weighted.coef_.shape == (50, 2)


def test_the_irrelevant_kernel_is_dropped(data):
    X, y = data
    model = MixedNormRegressor([RBF(1.0), ("noise", RBF(1.0), [2])], alpha=8.0).fit(X, y)
    assert model.kernel_norms_[0] > 0 == model.kernel_norms_[1]


@pytest.mark.parametrize(
    ("y", "message"),
    [(np.full(50, np.nan), "NaN"), (np.arange(49.0), "50.*49"), (None, "requires y"), (["a"] * 50, "convert")],
)
def test_bad_targets_are_refused(data, y, message):
    with pytest.raises(ValueError, match=message):
        MixedNormRegressor().fit(data[0], y)
