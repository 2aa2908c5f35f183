"""A monotone transform and a linear classifier on it ([H07] (2), math of LMono).

For ramp weights m in a simplex for each group of features, phi(x_f) = sum_j m_j phi_j(x_f) and

    F(m) = sum_k omega_k( phi(X) phi(X)' ) = sum_k max_alpha 2 alpha'e - alpha'ridge alpha - sum_f w_f(m)^2,
    w_f(m) = sum_j m_j w_fj,   w_fj = (Y alpha)'phi_j(x_f).

F is not convex in m. Its convex relaxation is a `MarginProblem` on the ramp kernels, whose lower
bounds hold for F: the certificate's gap says how far from the best any transform can be,
whether or not a search found it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import primal_value

__all__ = ["MonotoneProblem"]


@dataclass(frozen=True)
class MonotoneProblem:
    """One transform for each group of features, learned with the classifier.

    Parameters
    ----------
    convex : MarginProblem
        The relaxation: labels, box, ridge, unit prices and budget, groups of the ramps.

    Raises
    ------
    ValueError
        When prices or budget are not one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.gram.ramps.ramps import RampStack
    >>> from kernelweave.kernels.monotone.ramps import Ramps
    >>> ramps = Ramps((np.array([0.0, 1.0]),), np.zeros(1, dtype=np.intp))
    >>> stack = RampStack(ramps.cells(np.array([[0.0], [1.0]])))
    >>> convex = MarginProblem(np.array([[-1.0, 1.0]]), np.full(2, 9.0), np.zeros(2), np.ones(1), 1.0)
    >>> MonotoneProblem(convex).certify(stack, Candidate(weights=np.ones(1), alpha=np.full((1, 2), 2.0)))
    Certificate(primal=4.0, dual=4.0, infeasibility=0.0)
    """

    convex: MarginProblem

    def __post_init__(self) -> None:
        if (self.convex.all_prices != 1).any() or self.convex.budget != 1:
            raise ValueError("Ramp weights are priced at one each, with a budget of one.")

    def feature_weights(self, gram: Any, weights: FloatArray, alpha: FloatArray) -> FloatArray:
        """Weights w of the transformed features for dual variables.

        Parameters
        ----------
        gram : RampStack
            Samples on their ramps.
        weights : ndarray of shape (m,)
            Ramp weights.
        alpha : ndarray of shape (n_columns, n)
            Dual variables.

        Returns
        -------
        ndarray of shape (n_columns, n_features)
            Those against a feature's direction are zero.
        """
        by_column = weights[gram.kernel_of]
        raw = [gram.by_feature(by_column * gram.unrestricted(beta)) for beta in self.convex.labels * alpha]
        directions = gram.feature_directions
        return np.stack([np.where(directions * w >= 0, w, 0.0) for w in raw])

    def scores(self, gram: Any, weights: FloatArray, feature_weights: FloatArray) -> FloatArray:
        """Scores ``w'phi(x)`` without bias, shape (n_columns, n)."""
        by_column = weights[gram.kernel_of]
        return np.stack([gram.forward(by_column * gram.to_columns(w)) for w in feature_weights])

    def gradient(self, gram: Any, weights: FloatArray, alpha: FloatArray) -> FloatArray:
        """Gradient of F at its maximiser alpha, shape (m,): ``-2 sum_f w_f w_fj``."""
        total = np.zeros(len(weights))
        for beta, w in zip(self.convex.labels * alpha, self.feature_weights(gram, weights, alpha), strict=True):
            total -= 2.0 * gram.sum_by_kernel(gram.unrestricted(beta) * gram.to_columns(w))
        return total

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge ramp weights and dual variables.

        Parameters
        ----------
        gram : RampStack
            Samples on their ramps.
        candidate : Candidate
            ``weights`` of shape (m,), ``alpha`` of shape (n_columns, n); ``dual_alpha``, where given, is
            a dual point of the relaxation.

        Returns
        -------
        Certificate
            Primal value of the classifier that the transform and alpha make; lower bound of the
            relaxation, hence of every transform.
        """
        relaxed = self.convex.certify(gram, candidate)
        if candidate.weights is None or candidate.alpha is None or not np.isfinite(relaxed.primal):
            return Certificate(float("inf"), relaxed.dual, relaxed.infeasibility)
        weights = self.convex.in_budget(np.maximum(candidate.weights, 0.0))
        alpha = np.clip(candidate.alpha, 0.0, self.convex.box)
        w = self.feature_weights(gram, weights, alpha)
        primal = self.primal_value(w, self.scores(gram, weights, w))
        return Certificate.sound(primal, relaxed.dual, relaxed.infeasibility)

    def primal_value(self, feature_weights: FloatArray, scores: FloatArray) -> float:
        """Value of a linear classifier on transformed features, at its best biases."""
        problem = self.convex
        return sum(
            primal_value(float(w @ w), f, y, problem.box, problem.ridge)
            for w, f, y in zip(feature_weights, scores, problem.labels, strict=True)
        )
