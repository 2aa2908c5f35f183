"""Unlabelled samples at fit: what they change, and what they do not ([L04] section 5, induction)."""

import numpy as np
import pytest
from sklearn.model_selection import cross_validate

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Linear, Polynomial

RNG = np.random.default_rng(4)
X = RNG.normal(size=(70, 4))
NEW = RNG.normal(size=(25, 4))
Y = np.where(X[:, 0] - X[:, 1] * X[:, 2] + 0.4 * RNG.normal(size=70) > 0, "up", "down")
KERNELS = [("line", Linear()), ("square", Polynomial(degree=2)), ("near", RBF(gamma=0.4))]
CRITERIA = [{"margin": "hard"}, {"margin": "l1"}, {"margin": "l2", "C": 4.0}, {"margin": "l2", "C": "auto"}]


@pytest.mark.parametrize("trace", ["mean", "sum"])
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_nonnegative_weights_of_normalised_kernels_are_the_inductive_ones(criterion, trace):
    alone = MKLClassifier(KERNELS, trace=trace, tol=1e-9, **criterion).fit(X, Y)
    together = MKLClassifier(KERNELS, trace=trace, tol=1e-9, **criterion).fit(X, Y, X_unlabeled=NEW)
    np.testing.assert_allclose(together.kernel_weights_, alone.kernel_weights_, atol=1e-4 * alone.kernel_weights_.max())
    assert together.objective_ == pytest.approx(alone.objective_, rel=1e-7)
    assert pytest.approx(alone.C_, rel=1e-3) == together.C_
    np.testing.assert_allclose(together.decision_function(NEW), alone.decision_function(NEW), atol=1e-3)
    np.testing.assert_array_equal(together.transduction_, together.predict(NEW))


@pytest.mark.parametrize("margin", ["hard", "l2"])
def test_a_fixed_budget_shrinks_the_weights(margin):
    """Hard margin and learned C: with c held, n' = s n points give mu / s and the same decisions."""
    settings = {"margin": margin, "C": "auto" if margin == "l2" else 1.0, "tol": 1e-9}
    c, s = 3.0 * 70, 95 / 70
    alone = MKLClassifier(KERNELS, trace=c, **settings).fit(X, Y)
    together = MKLClassifier(KERNELS, trace=c, **settings).fit(X, Y, X_unlabeled=NEW)
    np.testing.assert_allclose(s * together.kernel_weights_, alone.kernel_weights_, atol=1e-3)
    assert together.objective_ == pytest.approx(s * alone.objective_, rel=1e-6)
    np.testing.assert_allclose(together.decision_function(NEW), alone.decision_function(NEW), atol=1e-3)
    if margin == "l2":
        assert pytest.approx(s * alone.C_, rel=1e-2) == together.C_


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_traces_and_the_cone_run_over_all_samples(criterion):
    model = MKLClassifier(KERNELS, weights="psd", normalize="trace", trace="sum", tol=1e-7, **criterion)
    model.fit(X, Y, X_unlabeled=NEW)
    everything = np.vstack([X, NEW])
    # The unlabelled columns come from the parts, each scaled by its trace over all samples.
    prepared = [kernel(everything) for _, kernel in KERNELS]
    prepared = [K * len(everything) / np.trace(K) for K in prepared]
    K = sum(mu * part for mu, part in zip(model.kernel_weights_, prepared, strict=True))
    np.testing.assert_allclose(K[:, :70], model.combined_kernel(everything), atol=1e-9)
    assert np.linalg.eigvalsh(K)[0] >= -1e-8 * np.diagonal(K).max()
    ridge = len(everything) / model.C_ if criterion.get("C") == "auto" else 0.0
    assert np.trace(K) + ridge == pytest.approx(model.trace_)
    assert model.trace_ == pytest.approx(len(everything) * (4 if criterion.get("C") == "auto" else 3))


def test_decisions_follow_from_the_labelled_coefficients():
    model = MKLClassifier(KERNELS, weights="psd", tol=1e-7).fit(X, Y, X_unlabeled=NEW)
    scores = model.combined_kernel(NEW) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(NEW), scores, atol=1e-9)
    np.testing.assert_array_equal(model.transduction_, np.where(scores > 0, "up", "down"))


def test_a_fit_without_them_forgets_the_transduction():
    model = MKLClassifier(KERNELS).fit(X, Y, X_unlabeled=NEW)
    assert len(model.transduction_) == 25
    assert not hasattr(model.fit(X, Y), "transduction_")


def test_cross_validation_takes_them_as_a_fit_parameter():
    scores = cross_validate(MKLClassifier(KERNELS), X, Y, cv=3, params={"X_unlabeled": NEW}, error_score="raise")
    assert scores["test_score"].mean() > 0.6
