"""Kernel matrices with missing entries, completed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray
from kernelweave.problems.completion import CompletionProblem
from kernelweave.solvers.completion import solve_completion
from kernelweave.solvers.driver import Status, run

__all__ = ["complete_kernel"]


def complete_kernel(
    K: npt.ArrayLike, reference: npt.ArrayLike | None = None, *, tol: float = 1e-8, max_iter: int | None = None
) -> FloatArray:
    """Fill the missing entries of a kernel matrix, keeping those that are known.

    Without a reference, the positive definite completion of largest determinant: nothing is assumed beyond what
    is known, so samples between which nothing is known become independent given the others (the inverse is zero
    there). With a reference, another kernel on the same samples, the completion is the covariance closest to it
    in relative entropy, which is how samples that miss a whole view borrow it from the views they have.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix with NaN for what is missing. The diagonal may be missing only with
        a reference, and then only for samples of whose row nothing is known.
    reference : array-like of shape (n, n) or None, default=None
        Positive definite kernel matrix without missing entries (its scale matters: normalise both alike).
    tol : float, default=1e-8
        Relative duality gap to reach where there is no closed form.
    max_iter : int or None, default=None
        Largest number of Newton steps.

    Returns
    -------
    ndarray of shape (n, n), dtype float64
        Positive definite where such a completion exists.

    Raises
    ------
    InvalidKernelError
        For matrices that are not square, symmetric or finite, a reference that is not positive definite, a missing
        or non-positive diagonal, or observed entries that no positive definite matrix has.

    Warns
    -----
    ConvergenceWarning
        When the tolerance was not reached, with the gap.

    Notes
    -----
    Where whole samples are missing and all else is known there is a closed form: with o the known and
    u the missing samples and ``A = M_uo M_oo^-1``, ``K_uo = A K_oo`` and ``K_uu = M_uu - A M_ou + A K_oo A'``.
    Time otherwise: Newton steps of some products of n x n matrices each; memory: about ten n x n matrices.

    References
    ----------
    .. [1] Dempster, "Covariance selection", Biometrics 28, 1972.
    .. [2] Tsuda, Akaho, Asai, "The em algorithm for kernel matrix completion with auxiliary data", JMLR 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import complete_kernel
    >>> K = np.array([[1.0, 0.5, np.nan], [0.5, 1.0, 0.5], [np.nan, 0.5, 1.0]])
    >>> round(float(complete_kernel(K)[0, 2]), 6)
    0.25
    """
    matrix, missing = _checked(K)
    aid = None if reference is None else _checked_reference(reference, len(matrix))
    absent = missing.all(axis=1)
    if (np.diagonal(missing) & ~absent).any() or (absent.any() and aid is None):
        place = int(np.flatnonzero(np.diagonal(missing))[0])
        raise InvalidKernelError(
            f"The diagonal entry of sample {place} is missing. Give k(x, x) of every sample (1 for a cosine-normalised "
            "kernel), or a reference for samples of which nothing is known."
        )
    present = np.flatnonzero(~absent)
    if not len(present):
        raise InvalidKernelError("Every entry is missing; there is nothing to complete.")
    known = np.ix_(present, present)
    part = None if aid is None else aid[known]
    filled = _filled(matrix[known], missing[known], part, tol, max_iter)
    return filled if aid is None or not absent.any() else _extended(filled, aid, present, np.flatnonzero(absent))


def _filled(matrix: FloatArray, missing: Any, reference: FloatArray | None, tol: float, max_iter: Any) -> FloatArray:
    if not missing.any():
        return matrix
    precision = None if reference is None else np.asarray(np.linalg.inv(reference), dtype=np.float64)
    problem = CompletionProblem(matrix, missing, precision)
    result = run(solve_completion, problem, None, tol=tol, max_iter=max_iter)
    if "completed" not in result.candidate.extras:
        raise InvalidKernelError(
            "No positive definite matrix has the observed entries (or none that is well away from singular): check "
            "them, or add a small ridge to the diagonal."
        )
    if result.status is not Status.OPTIMAL:
        warnings.warn(f"Completion: {result.message} Asked for: {tol:.1e}.", ConvergenceWarning, stacklevel=3)
    return np.asarray(result.candidate.extras["completed"], dtype=np.float64)


def _extended(known: FloatArray, reference: FloatArray, present: Any, absent: Any) -> FloatArray:
    """Samples of which nothing is known follow the others as they do in the reference."""
    n = len(reference)
    across = np.linalg.solve(reference[np.ix_(present, present)], reference[np.ix_(present, absent)]).T
    result = np.empty((n, n))
    result[np.ix_(present, present)] = known
    result[np.ix_(absent, present)] = across @ known
    result[np.ix_(present, absent)] = result[np.ix_(absent, present)].T
    own = reference[np.ix_(absent, absent)] - across @ reference[np.ix_(present, absent)] + across @ known @ across.T
    result[np.ix_(absent, absent)] = 0.5 * (own + own.T)
    return result


def _checked(K: npt.ArrayLike) -> tuple[FloatArray, Any]:
    matrix = np.array(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise InvalidKernelError(f"K must be a square kernel matrix; got shape {matrix.shape}.")
    missing = np.isnan(matrix)
    if np.isinf(matrix).any():
        raise InvalidKernelError("K holds an infinite value; missing entries are NaN.")
    if not np.array_equal(missing, missing.T) or not np.allclose(matrix, matrix.T, rtol=1e-8, equal_nan=True):
        raise InvalidKernelError("K must be symmetric, in what is known and in what is missing.")
    if (np.diagonal(matrix) <= 0).any():
        place = int(np.flatnonzero(np.diagonal(matrix) <= 0)[0])
        raise InvalidKernelError(f"The diagonal entry of sample {place} is not positive; leave that sample out.")
    return np.where(missing, 0.0, 0.5 * (matrix + matrix.T)), missing


def _checked_reference(reference: npt.ArrayLike, n: int) -> FloatArray:
    matrix = np.array(reference, dtype=np.float64)
    if matrix.shape != (n, n) or not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-8):
        raise InvalidKernelError(f"reference must be a symmetric, finite matrix of shape {(n, n)}.")
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if not smallest > 0:
        raise InvalidKernelError(
            f"reference must be positive definite; its smallest eigenvalue is {smallest:.3g}. Add a small ridge."
        )
    return matrix
