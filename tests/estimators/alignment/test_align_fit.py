"""Alignment weights from a stack: measures by definition, and a warning when the tolerance is out of reach."""

from itertools import islice

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.alignment import align_fit
from kernelweave.estimators.alignment.align_fit import fit_alignment
from kernelweave.gram.dense import DenseStack

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(3, 20, 6))
K = Z @ Z.transpose(0, 2, 1)
COLUMNS = np.where(RNG.normal(size=(14, 1)) > 0, 1.0, -1.0)


@pytest.mark.parametrize("free_signs", [False, True])
def test_measures_by_definition(free_signs):
    fit = fit_alignment(DenseStack(K), COLUMNS, free_signs=free_signs, tol=1e-8)
    whole, labelled = np.tensordot(fit.weights, K, 1), np.tensordot(fit.weights, K[:, :14, :14], 1)
    T = COLUMNS @ COLUMNS.T
    assert np.linalg.norm(whole) == pytest.approx(1.0)
    assert fit.alignment == pytest.approx((labelled * T).sum() / np.linalg.norm(labelled) / 14)
    sizes = np.linalg.norm(K[:, :14, :14], axis=(1, 2))
    np.testing.assert_allclose(fit.alignments, (K[:, :14, :14] * T).sum(axis=(1, 2)) / sizes / 14)
    assert -fit.certificate.primal == pytest.approx((labelled * T).sum())
    assert fit.importances.sum() == pytest.approx(1.0)


def test_a_gap_above_the_tolerance_is_said(monkeypatch):
    solve = align_fit.solve_psd_alignment
    monkeypatch.setattr(align_fit, "solve_psd_alignment", lambda *given, **more: islice(solve(*given, **more), 2))
    with pytest.warns(ConvergenceWarning, match="Asked for: 1.0e-08"):
        fit = fit_alignment(DenseStack(K), COLUMNS, free_signs=True, tol=1e-8)
    assert fit.certificate.relative_gap > 1e-8
