"""From a Gram stack and target columns to kernel weights of the aligner family: solve, certify, measure, warn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.problems.base import Certificate
from kernelweave.problems.evidence import EvidenceProblem
from kernelweave.solvers.alignment import solve_alignment, solve_psd_alignment
from kernelweave.solvers.driver import Result, Status, run
from kernelweave.solvers.evidence import solve_evidence

__all__ = ["AlignmentFit", "fit_alignment", "fit_evidence"]

# Smallest noise of a Gaussian process, as a share of the targets' variance.
_LEAST_NOISE = 1e-6


@dataclass(frozen=True)
class AlignmentFit:
    """Certified weights.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Kernel weights.
    importances : ndarray of shape (m,)
        Shares of the alignment or the variance.
    alignment : float
        Alignment of the combination on the labelled samples.
    alignments : ndarray of shape (m,)
        Alignment of each kernel alone.
    certificate : Certificate
        Bounds of ``-q'mu``, or of the local criterion.
    status : Status
        How the run ended.
    noise : float or None
        Learned noise variance, where there is one.
    """

    weights: FloatArray
    importances: FloatArray
    alignment: float
    alignments: FloatArray
    certificate: Certificate
    status: Status
    noise: float | None = None


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
    own = inner if labelled.shape == gram.shape else labelled.frobenius_products()
    if free_signs:
        problem = PSDAlignmentProblem(q, inner)
        result = run(solve_psd_alignment, problem, gram, tol=tol)
        weights = problem.feasible_weights(gram, np.asarray(result.candidate.weights))
    else:
        result = run(solve_alignment, AlignmentProblem(q, inner), gram, tol=tol)
        weights = np.asarray(result.candidate.weights)
    return _measured(result, weights, weights * q / float(q @ weights), q, own, columns, tol)


def fit_evidence(gram: GramStack, columns: FloatArray, *, tol: float) -> AlignmentFit:
    """Maximise the likelihood of a Gaussian process whose covariance is the combination plus noise.

    Parameters
    ----------
    gram : GramStack
        Kernels on the labelled samples.
    columns : ndarray of shape (n, k)
        U, of which each column is a draw of the process.
    tol : float
        Relative gap to reach.

    Returns
    -------
    AlignmentFit
        With the status of a local minimum: the criterion is not convex.

    Warns
    -----
    ConvergenceWarning
        When the tolerance was not reached, with the gap.
    """
    variance = float(np.vdot(columns, columns)) / columns.size
    problem = EvidenceProblem(columns, _LEAST_NOISE * variance)
    result = run(solve_evidence, problem, gram, tol=tol)
    found = np.asarray(result.candidate.weights)
    shares = found[:-1] * gram.traces()
    q, own = gram.quadratic_forms(columns).sum(axis=1), gram.frobenius_products()
    importances = shares / max(float(shares.sum()), np.finfo(float).tiny)
    fit = _measured(result, found[:-1], importances, q, own, columns, tol)
    status = Status.LOCAL_MINIMUM if fit.status is Status.OPTIMAL else fit.status
    return replace(fit, status=status, noise=float(found[-1]))


def _measured(
    result: Result,
    weights: FloatArray,
    importances: FloatArray,
    q: FloatArray,
    inner: FloatArray,
    columns: FloatArray,
    tol: float,
) -> AlignmentFit:
    """Alignments of an answer on the labelled samples, of which q and inner tell."""
    if result.status is not Status.OPTIMAL:
        warnings.warn(f"Alignment: {result.message} Asked for: {tol:.1e}.", ConvergenceWarning, stacklevel=4)
    size = float(np.linalg.norm(columns.T @ columns))
    length = np.sqrt(max(float(weights @ inner @ weights), np.finfo(float).tiny))
    return AlignmentFit(
        weights=weights,
        importances=importances,
        alignment=float(q @ weights) / (size * float(length)),
        alignments=q / (size * np.sqrt(np.diagonal(inner))),
        certificate=result.certificate,
        status=result.status,
    )
