"""Kernel weights by large margin ([L04] (27), (44)-(47), math of the nonnegative set).

    minimise over mu >= 0, sum_i mu_i p_i = c:   sum_k omega_k( sum_i mu_i K_i ),

one term for each label column k, all columns sharing the weights. The dual of the minimum is

    max over alpha_k:  sum_k [ 2 alpha_k'e - alpha_k' diag(ridge) alpha_k ] - c max_i q_i / p_i,
    q_i = sum_k alpha_k' Y_k K_i Y_k alpha_k,

so any feasible weights give an upper bound (the primal values at mu) and any feasible
alpha a lower bound. A ridge that is learned ("auto-C") is one more kernel: the profile
``diag(ridge)`` with price ``ridge_price``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, FloatArray
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE, check_classes, feasible_dual, primal_value

__all__ = ["MarginProblem"]


@dataclass(frozen=True)
class MarginProblem:
    """Nonnegative kernel weights of maximal margin.

    Parameters
    ----------
    labels : ndarray of shape (n_columns, n)
        Labels in {-1, +1}; one row for two classes, one row a class for several.
    box : ndarray of shape (n,)
        Upper bounds of the dual variables (s_j C), inf for none.
    ridge : ndarray of shape (n,)
        Ridge tau / s_j of the 2-norm soft margin, zeros without; the profile 1 / s_j where
        the ridge is learned.
    prices : ndarray of shape (m,)
        Positive price p_i of one unit of weight i: the trace of K_i over all samples.
    budget : float
        c, what the weights may cost: ``sum_i mu_i p_i = c``.
    ridge_price : float, optional
        Learn the ridge with this price (the number of all samples); weights then have m + 1 entries.

    Raises
    ------
    ValueError
        When shapes disagree, a label column has one class only, or a price, the box, the ridge
        or the budget is not positive where it must be.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> y = np.array([[1.0, -1.0]])
    >>> problem = MarginProblem(y, np.full(2, np.inf), np.zeros(2), np.array([2.0]), 2.0)
    >>> problem.certify(DenseStack([np.eye(2)]), Candidate(weights=np.ones(1), alpha=np.ones((1, 2)))).gap
    0.0
    """

    labels: FloatArray
    box: FloatArray
    ridge: FloatArray
    prices: FloatArray
    budget: float
    ridge_price: float | None = None

    def __post_init__(self) -> None:
        check_classes(self.labels, self.box, self.ridge)
        costs = np.append(self.all_prices, self.budget)
        if not ((costs > 0) & np.isfinite(costs)).all():
            raise ValueError("prices (of the ridge too) and budget must be positive and finite.")

    @property
    def learns_ridge(self) -> bool:
        """Whether the ridge is one of the weights."""
        return self.ridge_price is not None

    @property
    def all_prices(self) -> FloatArray:
        """Prices with the ridge's as a last entry where it is learned."""
        return self.prices if self.ridge_price is None else np.append(self.prices, self.ridge_price)

    @property
    def fixed_ridge(self) -> FloatArray:
        """The part of the ridge that is no weight."""
        return np.zeros_like(self.ridge) if self.learns_ridge else self.ridge

    @property
    def is_hard(self) -> bool:
        """Neither box nor ridge: the optimum is finite only for separable samples."""
        return bool(np.isinf(self.box).any()) and not self.learns_ridge and not self.ridge.any()

    def ridge_at(self, weights: FloatArray) -> FloatArray:
        """Ridge per sample under these weights."""
        return weights[-1] * self.ridge if self.learns_ridge else self.ridge

    def kernel_part(self, weights: FloatArray) -> FloatArray:
        """The weights of the kernels proper, shape (m,)."""
        return weights[:-1] if self.learns_ridge else weights

    def forms(self, alpha: FloatArray, products: FloatArray) -> FloatArray:
        """Quadratic forms of one column with every kernel, the learned ridge last.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Signed or unsigned dual variables of the column.
        products : ndarray of shape (m, n)
            ``K_i alpha`` at the support of alpha, for the same signs.
        """
        forms = products @ alpha
        return np.append(forms, self.ridge @ alpha**2) if self.learns_ridge else forms

    def dual_value(self, alpha: FloatArray, forms: FloatArray) -> float:
        """Lower bound from feasible dual variables, at their best common scale.

        Parameters
        ----------
        alpha : ndarray of shape (n_columns, n)
            Feasible dual variables.
        forms : ndarray of shape (m,) or (m + 1,)
            Quadratic forms q_i summed over the columns.
        """
        scale, total, curvature = self.best_scale(alpha, forms)
        return 2.0 * scale * total - scale**2 * curvature

    def best_scale(self, alpha: FloatArray, forms: FloatArray) -> tuple[float, float, float]:
        """Scale of alpha with the largest dual value, with the linear and quadratic coefficients."""
        total = float(alpha.sum())
        curvature = self.budget * float(np.max(forms / self.all_prices)) + float(self.fixed_ridge @ (alpha**2).sum(0))
        used = alpha.max(axis=0)
        with np.errstate(over="ignore"):
            room = float(np.min(self.box[used > 0] / used[used > 0], initial=np.inf))
        scale = min(total / curvature, room) if curvature > 0 else 1.0
        return scale, total, curvature

    def primal_value(self, weights: FloatArray, signed: FloatArray, scores: FloatArray) -> float:
        """Upper bound at feasible weights.

        Parameters
        ----------
        weights : ndarray of shape (m,) or (m + 1,)
            Feasible weights.
        signed : ndarray of shape (n_columns, n)
            ``y_j alpha_j``: the coefficients of w.
        scores : ndarray of shape (n_columns, n)
            ``K(mu) signed_k`` for every column.
        """
        ridge = self.ridge_at(weights)
        return float(
            sum(
                primal_value(float(b @ f), f, y, self.box, ridge)
                for b, f, y in zip(signed, scores, self.labels, strict=True)
            )
        )

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Judge weights and dual variables.

        Parameters
        ----------
        gram : GramStack
            The labelled blocks of the kernels, n x n.
        candidate : Candidate
            ``weights`` of shape (m,) or (m + 1,); ``alpha`` of shape (n_columns, n), from which w
            is made and, unless ``dual_alpha`` is given, the lower bound too.

        Returns
        -------
        Certificate
            Costs one pass over the stack and m quadratic forms.
        """
        # Numbers from anywhere may overflow; what comes of it bounds nothing.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            dual, violation = self._judge_dual(
                gram, candidate.alpha if candidate.dual_alpha is None else candidate.dual_alpha
            )
            weights, off_budget = self._feasible_weights(candidate.weights)
            primal = float("inf")
            if weights is not None and self._is_dual_point(candidate.alpha):
                signed = self.labels * np.clip(candidate.alpha, 0.0, self.box)
                scores = gram.matvec(self.kernel_part(weights), signed.T).T
                primal = self.primal_value(weights, signed, scores)
        return Certificate.sound(primal, dual, float(np.maximum(violation, off_budget)))

    def _is_dual_point(self, alpha: FloatArray | None) -> TypeGuard[FloatArray]:
        return alpha is not None and alpha.shape == self.labels.shape and bool(np.isfinite(alpha).all())

    def _judge_dual(self, gram: Any, alpha: FloatArray | None) -> tuple[float, float]:
        """Lower bound and violation of dual variables."""
        if not self._is_dual_point(alpha):
            return -float("inf"), float("inf")
        repaired = [feasible_dual(a, y, self.box) for a, y in zip(alpha, self.labels, strict=True)]
        clean = np.stack([a for a, _ in repaired])
        violation = float(np.max([v for _, v in repaired]))
        if not violation <= FEASIBILITY_TOLERANCE:
            return -float("inf"), violation
        forms = [self.forms(b, gram.support_products(b)) for b in self.labels * clean]
        return self.dual_value(clean, np.sum(forms, axis=0)), violation

    def _feasible_weights(self, weights: FloatArray | None) -> tuple[FloatArray | None, float]:
        if weights is None or weights.shape != self.all_prices.shape or not np.isfinite(weights).all():
            return None, float("inf")
        cost = np.maximum(weights, 0.0) @ self.all_prices
        violation = float((np.abs(np.minimum(weights, 0.0)) @ self.all_prices + abs(cost - self.budget)) / self.budget)
        if not violation <= FEASIBILITY_TOLERANCE or cost <= 0:
            return None, violation
        return np.maximum(weights, 0.0) * (self.budget / cost), violation
