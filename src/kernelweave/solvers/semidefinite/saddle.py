"""Primal-dual steps for weights of any sign: SVM columns and cone in one Newton system.

With kernels scaled to the whole budget, weights x = T xi (T a basis of their span), a = T'e, cone
matrices M_j and X(xi) = sum_j xi_j M_j, the conditions beyond those of `Columns` are

    q_j(alpha) + <Z, M_j> = t a_j,    a'xi = 1,    X(xi) Z = sigma I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.problems.base import FloatArray
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.columns import ColumnPoint, Columns
from kernelweave.solvers.semidefinite.cone import Cone

__all__ = ["Saddle", "SaddlePoint"]

_TO_BOUNDARY = 0.98
_SHORTEST = 1e-8


@dataclass(frozen=True)
class SaddlePoint:
    """One iterate.

    Parameters
    ----------
    columns : ColumnPoint
        The SVM's variables.
    xi : ndarray of shape (M',)
        Coordinates of the weights.
    Z : ndarray of shape (p, p)
        Multiplier of the cone.
    t : float
        Multiplier of the budget.
    """

    columns: ColumnPoint
    xi: FloatArray
    Z: FloatArray
    t: float


@dataclass(frozen=True)
class Saddle:
    """The problem in scaled form, with the cone as given by some matrices.

    Parameters
    ----------
    problem : PSDMarginProblem
        Labels, box, ridge, prices, budget.
    labelled : GramStack
        Labelled blocks of the kernels.
    scale : ndarray of shape (M,)
        Scale that makes each kernel (and the learned ridge) cost the whole budget.
    span : ndarray of shape (M, M')
        T.
    matrices : ndarray of shape (M', p, p)
        M_j.
    """

    problem: PSDMarginProblem
    labelled: Any
    scale: FloatArray
    span: FloatArray
    matrices: FloatArray

    @property
    def uniform(self) -> FloatArray:
        """Coordinates of the uniform weights."""
        M = len(self.span)
        return np.linalg.lstsq(self.span, np.full(M, 1.0 / M), rcond=None)[0]

    def start(self) -> SaddlePoint:
        """A point in the interior: uniform weights, all samples alike."""
        problem, xi = self.problem, self.uniform
        positive, boxed = problem.labels > 0, np.isfinite(problem.box)
        counts = np.where(positive, positive.sum(axis=1, keepdims=True), (~positive).sum(axis=1, keepdims=True))
        alpha = 1.0 / counts
        curvature = float(xi @ self._forms(alpha, xi)) + float(problem.fixed_ridge @ (alpha**2).sum(axis=0))
        alpha = np.minimum(alpha * (alpha.sum() / curvature), 0.5 * problem.box)
        room = np.where(boxed, problem.box - alpha, 1.0)
        u = np.where(boxed, np.ones_like(alpha), 0.0)
        columns = ColumnPoint(alpha, room, np.ones_like(alpha), u, np.zeros(len(alpha)))
        X = np.tensordot(xi, self.matrices, axes=1)
        Z = float(alpha.mean()) * np.linalg.inv(X)
        t = float(xi @ self._forms(alpha, xi)) + len(X) * float(alpha.mean())
        return SaddlePoint(columns, xi, 0.5 * (Z + Z.T), t)

    def _forms(self, alpha: FloatArray, xi: FloatArray) -> FloatArray:
        flat = np.zeros_like(alpha)
        point = ColumnPoint(alpha, flat + 1.0, flat, flat, flat[:, 0])
        return Columns(self.problem, self.labelled, self.scale, self.span, point, xi).q

    def at(self, point: SaddlePoint) -> SaddleIteration:
        """The Newton system at a point."""
        return SaddleIteration(self, point)


class SaddleIteration:
    """Residuals, gap and the next point.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the point has left the cone, or a factorisation fails.
    """

    def __init__(self, saddle: Saddle, point: SaddlePoint) -> None:
        self.saddle, self.point = saddle, point
        self.columns = Columns(saddle.problem, saddle.labelled, saddle.scale, saddle.span, point.columns, point.xi)
        self.cone = Cone(saddle.matrices, point.xi, point.Z)
        self.a = saddle.span.sum(axis=0)
        self.r_forms = self.columns.q + self.cone.forms - point.t * self.a
        self.r_budget = 1.0 - float(self.a @ point.xi)
        self.n_pairs = self.columns.n_pairs + len(point.Z)
        self.centrality = (self.columns.complementarity() + self.cone.complementarity) / self.n_pairs

    @property
    def weights(self) -> FloatArray:
        """Weights on the budget, shape (M,)."""
        return self.weights_at(self.point.xi)

    def weights_at(self, xi: FloatArray) -> FloatArray:
        """Weights of other coordinates, on the budget."""
        return self.saddle.scale * (self.saddle.span @ xi) / float(self.a @ xi)

    def relative_gap(self, xi: FloatArray | None = None) -> float:
        """Gap between these dual variables and the weights of this point, or of other coordinates.

        The multiplier's equations count as met, up to their average; the problem's certificate does not.
        """
        problem, columns, xi = self.saddle.problem, self.columns, self.point.xi if xi is None else xi
        weights, alpha = self.weights_at(xi), columns.point.alpha
        scores = np.tensordot(columns.products, xi / float(self.a @ xi), axes=(1, 0))
        if problem.learns_ridge:
            scores = scores - problem.ridge_at(weights) * columns.signed
        primal = problem.primal_value(weights, columns.signed, scores)
        if not np.isfinite(primal):
            return float("inf")
        level = float(self.point.xi @ (columns.q + self.cone.forms)) / float(self.a @ self.point.xi)
        dual = 2.0 * float(alpha.sum()) - float(problem.fixed_ridge @ (alpha**2).sum(axis=0)) - level
        imbalance = float(np.abs(columns.balance).sum() / alpha.sum())
        return (primal - dual) / max(abs(primal), np.finfo(float).tiny) + imbalance

    def advance(self) -> SaddlePoint:
        """One predictor-corrector step."""
        k, m = len(self.point.columns.b), len(self.point.xi)
        schur = np.zeros((m + k + 1, m + k + 1))
        schur[:m, :m] = -self.cone.factorise()
        schur[:m, -1] = schur[-1, :m] = -self.a
        self.columns.eliminate(schur)
        self._schur = schur
        affine, length = self._step(0.0, None)
        now, ahead = self.centrality, self._complementarity(affine, min(length, 1.0))
        centre = float(np.clip((ahead / now) ** 3, 1e-6, 1.0)) * now
        step, length = self._step(centre, affine)
        length = min(1.0, _TO_BOUNDARY * length)
        p = self.point
        while length > _SHORTEST:
            moved = SaddlePoint(
                p.columns.moved(step.columns, length),
                p.xi + length * step.xi,
                p.Z + length * step.Z,
                p.t + length * step.t,
            )
            if self._inside(moved):
                return moved
            length *= 0.5
        raise np.linalg.LinAlgError("no step keeps the iterate inside the cone")

    def _inside(self, point: SaddlePoint) -> bool:
        X = np.tensordot(point.xi, self.saddle.matrices, axes=1)
        try:
            np.linalg.cholesky(X)
            np.linalg.cholesky(point.Z)
        except np.linalg.LinAlgError:
            return False
        return True

    def _step(self, centre: float, affine: SaddlePoint | None) -> tuple[SaddlePoint, float]:
        """Newton step towards a complementarity, and how far it may go."""
        k, m = len(self.point.columns.b), len(self.point.xi)
        lower, upper = self.columns.right_side(centre, None if affine is None else affine.columns)
        correction = None if affine is None else (np.tensordot(affine.xi, self.saddle.matrices, axes=1), affine.Z)
        R = self.cone.right_side(centre, correction)
        right = np.zeros(m + k + 1)
        right[:m] = -self.r_forms - self.cone.inner(R)
        right[-1] = -self.r_budget
        partial = self.columns.reduce(lower, upper, right)
        outer: FloatArray = np.asarray(np.linalg.solve(self._schur, right), dtype=np.float64)
        columns = self.columns.expand(partial, lower, upper, outer)
        dX, dZ = self.cone.direction(R, outer[:m])
        step = SaddlePoint(columns, outer[:m], dZ, float(outer[-1]))
        return step, min(self.columns.length(columns), self.cone.length(dX, dZ))

    def _complementarity(self, step: SaddlePoint, length: float) -> float:
        Z = self.point.Z + length * step.Z
        xi = self.point.xi + length * step.xi
        cone = float(xi @ self.cone.inner(Z))
        return (self.columns.complementarity(step.columns, length) + cone) / self.n_pairs
