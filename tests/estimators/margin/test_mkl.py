"""The classifier: agreement with scikit-learn's SVC, several classes, weights, transduction, prediction."""

import pickle

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Linear, Polynomial, Precomputed

KERNELS = [("rbf", RBF(gamma=0.3)), ("linear", Linear(), [0, 1]), ("noise", RBF(gamma=1.0), [3])]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=90) > 0.4, "ill", "well")
    X.flags.writeable = False
    return X, y


@pytest.fixture
def three_classes(data):
    X, _ = data
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


def gram(X):
    squares = (X**2).sum(axis=1)
    return np.exp(-0.3 * (squares[:, None] + squares - 2 * X @ X.T))


@pytest.mark.parametrize("solver", ["bundle", "interior_point"])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_one_kernel_is_an_svc(data, solver, C):
    X, y = data
    model = MKLClassifier([("rbf", RBF(gamma=0.3))], C=C, tol=1e-9, solver=solver).fit(X, y)
    K = gram(X)
    svc = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y)
    dual = (
        np.abs(svc.dual_coef_).sum() - 0.5 * svc.dual_coef_ @ K[np.ix_(svc.support_, svc.support_)] @ svc.dual_coef_.T
    )
    assert model.objective_ == pytest.approx(2 * dual.item(), rel=1e-7)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(K), atol=2e-4)


def test_one_kernel_with_squared_hinge_is_an_svc_with_ridge(data):
    X, y = data
    C = 3.0
    model = MKLClassifier([("rbf", RBF(gamma=0.3))], margin="l2", C=C, tol=1e-9).fit(X, y)
    K = gram(X) + np.eye(len(X)) / C
    svc = SVC(kernel="precomputed", C=1e9, tol=1e-10).fit(K, y)
    dual = (
        np.abs(svc.dual_coef_).sum() - 0.5 * svc.dual_coef_ @ K[np.ix_(svc.support_, svc.support_)] @ svc.dual_coef_.T
    )
    assert model.objective_ == pytest.approx(2 * dual.item(), rel=1e-6)


@pytest.mark.parametrize("settings", [{}, {"margin": "l2"}, {"margin": "l2", "C": "auto"}, {"center": True}])
def test_contributions_add_up(data, settings):
    X, y = data
    model = MKLClassifier(KERNELS, **settings).fit(X[:60], y[:60])
    parts = model.contributions(X[60:])
    assert parts.shape == (30, 3)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.decision_function(X[60:]), atol=1e-12)


@pytest.mark.parametrize("multiclass", ["shared", "per_class"])
def test_several_classes(three_classes, multiclass):
    X, y = three_classes
    model = MKLClassifier(KERNELS, multiclass=multiclass, n_jobs=2).fit(X, y)
    assert model.kernel_weights_.shape == ((3,) if multiclass == "shared" else (3, 3))
    assert model.dual_coef_.shape == (3, 90) and model.intercept_.shape == (3,)
    np.testing.assert_allclose(np.sum(model.kernel_importances_, axis=-1), 1.0)
    parts = model.contributions(X)
    np.testing.assert_allclose(parts.sum(axis=2) + model.intercept_, model.decision_function(X), atol=1e-12)
    assert model.score(X, y) > 0.8
    assert model.certificate_.relative_gap <= 1e-3


def test_weights_per_class_are_those_of_each_binary_problem(three_classes):
    X, y = three_classes
    model = MKLClassifier(KERNELS, multiclass="per_class", tol=1e-8).fit(X, y)
    alone = MKLClassifier(KERNELS, tol=1e-8).fit(X, y == 2)
    np.testing.assert_allclose(model.kernel_weights_[2], alone.kernel_weights_, atol=1e-4)


def test_one_weight_vector_per_class_has_no_single_kernel(three_classes):
    X, y = three_classes
    model = MKLClassifier(KERNELS, multiclass="per_class").fit(X, y)
    with pytest.raises(ValueError, match="no single combined kernel"):
        model.combined_kernel(X)


@pytest.mark.parametrize("center", [False, True])
def test_combined_kernel_reproduces_the_decisions(data, center):
    X, y = data
    model = MKLClassifier(KERNELS, tol=1e-9, center=center).fit(X[:60], y[:60])
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(model.combined_kernel(X[:60]), y[:60])
    np.testing.assert_allclose(
        svc.decision_function(model.combined_kernel(X[60:])), model.decision_function(X[60:]), atol=2e-4
    )


def test_sample_weights_count_as_copies(data):
    X, y = data
    copies = np.random.default_rng(1).integers(0, 4, size=len(y))
    for margin in ("l1", "l2"):
        settings = {"kernels": KERNELS, "margin": margin, "tol": 1e-10}
        weighted = MKLClassifier(**settings).fit(X, y, sample_weight=copies)
        repeated = MKLClassifier(**settings).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
        assert (weighted.dual_coef_[0, copies == 0] == 0).all()


def test_class_weight_multiplies_sample_weight(data):
    X, y = data
    by_class = MKLClassifier(KERNELS, class_weight={"ill": 3.0, "well": 1.0}, tol=1e-9).fit(X, y)
    by_sample = MKLClassifier(KERNELS, tol=1e-9).fit(X, y, sample_weight=np.where(y == "ill", 3.0, 1.0))
    np.testing.assert_allclose(by_class.kernel_weights_, by_sample.kernel_weights_)
    np.testing.assert_allclose(by_class.intercept_, by_sample.intercept_)


def test_transduction_with_unit_diagonals_equals_induction(data):
    X, y = data
    inductive = MKLClassifier(KERNELS, margin="l2", C="auto", tol=1e-9).fit(X[:60], y[:60])
    transductive = MKLClassifier(KERNELS, margin="l2", C="auto", tol=1e-9).fit(X[:60], y[:60], X_unlabeled=X[60:])
    np.testing.assert_allclose(transductive.kernel_weights_, inductive.kernel_weights_, atol=1e-6)
    assert pytest.approx(inductive.C_, rel=1e-5) == transductive.C_
    np.testing.assert_array_equal(transductive.transduction_, inductive.predict(X[60:]))


def test_traces_run_over_unlabelled_samples_too(data):
    X, y = data
    model = MKLClassifier([("linear", Linear())], normalize=None, trace="sum").fit(X[:60], y[:60], X_unlabeled=X[60:])
    assert model.trace_ == pytest.approx((X**2).sum())
    assert not hasattr(MKLClassifier().fit(X, y), "transduction_")


@pytest.mark.parametrize("trace", ["mean", "sum", 7.0])
def test_weights_spend_the_budget(data, trace):
    X, y = data
    model = MKLClassifier([("a", RBF(0.3)), ("b", Polynomial(2))], normalize=None, trace=trace).fit(X, y)
    traces = np.array([90.0, ((1 + (X**2).sum(axis=1)) ** 2).sum()])
    budget = {"mean": traces.mean(), "sum": traces.sum(), 7.0: 7.0}[trace]
    assert model.kernel_weights_ @ traces == pytest.approx(budget) == pytest.approx(model.trace_)
    np.testing.assert_allclose(model.kernel_importances_, model.kernel_weights_ * traces / budget)


def test_learned_ridge_is_part_of_the_budget(data):
    X, y = data
    model = MKLClassifier(KERNELS, margin="l2", C="auto").fit(X, y)
    assert model.kernel_weights_.sum() + 1.0 / model.C_ == pytest.approx(1.0)


def test_float32_and_factor_storage_agree_with_float64(data):
    X, y = data
    kernels = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3])]
    reference = MKLClassifier(kernels, tol=1e-8, storage="dense").fit(X, y)
    for settings in ({"dtype": "float32", "storage": "dense"}, {"storage": "factor"}):
        other = MKLClassifier(kernels, tol=1e-6, **settings).fit(X, y)
        assert other.objective_ == pytest.approx(reference.objective_, rel=1e-5)
        np.testing.assert_allclose(other.decision_function(X), reference.decision_function(X), atol=1e-2)


def test_pickle_keeps_the_decisions(data):
    X, y = data
    model = MKLClassifier(KERNELS).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))


def test_given_matrices_are_not_changed(data):
    X, y = data
    K = gram(X) * 3.0
    K.flags.writeable = False
    for order in (K, np.asfortranarray(K)):
        MKLClassifier([("k", Precomputed(order))], center=True).fit(np.arange(90), y)
    np.testing.assert_array_equal(K, gram(X) * 3.0)
