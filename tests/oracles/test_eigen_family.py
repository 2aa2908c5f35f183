"""The family of eigenvectors, with weights of both kinds, against the rank-one reference values ([L04] (32)-(46))."""

import numpy as np
import pytest

from kernelweave import KernelAligner, MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.kernels import RBF, EigenFamily, Precomputed

WEIGHTS = {"rank_one"}
TOL = 1e-8


@pytest.mark.parametrize("weights", ["nonnegative", "psd"])
def test_through_the_classifier(cell, weights):
    vectors = np.hstack(cell.factors)
    # A kernel with these eigenvectors, whatever its spectrum.
    K = (vectors * np.linspace(2.0, 1.0, vectors.shape[1])) @ vectors.T
    result, n_tr = cell.result, len(cell.labels)
    margin = "l2" if result["margin"] == "auto_c" else result["margin"]
    C = {"l1": result["C"], "hard": 1.0, "auto_c": "auto"}.get(result["margin"]) or 1.0 / result["tau"]
    model = MKLClassifier(
        [("e", EigenFamily(Precomputed(0.5 * (K + K.T)), vectors.shape[1]))],
        margin=margin,
        C=C,
        weights=weights,
        trace=result["trace_budget"],
        normalize=None,
        tol=TOL,
    )
    samples, unlabelled = np.arange(n_tr), np.arange(n_tr, len(vectors))
    if cell.infeasible:
        with pytest.raises(NotSeparableError):
            model.fit(samples, cell.labels, X_unlabeled=unlabelled)
        return
    model.fit(samples, cell.labels, X_unlabeled=unlabelled)
    cell.check_value(model.certificate_, TOL)
    assert (model.kernel_weights_ >= -1e-6 * model.trace_).all()


@pytest.mark.parametrize("weights", ["nonnegative", "psd"])
def test_alignment_has_the_closed_form(weights):
    """[L04] (54): mu = q / |q| with q_i = (v_i'y)^2, as orthonormal eigenvectors make S the identity."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K = RBF(gamma=0.5)(X)
    v = np.linalg.eigh(K)[1][:30, ::-1][:, :6]
    model = KernelAligner(
        [("e", EigenFamily(Precomputed(K), 6))], weights=weights, centered=False, normalize=None, tol=1e-10
    )
    model.fit(np.arange(30), y[:30], X_unlabeled=np.arange(30, 40))
    q = (v.T @ y[:30]) ** 2
    np.testing.assert_allclose(model.kernel_weights_, q / np.linalg.norm(q), atol=1e-5)
