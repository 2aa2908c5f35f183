"""Primal-dual steps for a quadratic or linear objective over the cone, no support vectors involved.

    min over xi:  h |xi|^2 / 2 - g'xi   s.t.  X(xi) = sum_j xi_j M_j >= 0,  a'xi = 1 (where there is a budget),

with the conditions ``h xi - g - <Z, M> + t a = 0``, ``a'xi = 1``, ``X Z = sigma I``: the HKM direction with
Mehrotra's corrector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelweave.problems.base import FloatArray
from kernelweave.solvers.semidefinite.cone import Cone

__all__ = ["ConeProgram", "ConeProgramPoint"]

_TO_BOUNDARY, _SHORTEST = 0.98, 1e-8


@dataclass(frozen=True)
class ConeProgramPoint:
    """One iterate.

    Parameters
    ----------
    xi : ndarray of shape (m,)
        Coordinates of the weights.
    Z : ndarray of shape (p, p)
        Multiplier of the cone.
    t : float
        Multiplier of the budget; zero without one.
    """

    xi: FloatArray
    Z: FloatArray
    t: float = 0.0


@dataclass(frozen=True)
class ConeProgram:
    """Objective, budget and cone.

    Parameters
    ----------
    matrices : ndarray of shape (m, p, p)
        M_j.
    aim : ndarray of shape (m,)
        g.
    curvature : float
        h, not negative; zero only with a budget.
    budget : ndarray of shape (m,) or None
        a.
    first : ConeProgramPoint
        Where to start: ``xi`` in the interior of the cone, on the budget; ``Z`` is the size of the first
        multiplier, shape (1, 1), in units of the inverse of X.
    gap : callable
        ``gap(xi, forms)``: relative gap of coordinates, given ``<Z, M>``.
    """

    matrices: FloatArray
    aim: FloatArray
    curvature: float
    budget: FloatArray | None
    first: ConeProgramPoint
    gap: Callable[[FloatArray, FloatArray], float]

    def start(self) -> ConeProgramPoint:
        """The interior point, with a multiplier that is central for it."""
        X = np.tensordot(self.first.xi, self.matrices, axes=1)
        Z = np.linalg.inv(X) * float(self.first.Z[0, 0]) / len(X)
        return ConeProgramPoint(self.first.xi, 0.5 * (Z + Z.T), self.first.t)

    def at(self, point: ConeProgramPoint) -> _Iteration:
        """The Newton system at a point."""
        return _Iteration(self, point)


class _Iteration:
    """Residuals, gap and the next point."""

    def __init__(self, program: ConeProgram, point: ConeProgramPoint) -> None:
        self.program, self.point = program, point
        self.cone = Cone(program.matrices, point.xi, point.Z)
        self.centrality = self.cone.complementarity / len(point.Z)
        self.residual = program.curvature * point.xi - program.aim - self.cone.forms
        if program.budget is not None:
            self.residual = self.residual + point.t * program.budget

    def relative_gap(self, xi: FloatArray | None = None) -> float:
        """Gap between the value of these (or other) coordinates and the bound of the multiplier."""
        return self.program.gap(self.point.xi if xi is None else xi, self.cone.forms)

    def advance(self) -> ConeProgramPoint:
        """One predictor-corrector step."""
        system = self._bordered(self.cone.factorise())
        affine, dX, length = self._step(system, 0.0, None)
        ahead = self._complementarity(affine, min(length, 1.0))
        centre = float(np.clip((ahead / self.centrality) ** 3, 1e-6, 1.0)) * self.centrality
        step, _, length = self._step(system, centre, (dX, affine.Z))
        length = min(1.0, _TO_BOUNDARY * length)
        while length > _SHORTEST:
            p = self.point
            moved = ConeProgramPoint(p.xi + length * step.xi, p.Z + length * step.Z, p.t + length * step.t)
            try:
                Cone(self.program.matrices, moved.xi, moved.Z)
            except np.linalg.LinAlgError:
                length *= 0.5
                continue
            return moved
        raise np.linalg.LinAlgError("no step keeps the iterate inside the cone")

    def _bordered(self, schur: FloatArray) -> FloatArray:
        m, a = len(schur), self.program.budget
        schur = schur + self.program.curvature * np.eye(m)
        if a is None:
            return schur
        system = np.zeros((m + 1, m + 1))
        system[:m, :m] = schur
        system[:m, m] = system[m, :m] = a
        return system

    def _step(
        self, system: FloatArray, centre: float, correction: tuple[FloatArray, FloatArray] | None
    ) -> tuple[ConeProgramPoint, FloatArray, float]:
        R, a = self.cone.right_side(centre, correction), self.program.budget
        right = self.cone.inner(R) - self.residual
        if a is not None:
            right = np.append(right, 1.0 - float(a @ self.point.xi))
        outer: FloatArray = np.asarray(np.linalg.solve(system, right), dtype=np.float64)
        dxi = outer[: len(self.point.xi)]
        dX, dZ = self.cone.direction(R, dxi)
        return ConeProgramPoint(dxi, dZ, 0.0 if a is None else float(outer[-1])), dX, self.cone.length(dX, dZ)

    def _complementarity(self, step: ConeProgramPoint, length: float) -> float:
        xi = self.point.xi + length * step.xi
        return float(xi @ self.cone.inner(self.point.Z + length * step.Z)) / len(step.Z)
