"""Completion of a kernel matrix of which some entries are missing: relative entropy, or the largest determinant.

    maximise  log det K - <P_0, K>   over K positive definite with K_ij given on the observed entries.

With a reference M, P_0 = M^-1: the Gaussian with covariance K that is closest to that with covariance M. Without,
P_0 = 0: the completion of maximal determinant, whose inverse is zero at the missing entries.
As the other problems minimise, certificates bound ``<P_0, K> - log det K + n + sum_i log K_ii``, which is at least n
and does not depend on the scale of K. Dual: for any P positive definite that equals P_0 at the missing entries,

    log det P - <P - P_0, K> + 2 n + sum_i log K_ii,

in which the missing entries of K have no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from kernelweave.problems.base import Candidate, Certificate, FloatArray

__all__ = ["CompletionProblem"]


@dataclass(frozen=True)
class CompletionProblem:
    """A symmetric matrix with missing entries.

    Parameters
    ----------
    given : ndarray of shape (n, n)
        The matrix; values at missing entries do not matter.
    missing : ndarray of shape (n, n), dtype bool
        Which entries are missing; symmetric, the diagonal is known.
    precision : ndarray of shape (n, n) or None
        P_0, inverse of the reference; None for zero.

    Raises
    ------
    ValueError
        When shapes disagree, the mask is not symmetric or takes a diagonal entry, observed numbers are not
        finite, or the diagonal is not positive.

    Examples
    --------
    >>> given = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> missing = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> problem = CompletionProblem(given, missing)
    >>> full = given + 0.25 * missing
    >>> bool(problem.certify(None, Candidate(extras={"completed": full})).gap < 1e-12)
    True
    """

    given: FloatArray
    missing: npt.NDArray[np.bool_]
    precision: FloatArray | None = None

    def __post_init__(self) -> None:
        n = len(self.given)
        shapes = {self.given.shape, self.missing.shape, *(() if self.precision is None else (self.precision.shape,))}
        if shapes != {(n, n)}:
            raise ValueError(f"matrices must be square and of one shape; got {sorted(shapes)}.")
        if not np.array_equal(self.missing, self.missing.T) or np.diagonal(self.missing).any():
            raise ValueError("missing entries must be symmetric, and the diagonal known.")
        if not np.isfinite(self.given[~self.missing]).all():
            raise ValueError("observed entries must be finite.")
        if not (np.diagonal(self.given) > 0).all():
            raise ValueError("the diagonal must be positive.")

    def value(self, K: FloatArray) -> float:
        """``<P_0, K> - log det K + n + sum_i log K_ii``; inf for a matrix that is not positive definite."""
        factor, info = scipy.linalg.lapack.dpotrf(K, lower=1)
        if info != 0:
            return float("inf")
        value = self._constant - 2.0 * float(np.log(np.diagonal(factor)).sum())
        return value if self.precision is None else value + float(np.vdot(self.precision, K))

    def bound(self, P: FloatArray) -> float:
        """Lower bound of a positive definite P, its missing entries set to those of P_0; -inf if it is not."""
        start = np.zeros_like(P) if self.precision is None else self.precision
        P = np.where(self.missing, start, P)
        factor, info = scipy.linalg.lapack.dpotrf(P, lower=1)
        if info != 0:
            return -float("inf")
        known = np.where(self.missing, 0.0, self.given)
        log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
        return log_det + len(P) + self._constant - float(np.vdot(P - start, known))

    @property
    def _constant(self) -> float:
        return len(self.given) + float(np.log(np.diagonal(self.given)).sum())

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge a completed matrix.

        Parameters
        ----------
        gram : object
            Not needed: everything is in the problem.
        candidate : Candidate
            ``extras["completed"]`` of shape (n, n): observed entries are put back, and its inverse is the
            dual point.

        Returns
        -------
        Certificate
            Of ``<P_0, K> - log det K + n + sum_i log K_ii``.
        """
        K = candidate.extras.get("completed")
        if K is None or K.shape != self.given.shape or not np.isfinite(K).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        kept = np.where(self.missing, 0.5 * (K + K.T), self.given)
        violation = float(np.abs(kept - K).max() / max(float(np.abs(kept).max()), np.finfo(float).tiny))
        primal = self.value(kept)
        dual = self.bound(np.linalg.inv(kept)) if np.isfinite(primal) else -float("inf")
        return Certificate.sound(primal, dual, violation)
