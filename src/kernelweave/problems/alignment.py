"""Kernel weights by alignment with the labels ([L04] (49)-(56), Theorem 23).

    maximise q'mu   s.t.  mu'S mu <= 1,  mu in the set,
    q_i = <K_i, T> on the labelled samples,  S_ij = <K_i, K_j>_F over all samples,

T = yy' for two classes. The sets are mu >= 0 (`AlignmentProblem`) and K(mu) semidefinite
(`PSDAlignmentProblem`). [L04] (50) prints trace(K) = 1 beside <K, K> = 1; that is a leftover. As the other
problems minimise, certificates bound ``-q'mu``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.cone import ConeDual, inverse_root, mixed_until_semidefinite

__all__ = ["AlignmentProblem", "PSDAlignmentProblem"]


@dataclass(frozen=True)
class AlignmentProblem:
    """Nonnegative kernel weights of maximal alignment.

    Parameters
    ----------
    q : ndarray of shape (m,)
        Inner products of the kernels with the target.
    inner : ndarray of shape (m, m)
        S, inner products of the kernels.

    Raises
    ------
    ValueError
        When shapes disagree, numbers are not finite, a kernel is zero, or no kernel is aligned with the labels.

    Examples
    --------
    >>> problem = AlignmentProblem(np.array([3.0, 4.0]), np.eye(2))
    >>> problem.certify(None, Candidate(weights=np.array([3.0, 4.0]))).primal
    -5.0
    """

    q: FloatArray
    inner: FloatArray

    def __post_init__(self) -> None:
        m = len(self.q)
        if self.q.shape != (m,) or self.inner.shape != (m, m):
            raise ValueError(f"q must have shape (m,) and inner (m, m); got {self.q.shape} and {self.inner.shape}.")
        if not np.isfinite(self.q).all() or not np.isfinite(self.inner).all():
            raise ValueError("q and inner must be finite.")
        if not (np.diagonal(self.inner) > 0).all():
            raise ValueError(f"Kernel {int(np.argmin(np.diagonal(self.inner)))} is zero; leave it out.")
        if not (self.q > 0).any():
            raise ValueError(
                "No kernel is aligned with the labels: <K_i, yy'> is not positive for any of them, so there is "
                "nothing to maximise. Use other kernels, or margin-based weights."
            )

    def value(self, weights: FloatArray) -> float:
        """``q'mu`` after scaling to ``mu'S mu = 1``; -inf for weights without length."""
        length = float(weights @ self.inner @ weights)
        return float(self.q @ weights) / math.sqrt(length) if length > 0 else -float("inf")

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights, of any length.

        Parameters
        ----------
        gram : object
            Not needed: everything is in q and S.
        candidate : Candidate
            ``weights`` of shape (m,).

        Returns
        -------
        Certificate
            Of ``-q'mu``. The bound: where q <= k S mu in every component, every feasible nu has
            q'nu <= k nu'S mu <= k sqrt(mu'S mu).
        """
        weights = candidate.weights
        if weights is None or weights.shape != self.q.shape or not np.isfinite(weights).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        kept = np.maximum(weights, 0.0)
        violation = float(np.abs(weights - kept).max() / max(float(np.abs(weights).max()), np.finfo(float).tiny))
        slope = self.inner @ kept
        wanted = self.q > 0
        with np.errstate(divide="ignore"):
            k = float((self.q[wanted] / np.maximum(slope[wanted], 0.0)).max())
        upper = k * float(np.sqrt(max(float(kept @ slope), 0.0)))
        return Certificate(-self.value(kept), -upper if np.isfinite(upper) else -float("inf"), violation)


@dataclass(frozen=True)
class PSDAlignmentProblem(AlignmentProblem):
    """Weights of any sign, with a semidefinite combination, of maximal alignment.

    Parameters are those of `AlignmentProblem`.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> gram = DenseStack([np.eye(2), np.array([[1.0, -0.5], [-0.5, 1.0]])])
    >>> problem = PSDAlignmentProblem(np.array([2.0, 3.0]), gram.frobenius_products())
    >>> problem.certify(gram, Candidate(weights=np.array([-1.0, 2.0]))).primal
    -2.0
    """

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights and the multiplier of the cone.

        Parameters
        ----------
        gram : GramStack
            The kernels over all samples.
        candidate : Candidate
            ``weights`` of shape (m,), of any length, and ``extras["cone_dual"]`` (Z = 0 without).

        Returns
        -------
        Certificate
            Of ``-q'mu``. For any semidefinite Z the maximum is at most that over all mu of
            ``(q + <Z, K>)'mu``, which is the length of ``q + <Z, K>`` in the metric of S^-1.
        """
        violation, primal = float("inf"), float("inf")
        weights = candidate.weights
        if weights is not None and weights.shape == self.q.shape and np.isfinite(weights).all():
            mixed, violation = mixed_until_semidefinite(gram, weights, gram.traces())
            primal = float("inf") if mixed is None else -self.value(mixed)
        raised = inverse_root(self.inner).T @ (self.q + self._forms(gram, candidate.extras.get("cone_dual")))
        return Certificate(primal, -float(np.linalg.norm(raised)), violation)

    def feasible_weights(self, gram: Any, weights: FloatArray) -> FloatArray:
        """Weights with ``mu'S mu = 1``, mixed with uniform ones until in the cone.

        Parameters
        ----------
        gram : GramStack
            The kernels over all samples.
        weights : ndarray of shape (m,)
            Weights of any length.
        """
        mixed, _ = mixed_until_semidefinite(gram, weights, gram.traces())
        chosen = weights if mixed is None else mixed
        return chosen / math.sqrt(float(chosen @ self.inner @ chosen))

    def _forms(self, gram: Any, cone: ConeDual | None) -> FloatArray:
        """``<Z, K_i>`` with Z made semidefinite."""
        if cone is None or not np.isfinite(cone.basis).all() or not np.isfinite(cone.core).all():
            return np.zeros_like(self.q)
        values, vectors = np.linalg.eigh(0.5 * (cone.core + cone.core.T))
        root = cone.basis @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return np.einsum("inp,np->i", gram.block_products(root), root)
