"""Indefinite kernels with a mixed-norm penalty ([K09] (2)).

For kernels K_1..K_T, any real matrices (row = sample where f is evaluated, column = expansion point),

    minimise over alpha, b:   loss(f) + (lam/q) ||alpha||_{pq;r}^q,     f = sum_t K_t alpha_t + b.

With w = -d loss / d f and z = K'w (one row an expansion point, one column a kernel), the Fenchel dual is

    max over w:   D(w) - (lam Omega)*(z),     sum_i w_i = 0 when b is free,

so the slopes of the loss at any alpha and its best bias, scaled to be feasible, give a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.losses import Loss
from kernelweave.problems.penalties import MixedNorm

__all__ = ["MixedNormProblem"]


@dataclass(frozen=True)
class MixedNormProblem:
    """Coefficients of indefinite kernels under a mixed norm.

    Parameters
    ----------
    loss : Loss
        Loss of the scores on the targets.
    penalty : MixedNorm
        The norm of the coefficients.
    strength : float
        lam, positive.
    intercept : bool
        Add an unpenalised bias, re-optimised exactly for any coefficients.

    Raises
    ------
    ValueError
        When the strength is not positive and finite, or a free bias meets labels of one class only.

    Examples
    --------
    >>> from kernelweave.gram.rectangular import RectangularStack
    >>> from kernelweave.problems.losses import SquaredLoss
    >>> loss = SquaredLoss(np.array([2.0, -2.0]), np.ones(2))
    >>> problem = MixedNormProblem(loss, MixedNorm(1, 1), strength=2.0)
    >>> problem.certify(RectangularStack([np.eye(2)]), Candidate(alpha=np.array([[1.0], [-1.0]])))
    Certificate(primal=6.0, dual=6.0, infeasibility=0.0)
    """

    loss: Loss
    penalty: MixedNorm
    strength: float
    intercept: bool = True

    def __post_init__(self) -> None:
        if not (self.strength > 0 and np.isfinite(self.strength)):
            raise ValueError(f"The strength of the penalty must be positive and finite; got {self.strength}.")
        if self.intercept and not self.loss.bounded_bias:
            raise ValueError("A free intercept needs labels of both classes; got one class only.")

    @property
    def n_samples(self) -> int:
        """Number of samples the loss is summed over."""
        return len(self.loss.y)

    def bias_for(self, scores: FloatArray) -> float:
        """Best bias for scores without bias; zero when there is none."""
        return self.loss.best_bias(scores) if self.intercept else 0.0

    def objective(self, alpha: FloatArray, scores: FloatArray) -> float:
        """Value of (2).

        Parameters
        ----------
        alpha : ndarray of shape (n_points, n_kernels)
            Coefficients.
        scores : ndarray of shape (n_samples,)
            ``sum_t K_t alpha_t + b``.
        """
        return self.loss.value(scores) + self.strength * self.penalty.value(alpha)

    def dual_objective(self, w: FloatArray, z: FloatArray) -> float:
        """Lower bound from slopes at their best common scale.

        Parameters
        ----------
        w : ndarray of shape (n_samples,)
            Slopes in the domain of the conjugate, of sum zero when there is a bias.
        z : ndarray of shape (n_points, n_kernels)
            ``(K_t' w)_t``.
        """
        curvature, limit = 0.0, np.inf
        if self.penalty.q == 1:
            norm = self.penalty.dual_norm(z)
            limit = self.strength / norm if norm > 0 else np.inf
        else:
            curvature = self.penalty.conjugate(z) / self.strength
        scale = self.loss.best_scale(w, curvature, limit)
        return self.loss.dual_value(scale * w) - scale**2 * curvature

    def alpha_max(self, gram: Any) -> float:
        """Smallest strength at which all coefficients are zero; inf for q = 2, where none is.

        Parameters
        ----------
        gram : GramStack
            The kernels.
        """
        if self.penalty.q == 2:
            return float("inf")
        nothing = np.zeros(self.n_samples)
        return self.penalty.dual_norm(gram.adjoint(self.loss.slopes(nothing + self.bias_for(nothing))))

    def path_start(self, gram: Any) -> float:
        """Strength to begin a path with: `alpha_max`, or where the coefficients lower the loss by a hundredth at most.

        Parameters
        ----------
        gram : GramStack
            The kernels.
        """
        nothing = np.zeros(self.n_samples)
        scores = nothing + self.bias_for(nothing)
        z = gram.adjoint(self.loss.slopes(scores))
        if self.penalty.q == 1:
            return self.penalty.dual_norm(z)
        # With the slopes at zero as the dual point the optimum is at least the loss there less this over the strength.
        return 100.0 * self.penalty.conjugate(z) / self.loss.value(scores)

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge coefficients.

        Parameters
        ----------
        gram : GramStack
            The kernels, each n_samples x n_points.
        candidate : Candidate
            ``alpha`` of shape (n_points, n_kernels); ``bias`` of shape (1,), the best one when None;
            ``dual_alpha`` of shape (1, n_samples), slopes that may give a better lower bound (optional).

        Returns
        -------
        Certificate
            Costs two passes over the stack (one more with ``dual_alpha``).
        """
        alpha = candidate.alpha
        if alpha is None or alpha.shape != (gram.shape[1], gram.n_kernels) or not np.isfinite(alpha).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        scores = gram.apply(alpha)
        best = self.bias_for(scores)
        primal = self.objective(alpha, scores + self._given_bias(candidate, best))
        if np.isnan(primal):
            primal = float("inf")
        dual = self._lower_bound(gram, self.loss.slopes(scores + best))
        if candidate.dual_alpha is not None and candidate.dual_alpha.shape == (1, self.n_samples):
            dual = max(dual, self._lower_bound(gram, candidate.dual_alpha[0]))
        return Certificate(primal, dual)

    def _given_bias(self, candidate: Candidate, best: float) -> float:
        if not self.intercept:
            return 0.0
        return best if candidate.bias is None else float(candidate.bias[0])

    def _lower_bound(self, gram: Any, w: FloatArray) -> float:
        if not np.isfinite(w).all():
            return -float("inf")
        feasible = self.loss.feasible(w, balanced=self.intercept)
        return self.dual_objective(feasible, gram.adjoint(feasible))
