"""From a Gram stack and target columns to alignment weights: solve, certify, measure, warn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.problems.base import Certificate
from kernelweave.solvers.alignment import solve_alignment, solve_psd_alignment
from kernelweave.solvers.driver import Status, run

__all__ = ["AlignmentFit", "fit_alignment"]


@dataclass(frozen=True)
class AlignmentFit:
    """Certified weights.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Kernel weights, ``mu'S mu = 1``.
    importances : ndarray of shape (m,)
        Shares ``mu_i q_i / q'mu``.
    alignment : float
        Alignment of the combination on the labelled samples.
    alignments : ndarray of shape (m,)
        Alignment of each kernel alone.
    certificate : Certificate
        Bounds of ``-q'mu``.
    status : Status
        How the run ended.
    """

    weights: FloatArray
    importances: FloatArray
    alignment: float
    alignments: FloatArray
    certificate: Certificate
    status: Status


def fit_alignment(gram: GramStack, columns: FloatArray, *, free_signs: bool, tol: float) -> AlignmentFit:
    """Maximise the alignment with ``columns columns'``.

    Parameters
    ----------
    gram : GramStack
        Kernels over all samples, labelled ones first.
    columns : ndarray of shape (n_labelled, k)
        U of the target UU', centred where the kernels are.
    free_signs : bool
        Weights of any sign with a semidefinite combination, instead of nonnegative ones.
    tol : float
        Relative gap to reach.

    Returns
    -------
    AlignmentFit

    Warns
    -----
    ConvergenceWarning
        When the tolerance was not reached, with the gap.
    """
    labelled = gram.restrict(np.arange(len(columns), dtype=np.intp))
    q, inner = labelled.quadratic_forms(columns).sum(axis=1), gram.frobenius_products()
    if free_signs:
        problem = PSDAlignmentProblem(q, inner)
        result = run(solve_psd_alignment, problem, gram, tol=tol)
        weights = problem.feasible_weights(gram, np.asarray(result.candidate.weights))
    else:
        result = run(solve_alignment, AlignmentProblem(q, inner), gram, tol=tol)
        weights = np.asarray(result.candidate.weights)
    if result.status is not Status.OPTIMAL:
        warnings.warn(f"Alignment: {result.message} Asked for: {tol:.1e}.", ConvergenceWarning, stacklevel=3)
    size = float(np.linalg.norm(columns.T @ columns))
    own = inner if labelled.shape == gram.shape else labelled.frobenius_products()
    return AlignmentFit(
        weights=weights,
        importances=weights * q / float(q @ weights),
        alignment=float(q @ weights) / (size * float(np.linalg.norm(labelled.combine(weights)))),
        alignments=q / (size * np.sqrt(np.diagonal(own))),
        certificate=result.certificate,
        status=result.status,
    )
