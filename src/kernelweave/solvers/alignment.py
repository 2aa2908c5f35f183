"""Kernel weights by alignment: non-negative least squares, and projection on the semidefinite cone.

With v = mu times its multiplier both sets lead to a projection:

    min over v in the set   v'S v / 2 - q'v,        mu = v / sqrt(v'S v)

- nonnegative: least squares in the metric of S with v >= 0 ([L04] (54) for orthonormal rank-one kernels,
  where S = I and v = max(q, 0));
- semidefinite: in orthonormal combinations xi of the kernels, ``min |xi|^2 / 2 - q'xi``, K(xi) >= 0, by a
  primal-dual method (HKM direction) on the whole cone or on growing directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.cone import ConeDual, mixed_until_semidefinite
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE
from kernelweave.solvers.semidefinite.cone import Cone
from kernelweave.solvers.semidefinite.face import face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.growing import solve_growing
from kernelweave.solvers.semidefinite.setting import Setting
from kernelweave.solvers.semidefinite.whole import solve_whole

__all__ = ["solve_alignment", "solve_psd_alignment"]

_SMALL_RANK = 120  # below, the whole cone costs no more
_TO_BOUNDARY, _SHORTEST = 0.98, 1e-8


def solve_alignment(
    problem: AlignmentProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for nonnegative weights.

    Parameters
    ----------
    problem : AlignmentProblem
        q and S.
    gram, start, deadline : optional
        Part of the solver contract; not needed.

    Yields
    ------
    Candidate
        One, with ``mu'S mu = 1``.
    """
    sizes = np.sqrt(np.diagonal(problem.inner))
    q, S = problem.q / sizes, problem.inner / np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(S)
    kept = values > 1e-14 * values[-1]
    # |A v - b|^2 / 2 = v'S v / 2 - q'v + constant, for the q in the range of S (all of it, but for rounding).
    root = np.sqrt(values[kept])
    A, b = root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ q / root
    v, _ = scipy.optimize.nnls(A, b)
    weights = v / sizes
    length = float(weights @ problem.inner @ weights)
    yield Candidate(weights=weights / np.sqrt(length) if length > 0 else weights, gap=0.0)


def solve_psd_alignment(
    problem: PSDAlignmentProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for weights of any sign with a semidefinite combination.

    Parameters
    ----------
    problem : PSDAlignmentProblem
        q and S.
    gram : GramStack
        Kernels over all samples.
    start, deadline : optional
        Part of the solver contract; the method starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights with ``mu'S mu = 1`` and the multiplier of the cone.
    """
    units = gram.shape[0] / gram.traces()
    span = span_of(problem.inner * np.outer(units, units), with_ridge=False)
    aim = span.T @ (units * problem.q)
    uniform: FloatArray = np.asarray(np.linalg.lstsq(span, np.ones(len(units)), rcond=None)[0], dtype=np.float64)

    def small(matrices: FloatArray) -> _Projection:
        return _Projection(matrices, aim, uniform)

    def candidate(iteration: _ProjectionIteration, cone: ConeDual, gap: float, xi: FloatArray) -> Candidate:
        return Candidate(units * (span @ xi) / float(np.linalg.norm(xi)), gap=gap, extras={"cone_dual": cone})

    def feasible(xi: FloatArray) -> bool:
        return mixed_until_semidefinite(gram, units * (span @ xi), gram.traces())[1] <= FEASIBILITY_TOLERANCE

    for floor in face_floors(gram.dtype):
        setting = Setting(gram, find_face(gram, units, floor), units, span, small, candidate, feasible)
        solve = solve_whole if len(setting.face.pivots) <= _SMALL_RANK else solve_growing
        if (yield from solve(setting)):
            return


@dataclass(frozen=True)
class _ProjectionPoint:
    """Coordinates of the weights and multiplier of the cone."""

    xi: FloatArray
    Z: FloatArray


@dataclass(frozen=True)
class _Projection:
    """``min |xi|^2 / 2 - aim'xi`` with ``sum_j xi_j M_j >= 0``.

    Parameters
    ----------
    matrices : ndarray of shape (M', p, p)
        M_j.
    aim : ndarray of shape (M',)
        Point to project.
    inside : ndarray of shape (M',)
        A point in the interior.
    """

    matrices: FloatArray
    aim: FloatArray
    inside: FloatArray

    def start(self) -> _ProjectionPoint:
        """The interior point, at the length that is best for it."""
        xi = self.inside * max(float(self.aim @ self.inside), 1e-3 * float(np.linalg.norm(self.aim)))
        xi = xi / float(self.inside @ self.inside)
        X = np.tensordot(xi, self.matrices, axes=1)
        Z = np.linalg.inv(X) * float(self.aim @ self.aim) / len(X)
        return _ProjectionPoint(xi, 0.5 * (Z + Z.T))

    def at(self, point: _ProjectionPoint) -> _ProjectionIteration:
        """The Newton system at a point."""
        return _ProjectionIteration(self, point)


class _ProjectionIteration:
    """Conditions ``xi - aim = <Z, M>``, ``X Z = sigma I``, and the next point."""

    def __init__(self, projection: _Projection, point: _ProjectionPoint) -> None:
        self.projection, self.point = projection, point
        self.cone = Cone(projection.matrices, point.xi, point.Z)
        self.centrality = self.cone.complementarity / len(point.Z)
        self.residual = point.xi - projection.aim - self.cone.forms

    def relative_gap(self, xi: FloatArray | None = None) -> float:
        """Gap between the alignment of these (or other) coordinates and the bound of the multiplier."""
        xi = self.point.xi if xi is None else xi
        value = float(self.projection.aim @ xi) / float(np.linalg.norm(xi))
        upper = float(np.linalg.norm(self.projection.aim + self.cone.forms))
        return (upper - value) / max(abs(value), np.finfo(float).tiny)

    def advance(self) -> _ProjectionPoint:
        """One predictor-corrector step."""
        system = self.cone.factorise() + np.eye(len(self.point.xi))
        affine, dX, length = self._step(system, 0.0, None)
        ahead = self._complementarity(affine, min(length, 1.0))
        centre = float(np.clip((ahead / self.centrality) ** 3, 1e-6, 1.0)) * self.centrality
        step, _, length = self._step(system, centre, (dX, affine.Z))
        length = min(1.0, _TO_BOUNDARY * length)
        while length > _SHORTEST:
            moved = _ProjectionPoint(self.point.xi + length * step.xi, self.point.Z + length * step.Z)
            try:
                Cone(self.projection.matrices, moved.xi, moved.Z)
            except np.linalg.LinAlgError:
                length *= 0.5
                continue
            return moved
        raise np.linalg.LinAlgError("no step keeps the iterate inside the cone")

    def _step(
        self, system: FloatArray, centre: float, correction: tuple[FloatArray, FloatArray] | None
    ) -> tuple[_ProjectionPoint, FloatArray, float]:
        R = self.cone.right_side(centre, correction)
        dxi: FloatArray = np.asarray(np.linalg.solve(system, self.cone.inner(R) - self.residual), dtype=np.float64)
        dX, dZ = self.cone.direction(R, dxi)
        return _ProjectionPoint(dxi, dZ), dX, self.cone.length(dX, dZ)

    def _complementarity(self, step: _ProjectionPoint, length: float) -> float:
        xi = self.point.xi + length * step.xi
        return float(xi @ self.cone.inner(self.point.Z + length * step.Z)) / len(step.Z)
