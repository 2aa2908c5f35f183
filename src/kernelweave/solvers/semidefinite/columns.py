"""The SVM's share of the saddle-point system: dual variables, their multipliers, one Cholesky a column.

For each label column k, with scaled kernels and weights x = T xi, the optimality conditions are

    2 (Y K(x) Y alpha + R alpha - e) - s + u + b y = 0,   y'alpha = 0,   alpha s = sigma,  (box - alpha) u = sigma.

Eliminating alpha, s and u leaves a system in (xi, b, t) alone, to which the cone adds its part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import FloatArray
from kernelweave.problems.margin import MarginProblem

__all__ = ["ColumnPoint", "Columns", "step_to_zero"]


@dataclass(frozen=True)
class ColumnPoint:
    """Dual variables, multipliers of their bounds (u is zero without a box) and biases.

    Parameters
    ----------
    alpha, room, s, u : ndarray of shape (k, n)
        Positive. ``room`` is box - alpha, kept for itself so that it does not drown in rounding (ones
        where there is no box).
    b : ndarray of shape (k,)
        Multipliers of ``alpha'y = 0`` (twice the biases).
    """

    alpha: FloatArray
    room: FloatArray
    s: FloatArray
    u: FloatArray
    b: FloatArray

    def moved(self, step: ColumnPoint, length: float) -> ColumnPoint:
        """The point further along a step."""
        return ColumnPoint(
            self.alpha + length * step.alpha,
            self.room + length * step.room,
            self.s + length * step.s,
            self.u + length * step.u,
            self.b + length * step.b,
        )


class Columns:
    """The conditions of the SVM at one point.

    Parameters
    ----------
    problem : MarginProblem
        Labels, box, ridge.
    gram : GramStack
        Labelled blocks.
    scale : ndarray of shape (M,)
        Scale of each kernel (and of the learned ridge).
    span : ndarray of shape (M, M')
        T.
    point : ColumnPoint
        Where.
    xi : ndarray of shape (M',)
        Coordinates of the weights.

    Attributes
    ----------
    products : ndarray of shape (k, M', n)
        Scaled combinations of the kernels times ``y alpha``.
    q : ndarray of shape (M',)
        Their quadratic forms, summed over the columns.
    scores : ndarray of shape (k, n)
        ``K(x) (y alpha)``, the learned ridge included.
    balance : ndarray of shape (k,)
        ``y'alpha``.
    """

    def __init__(
        self, problem: MarginProblem, gram: Any, scale: FloatArray, span: FloatArray, point: ColumnPoint, xi: FloatArray
    ) -> None:
        self.problem, self.gram, self.point = problem, gram, point
        self.weights = scale * (span @ xi)
        self.signed = problem.labels * point.alpha
        self.products = np.stack([span.T @ (scale[:, None] * self._with_ridge(beta)) for beta in self.signed])
        self.q = np.einsum("kjn,kn->j", self.products, self.signed)
        self.scores = np.tensordot(self.products, xi, axes=(1, 0))
        self.balance = self.signed.sum(axis=1)
        self.boxed = np.isfinite(problem.box)
        self.residual = (
            2.0 * (problem.labels * self.scores + problem.fixed_ridge * point.alpha - 1.0)
            - point.s
            + point.u
            + point.b[:, None] * problem.labels
        )

    def _with_ridge(self, beta: FloatArray) -> FloatArray:
        products = self.gram.products(beta)
        return np.vstack([products, self.problem.ridge * beta]) if self.problem.learns_ridge else products

    @property
    def n_pairs(self) -> int:
        """Number of complementary pairs."""
        return int(self.point.alpha.size + self.boxed.sum() * len(self.point.b))

    def complementarity(self, step: ColumnPoint | None = None, length: float = 0.0) -> float:
        """Sum of the complementary products here, or further along a step."""
        p = self.point if step is None else self.point.moved(step, length)
        return float((p.alpha * p.s).sum() + (p.room * p.u).sum())

    def eliminate(self, schur: FloatArray) -> None:
        """Factorise, and subtract the columns' part from a matrix in (xi, b, ...), in place."""
        p, problem = self.point, self.problem
        shift = problem.ridge_at(self.weights) + 0.5 * (p.s / p.alpha + p.u / p.room)
        mu, m = problem.kernel_part(self.weights), self.products.shape[1]
        self._solvers, self._parts = [], []
        for k in range(len(p.b)):
            solve = self.gram.shifted_solve(mu, shift[k])
            border = np.concatenate([2.0 * self.products[k].T, np.ones((shift.shape[1], 1))], axis=1)
            inverse = 0.5 * solve(border)
            at = np.append(np.arange(m), m + k)
            schur[np.ix_(at, at)] -= border.T @ inverse
            self._solvers.append(solve)
            self._parts.append((border, inverse))

    def right_side(self, centre: float, predictor: ColumnPoint | None) -> tuple[FloatArray, FloatArray]:
        """Targets of the complementary products minus their values (with Mehrotra's correction)."""
        p = self.point
        lower, upper = centre - p.alpha * p.s, centre - p.room * p.u
        if predictor is not None:
            lower = lower - predictor.alpha * predictor.s
            upper = upper + predictor.alpha * predictor.u
        return lower, np.where(self.boxed, upper, 0.0)

    def reduce(self, lower: FloatArray, upper: FloatArray, right: FloatArray) -> FloatArray:
        """Subtract the columns' part from a right-hand side in (xi, b, ...), in place; returns what `expand` needs."""
        m, y = self.products.shape[1], self.problem.labels
        # In beta = y alpha the system matrix is K(x) + diag itself, so the signs move to the right-hand sides.
        rhs = y * (lower / self.point.alpha - upper / self.point.room - self.residual)
        partial = np.stack([0.5 * solve(r) for solve, r in zip(self._solvers, rhs, strict=True)])
        for k, (border, _) in enumerate(self._parts):
            change = border.T @ partial[k]
            right[:m] -= change[:m]
            right[m + k] -= self.balance[k] + change[m]
        return partial

    def expand(self, partial: FloatArray, lower: FloatArray, upper: FloatArray, outer: FloatArray) -> ColumnPoint:
        """Step of the columns for a solution (dxi, db, ...) of the reduced system."""
        m, p = self.products.shape[1], self.point
        b = outer[m : m + len(p.b)]
        beta = [partial[k] - inverse @ np.append(outer[:m], b[k]) for k, (_, inverse) in enumerate(self._parts)]
        alpha = self.problem.labels * np.stack(beta)
        s = (lower - p.s * alpha) / p.alpha
        u = np.where(self.boxed, (upper + p.u * alpha) / p.room, 0.0)
        return ColumnPoint(alpha, np.where(self.boxed, -alpha, 0.0), s, u, b)

    def length(self, step: ColumnPoint) -> float:
        """How far everything stays positive along a step (inf when for ever)."""
        p, boxed = self.point, self.boxed
        return min(
            step_to_zero(p.alpha, step.alpha),
            step_to_zero(p.s, step.s),
            step_to_zero(p.room[:, boxed], step.room[:, boxed]),
            step_to_zero(p.u[:, boxed], step.u[:, boxed]),
        )


def step_to_zero(values: FloatArray, change: FloatArray) -> float:
    """Largest a with ``values + a change >= 0`` for positive values; inf when there is no limit."""
    falling = change < 0
    return float(np.min(-values[falling] / change[falling], initial=np.inf))
