"""Indefinite kernels in the estimators of margins and alignments."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from kernelweave import KernelAligner, MKLClassifier, load_model, save_model
from kernelweave.kernels import RBF, Linear, Precomputed, Sigmoid

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, "yes", "no")
NEW = RNG.normal(size=(15, 3))
TANH = Sigmoid(gamma=0.7, coef0=-0.5)
REPAIRS = ["clip", "flip", "shift"]


def by_hand(kind):
    """The repaired training matrix, and what new rows are multiplied by."""
    values, vectors = np.linalg.eigh(TANH(X))
    kept = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - values[0]}[kind]
    factors = {"clip": values > 0, "flip": np.sign(values), "shift": np.ones(60)}[kind]
    return vectors * kept @ vectors.T, vectors * factors @ vectors.T


@pytest.mark.parametrize("kind", REPAIRS)
def test_one_kernel_is_the_svm_on_the_repaired_matrix(kind):
    model = MKLClassifier([TANH], psd_repair=kind, normalize=None, C=2.0, tol=1e-8).fit(X, Y)
    matrix, factors = by_hand(kind)
    svm = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(matrix, Y)
    np.testing.assert_allclose(model.decision_function(NEW), svm.decision_function(TANH(NEW, X) @ factors), atol=2e-5)
    assert model.kernel_weights_ == pytest.approx([1.0])


@pytest.mark.parametrize("kind", ["clip", "flip"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weights", ["nonnegative", "psd"])
def test_training_samples_get_the_decision_of_the_fit(kind, center, weights):
    kernels = [("tanh", TANH), ("rbf", RBF(gamma=0.2))]
    model = MKLClassifier(kernels, psd_repair=kind, center=center, weights=weights, tol=1e-7).fit(X, Y)
    # At free support vectors the margin is one: only true of the kernel that was fitted.
    alpha = np.abs(model.dual_coef_[0])
    free = (alpha > 1e-3) & (alpha < 1 - 1e-3)
    signs = np.where(model.classes_[1] == Y, 1.0, -1.0)
    assert free.sum() >= 3
    np.testing.assert_allclose((signs * model.decision_function(X))[free], 1.0, atol=1e-3)


def test_definite_kernels_are_unchanged():
    kernels = [("rbf", RBF(gamma=0.2)), ("given", Linear(), [0, 1])]
    plain = MKLClassifier(kernels, storage="dense").fit(X, Y)
    for kind in REPAIRS:
        repaired = MKLClassifier(kernels, storage="dense", psd_repair=kind).fit(X, Y)
        np.testing.assert_array_equal(repaired.kernel_weights_, plain.kernel_weights_)
        np.testing.assert_array_equal(repaired.decision_function(NEW), plain.decision_function(NEW))


def test_without_repair_it_is_refused():
    with pytest.raises(ValueError, match="psd_repair='clip'"):
        MKLClassifier([TANH]).fit(X, Y)
    with pytest.raises(ValueError, match="psd_repair must be one of"):
        MKLClassifier([TANH], psd_repair="bend").fit(X, Y)
    with pytest.raises(ValueError, match="psd_repair must be one of"):
        KernelAligner([TANH], psd_repair="bend").fit(X, Y)


@pytest.mark.parametrize("kind", REPAIRS)
def test_unlabelled_samples_are_repaired_with_the_labelled(kind):
    model = MKLClassifier([TANH], psd_repair=kind, normalize=None, tol=1e-8).fit(X, Y, X_unlabeled=NEW)
    everything = np.concatenate([X, NEW])
    values, vectors = np.linalg.eigh(TANH(everything))
    kept = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - values[0]}[kind]
    matrix = vectors * kept @ vectors.T
    budget = matrix.trace() / matrix.trace()
    svm = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(budget * matrix[:60, :60], Y)
    if kind != "shift":
        np.testing.assert_allclose(model.decision_function(NEW), svm.decision_function(matrix[60:, :60]), atol=2e-5)
    np.testing.assert_array_equal(model.transduction_, svm.predict(matrix[60:, :60]))


@pytest.mark.parametrize("kind", REPAIRS)
def test_the_aligner_repairs_too(kind):
    aligner = KernelAligner([("tanh", TANH), ("rbf", RBF(gamma=0.2))], psd_repair=kind).fit(X, Y)
    gram = aligner.transform(X)
    if kind != "shift":
        assert np.linalg.eigvalsh(0.5 * (gram + gram.T))[0] > -1e-10
    assert (
        SVC(kernel="precomputed", C=60.0)
        .fit(gram, Y)
        .score(aligner.transform(NEW), np.where(NEW[:, 0] > 0, "yes", "no"))
        > 0.6
    )


def test_tools_of_scikit_learn():
    model = MKLClassifier([("tanh", TANH)], psd_repair="clip")
    assert clone(model).psd_repair == "clip"
    assert clone(model).set_params(psd_repair="flip", tanh__gamma=0.2).psd_repair == "flip"
    search = GridSearchCV(model, {"psd_repair": REPAIRS, "tanh__gamma": [0.3, 0.7]}, cv=3).fit(X, Y)
    assert search.best_params_["psd_repair"] in REPAIRS
    matrix = Precomputed(TANH(X))
    assert cross_val_score(clone(model).set_params(tanh=matrix), np.arange(60), Y, cv=3).mean() > 0.7


@pytest.mark.parametrize("kind", REPAIRS)
def test_saved_models_repair(kind, tmp_path):
    pytest.importorskip("skops")
    model = MKLClassifier([("tanh", TANH), ("rbf", RBF(gamma=0.2))], psd_repair=kind).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.decision_function(NEW), model.decision_function(NEW))
