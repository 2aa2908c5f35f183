"""Kernel weights for the squared loss: kernel ridge regression whose kernel is learned.

    minimise over mu >= 0, sum of mu in each group = c:   sum_k omega_k( sum_i mu_i K_i ),
    omega_k(K) = min over w, b of  ||w||^2 + sum_j (t_kj - f_kj - b_k)^2 / ridge_j
               = max over alpha_k with sum alpha_k = 0 of  2 alpha_k't_k - alpha_k'(K + diag(ridge)) alpha_k,

the 2-norm criterion of [L04] without its box, with targets in place of labels. So weights are judged as those of a
large margin are: any feasible mu gives an upper bound, any alpha that sums to zero the lower bound

    sum_k [ 2 alpha_k't_k - alpha_k' diag(ridge) alpha_k ] - c sum_g max_{i in g} q_i,
    q_i = sum_k alpha_k'K_i alpha_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.base import IntArray
from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE

__all__ = ["RidgeProblem"]


@dataclass(frozen=True)
class RidgeProblem:
    """Nonnegative kernel weights of kernel ridge regression with an intercept.

    Parameters
    ----------
    targets : ndarray of shape (n_columns, n)
        Finite values to predict; all columns share the weights.
    ridge : ndarray of shape (n,)
        Positive: 1 / (s_j C) for a sample of weight s_j.
    groups : ndarray of shape (m,), dtype intp
        Group of each kernel, numbered from 0 without gaps.
    budget : float, default=1.0
        c, the sum of the weights of each group.

    Raises
    ------
    ValueError
        When shapes disagree or a number is not finite or positive where it must be.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> problem = RidgeProblem(np.array([[1.0, -1.0]]), np.ones(2), np.zeros(1, dtype=np.intp))
    >>> problem.certify(DenseStack([np.eye(2)]), Candidate(weights=np.ones(1), alpha=np.array([[0.5, -0.5]])))
    Certificate(primal=1.0, dual=1.0, infeasibility=0.0)
    """

    targets: FloatArray
    ridge: FloatArray
    groups: IntArray
    budget: float = 1.0

    def __post_init__(self) -> None:
        if self.targets.ndim != 2 or self.ridge.shape != self.targets.shape[1:]:
            raise ValueError(
                f"targets must have shape (n_columns, n) and ridge (n,); got {self.targets.shape}, {self.ridge.shape}."
            )
        if not np.isfinite(self.targets).all():
            raise ValueError("targets must be finite.")
        positive = np.append(self.ridge, self.budget)
        if not ((positive > 0) & np.isfinite(positive)).all():
            raise ValueError("ridge and budget must be positive and finite.")
        if not np.array_equal(np.unique(self.groups), np.arange(self.groups.max(initial=0) + 1)):
            raise ValueError("groups must number the groups from 0 without gaps, one number a kernel.")

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.groups.max()) + 1

    def in_budget(self, weights: FloatArray) -> FloatArray:
        """Nonnegative weights scaled so that every group costs c."""
        return weights * (self.budget / np.bincount(self.groups, weights, self.n_groups))[self.groups]

    def forms(self, gram: Any, alpha: FloatArray) -> FloatArray:
        """Quadratic forms q_i summed over the columns, shape (m,)."""
        return np.asarray(np.sum([gram.quadratic_forms(a) for a in alpha], axis=0))

    def dual_value(self, alpha: FloatArray, forms: FloatArray) -> float:
        """Lower bound from dual variables that sum to zero, at their best common scale."""
        largest = np.zeros(self.n_groups)
        np.maximum.at(largest, self.groups, forms)
        total = float((alpha * self.targets).sum())
        curvature = self.budget * float(largest.sum()) + float(self.ridge @ (alpha**2).sum(axis=0))
        return total**2 / curvature if curvature > 0 else 0.0

    def intercepts(self, scores: FloatArray) -> FloatArray:
        """Best intercepts for scores of shape (n_columns, n): means of the residuals, weighted."""
        weight = 1.0 / self.ridge
        return np.asarray((self.targets - scores) @ weight / weight.sum())

    def primal_value(self, norms: FloatArray, scores: FloatArray) -> float:
        """Upper bound from squared norms of w, shape (n_columns,), and scores, at the best intercepts."""
        residuals = self.targets - scores - self.intercepts(scores)[:, None]
        return float(norms.sum() + (residuals**2 / self.ridge).sum())

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights and dual variables.

        Parameters
        ----------
        gram : GramStack
            The kernels, n x n.
        candidate : Candidate
            ``weights`` of shape (m,); ``alpha`` of shape (n_columns, n), from which w and the lower bound are made.

        Returns
        -------
        Certificate
            Costs one pass over the stack and m quadratic forms.
        """
        alpha, weights = candidate.alpha, candidate.weights
        nothing = Certificate(float("inf"), -float("inf"), float("inf"))
        if alpha is None or alpha.shape != self.targets.shape or not np.isfinite(alpha).all():
            return nothing
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            balanced = alpha - alpha.mean(axis=1, keepdims=True)
            mass = float(np.abs(alpha).sum())
            violation = float(np.abs(alpha.sum(axis=1)).sum()) / mass if mass > 0 else 0.0
            dual = -float("inf")
            if violation <= FEASIBILITY_TOLERANCE:
                dual = self.dual_value(balanced, self.forms(gram, balanced))
            feasible, off = self._feasible(weights)
            primal = float("inf")
            if feasible is not None:
                scores = gram.matvec(feasible, balanced.T).T
                primal = self.primal_value((balanced * scores).sum(axis=1), scores)
        return Certificate.sound(primal, dual, max(violation, off))

    def _feasible(self, weights: FloatArray | None) -> tuple[FloatArray | None, float]:
        if weights is None or weights.shape != self.groups.shape or not np.isfinite(weights).all():
            return None, float("inf")
        positive = np.maximum(weights, 0.0)
        cost = np.bincount(self.groups, positive, self.n_groups)
        off = float(((positive - weights).sum() + np.abs(cost - self.budget).sum()) / self.budget)
        if not off <= FEASIBILITY_TOLERANCE or (cost <= 0).any():
            return None, off
        return self.in_budget(positive), off
