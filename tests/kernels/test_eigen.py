"""The family of a kernel's eigenvectors: exact on the samples it was made of, and what it refuses."""

import pickle

import numpy as np
import pytest

from kernelweave import KernelAligner, MKLClassifier
from kernelweave.exceptions import InvalidKernelError
from kernelweave.kernels import RBF, EigenFamily, Linear, Precomputed, Sigmoid, freeze_kernels, resolve_entries
from kernelweave.testing import check_kernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
NEW = RNG.normal(size=(7, 3))
y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3, "a", "b")


def members(family, X=X, everything=None):
    return [entry.kernel for entry in freeze_kernels(resolve_entries([("e", family)]), X, everything=everything)]


def test_members_are_the_eigenvectors():
    vectors = np.linalg.eigh(RBF(gamma=0.5)(X))[1]
    kernels = members(EigenFamily(RBF(gamma=0.5), n_components=4))
    for kernel, v in zip(kernels, vectors[:, ::-1].T, strict=False):
        np.testing.assert_allclose(kernel(X), np.outer(v, v), atol=1e-9)
    assert len(kernels) == 4


def test_weights_of_the_spectrum_give_the_kernel_back_on_new_samples_too():
    kernel = Linear()
    values = np.linalg.eigvalsh(kernel(X))[::-1]
    parts = members(EigenFamily(kernel))
    assert len(parts) == 3  # the rank; the rest is rounding
    total = sum(value * part(NEW, X) for value, part in zip(values, parts, strict=False))
    np.testing.assert_allclose(total, kernel(NEW, X), atol=1e-9)


def test_unlabelled_samples_count():
    everything = np.vstack([X, NEW])
    parts = members(EigenFamily(RBF(gamma=0.5), 3), X, everything)
    features = np.hstack([part.features(everything) for part in parts])
    np.testing.assert_allclose(features.T @ features, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("part", [0, 3])
def test_contract(part):
    check_kernel(members(EigenFamily(RBF(gamma=0.5), 4))[part], X, NEW)


def test_a_given_matrix_has_a_family():
    K = RBF(gamma=0.5)(X)
    (first,) = members(EigenFamily(Precomputed(K), 1), np.arange(30))
    np.testing.assert_allclose(first(np.arange(30)), members(EigenFamily(RBF(gamma=0.5), 1))[0](X), atol=1e-9)


@pytest.mark.parametrize("model", [MKLClassifier(trace="sum"), KernelAligner(centered=False)])
def test_any_sign_gains_nothing(model):
    kernels = [("e", EigenFamily(RBF(gamma=0.5), 6))]
    nonnegative = model.set_params(kernels=kernels, tol=1e-7, normalize=None).fit(X, y)
    weights = nonnegative.kernel_weights_.copy()
    free = model.set_params(weights="psd").fit(X, y)
    np.testing.assert_allclose(free.kernel_weights_, weights, atol=1e-3 * weights.max())


def test_it_mixes_with_other_kernels_and_survives_a_pickle():
    model = MKLClassifier([("e", EigenFamily(RBF(gamma=0.5), 5), [0, 1]), ("linear", Linear(), [2])]).fit(X, y)
    assert model.kernel_names_.tolist() == ["e[1]", "e[2]", "e[3]", "e[4]", "e[5]", "linear"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X.copy()))


def test_cosine_normalisation_keeps_more_than_signs():
    model = MKLClassifier([("e", EigenFamily(RBF(gamma=0.5), 2))], normalize="cosine").fit(X, y)
    block = model.set_params(multiclass="shared").combined_kernel(X)
    assert len(np.unique(np.abs(np.diagonal(block)).round(9))) > 10
    assert np.trace(block) == pytest.approx(model.trace_)


def test_model_files_hold_it(tmp_path):
    pytest.importorskip("skops")
    from kernelweave import load_model, save_model

    model = MKLClassifier([("e", EigenFamily(RBF(gamma=0.5), 3))]).fit(X, y)
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_allclose(
        load_model(tmp_path / "model.skops").decision_function(NEW), model.decision_function(NEW)
    )


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (EigenFamily(Sigmoid()), "positive semidefinite"),
        (EigenFamily("rbf"), "positive semidefinite"),
        (EigenFamily(RBF(), 0), "n_components"),
        (EigenFamily(RBF(), 2.5), "n_components"),
        (EigenFamily(RBF(), True), "n_components"),
        (EigenFamily(Precomputed(np.zeros((30, 30)))), "positive somewhere"),
    ],
)
def test_bad_families(family, message):
    samples = np.arange(30) if isinstance(family.kernel, Precomputed) else X
    with pytest.raises((InvalidKernelError, TypeError), match=message):
        members(family, samples)
