"""The monotone regressor: ridge regression on learned kernels, certified; predictors, weights, honesty."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from kernelweave import MonotoneRegressor
from kernelweave.solvers.driver import Status

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (90, 3)) ** 2
Y = 7.0 + np.sqrt(X) @ np.array([2.0, -1.0, 0.5]) + 0.05 * RNG.normal(size=90)
X.flags.writeable = Y.flags.writeable = False


def test_one_ramp_is_ridge_regression():
    model = MonotoneRegressor(C=4.0, knots=[0.0, 1.0]).fit(X, Y)
    ridge = Ridge(alpha=0.25).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-9)
    assert model.intercept_ == pytest.approx(ridge.intercept_)


def test_additive_predictor_is_kernel_ridge_on_the_weighted_ramps():
    knots = np.array([0.0, 0.1, 0.4, 1.0])
    model = MonotoneRegressor(C=2.0, knots=knots, tol=1e-10).fit(X, Y)
    phi = [np.clip((X - a) / (b - a), 0, 1) for a, b in pairwise(knots)]
    # Centred features stand for the intercept.
    centred = [p - p.mean(axis=0) for p in phi]
    K = sum(m * c @ c.T for m, c in zip(model.ramp_weights_, centred, strict=True))
    reference = KernelRidge(alpha=0.5, kernel="precomputed").fit(K, Y - Y.mean())
    np.testing.assert_allclose(model.predict(X), Y.mean() + reference.predict(K), rtol=1e-8)
    assert model.status_ is Status.OPTIMAL and model.relaxation_gap_ is None


@pytest.mark.parametrize("share", ["all", "feature", [0, 1, 0]])
def test_transform_predictor_is_ridge_on_the_transform(share):
    model = MonotoneRegressor(C=50.0, share=share, n_knots=6, predict_with="transform").fit(X, Y)
    phi = np.column_stack([np.interp(X[:, f], *model.transform_curve(f)) for f in range(3)])
    ridge = Ridge(alpha=0.02).fit(phi, Y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(phi), rtol=1e-8)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-6)
    value = ridge.coef_ @ ridge.coef_ + 50.0 * ((Y - ridge.predict(phi)) ** 2).sum()
    assert model.relaxation_gap_ == pytest.approx(1 - model.certificate_.dual / value, abs=1e-6)
    assert model.objective_ <= value and model.score(X, Y) > Ridge(alpha=0.02).fit(X, Y).score(X, Y)


def test_sparse_samples_weights_and_curves():
    rows = scipy.sparse.csr_matrix(np.where(X > 0.2, X - 0.5, 0.0))
    model = MonotoneRegressor(C=3.0, n_knots=5, tol=1e-9)
    weight = RNG.integers(0, 3, 90)
    times = np.repeat(np.arange(90), weight)
    weighted = model.fit(rows, Y, weight).predict(rows)
    np.testing.assert_allclose(model.fit(rows[times], Y[times]).predict(rows), weighted, rtol=1e-6)
    parts = [np.interp(rows.toarray()[:, f], *model.score_curve(f)) for f in range(3)]
    np.testing.assert_allclose(np.sum(parts, axis=0) + model.intercept_, model.predict(rows), rtol=1e-10)


def test_targets_may_be_constant_or_far_away():
    assert MonotoneRegressor().fit(X, np.full(90, 3.0)).predict(X) == pytest.approx(np.full(90, 3.0))
    near = MonotoneRegressor(C=10.0, tol=1e-9).fit(X, Y).predict(X)
    np.testing.assert_allclose(MonotoneRegressor(C=10.0, tol=1e-9).fit(X, Y + 1e6).predict(X) - 1e6, near, atol=1e-7)


def test_a_short_run_says_so():
    with pytest.warns(ConvergenceWarning, match=r"iteration limit .*gap of"):
        model = MonotoneRegressor(tol=1e-9, max_iter=1).fit(X, Y)
    assert model.status_ is Status.ITERATION_LIMIT and model.dual_gap_ > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"C": -1}, "C must be"), ({"predict_with": "x"}, "predict_with must be"), ({"share": "x"}, "share must be")],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        MonotoneRegressor(**settings).fit(X, Y)


def test_bad_targets():
    with pytest.raises(ValueError, match="target y is None"):
        MonotoneRegressor().fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MonotoneRegressor().fit(X, Y[:5])
    with pytest.raises(ValueError, match="y contains NaN"):
        MonotoneRegressor().fit(X, np.where(Y > 8, np.nan, Y))
