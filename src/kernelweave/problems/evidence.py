"""Kernel weights by the likelihood of a Gaussian process: a local criterion with a certificate of its own kind.

    minimise  L(mu) = k/2 log det(S / floor) + tr(U'S^-1 U) / 2,    S = sum_i mu_i K_i + mu_0 I,
    over mu_i >= 0 and noise mu_0 >= floor,  U of k target columns.

Up to constants it is the relative entropy between the targets' covariance and S, in the max-det form. It is convex
in S^-1, but not in mu: log det is concave there. Replacing log det S by its tangent gives a convex problem that
lies above L and touches it; its dual, for any V with ``tr(V'K_i V) <= k tr(S^-1 K_i)`` for every i,

    k/2 (log det(S / floor) - n) + tr(V'U) + floor/2 (k tr(S^-1) - tr(V'V)),

bounds how far L can be lowered that way. The gap is zero exactly at points where no small change of mu lowers L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.problems.base import Candidate, Certificate, FloatArray

__all__ = ["EvidencePoint", "EvidenceProblem"]


@dataclass(frozen=True)
class EvidencePoint:
    """What one set of weights gives.

    Parameters
    ----------
    value : float
        L.
    solved : ndarray of shape (n, k)
        ``S^-1 U``.
    determinant : ndarray of shape (m + 1,)
        ``k tr(S^-1 K_i)``, the noise last: twice the derivatives of the determinant's part.
    fit : ndarray of shape (m + 1,)
        ``tr(U'S^-1 K_i S^-1 U)``, the noise last: minus twice the derivatives of the other part.
    factor : tuple
        Cholesky factor of S, as `scipy.linalg.cho_factor` gives it.
    """

    value: float
    solved: FloatArray
    determinant: FloatArray
    fit: FloatArray
    factor: Any


@dataclass(frozen=True)
class EvidenceProblem:
    """Gaussian process with a learned covariance and learned noise.

    Parameters
    ----------
    columns : ndarray of shape (n, k)
        U, target columns.
    floor : float
        Smallest noise, positive.

    Raises
    ------
    ValueError
        When the columns are not finite or zero, or the floor is not positive.

    Examples
    --------
    With no kernel worth anything, the noise is the variance of the targets:

    >>> from kernelweave.gram.dense import DenseStack
    >>> problem = EvidenceProblem(np.array([[1.0], [-1.0]]), 1e-6)
    >>> judged = problem.certify(DenseStack([np.ones((2, 2))]), Candidate(weights=np.array([0.0, 1.0])))
    >>> bool(judged.relative_gap < 1e-12)
    True
    """

    columns: FloatArray
    floor: float

    def __post_init__(self) -> None:
        if self.columns.ndim != 2 or not np.isfinite(self.columns).all() or not self.columns.any():
            raise ValueError("columns must be a matrix of finite numbers, not all of them zero.")
        if not (self.floor > 0 and np.isfinite(self.floor)):
            raise ValueError(f"floor must be a positive number; got {self.floor!r}.")

    def at(self, gram: Any, weights: FloatArray) -> EvidencePoint:
        """Value and derivatives.

        Parameters
        ----------
        gram : GramStack
            The kernels.
        weights : ndarray of shape (m + 1,)
            mu, the noise last.

        Returns
        -------
        EvidencePoint

        Raises
        ------
        numpy.linalg.LinAlgError
            When S is not numerically positive definite.
        """
        n, k = self.columns.shape
        S = gram.combine(weights[:-1])
        S[np.diag_indices(n)] += weights[-1]
        factor = scipy.linalg.cho_factor(S, lower=True, overwrite_a=True, check_finite=False)
        solved = scipy.linalg.cho_solve(factor, self.columns, check_finite=False)
        log_det = 2.0 * float(np.log(np.diagonal(factor[0])).sum()) - n * float(np.log(self.floor))
        lower, _ = scipy.linalg.lapack.dpotri(factor[0], lower=1)
        inverse = np.tril(lower) + np.tril(lower, -1).T
        fit = np.append(gram.quadratic_forms(solved).sum(axis=1), np.vdot(solved, solved))
        determinant = k * np.append(gram.inner_products(inverse), np.trace(inverse))
        value = 0.5 * k * log_det + 0.5 * float(np.vdot(self.columns, solved))
        return EvidencePoint(value, solved, determinant, fit, factor)

    def bound(self, point: EvidencePoint) -> float:
        """How low the convex problem that touches L at this point can go, at least."""
        n, k = self.columns.shape
        inner = float(np.vdot(self.columns, point.solved))
        value_of_determinant = point.value - 0.5 * inner
        with np.errstate(divide="ignore"):
            # The largest multiple of S^-1 U that is feasible.
            scale = float(np.sqrt((point.determinant / np.maximum(point.fit, 0.0)).min()))
        noise = float(point.determinant[-1] - scale**2 * point.fit[-1])
        return value_of_determinant - 0.5 * n * k + scale * inner + 0.5 * self.floor * noise

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights.

        Parameters
        ----------
        gram : GramStack
            The kernels on the labelled samples.
        candidate : Candidate
            ``weights`` of shape (m + 1,), the noise last.

        Returns
        -------
        Certificate
            L, and the bound of the convex problem that touches it: a gap of zero tells a stationary
            point, which need not be the global minimum.
        """
        weights, missing = candidate.weights, Certificate(float("inf"), -float("inf"), float("inf"))
        if weights is None or weights.shape != (gram.n_kernels + 1,) or not np.isfinite(weights).all():
            return missing
        kept = np.maximum(weights, np.append(np.zeros(gram.n_kernels), self.floor))
        try:
            point = self.at(gram, kept)
        except np.linalg.LinAlgError:
            return missing
        violation = float(np.abs(kept - weights).max() / np.abs(kept).max())
        return Certificate.sound(point.value, self.bound(point), violation)
