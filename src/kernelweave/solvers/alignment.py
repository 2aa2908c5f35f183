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
from typing import Any

import numpy as np
import scipy.optimize

from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.cone import ConeDual, mixed_until_semidefinite
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE
from kernelweave.solvers.semidefinite.face import face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.growing import solve_growing
from kernelweave.solvers.semidefinite.program import ConeProgram, ConeProgramPoint
from kernelweave.solvers.semidefinite.setting import Setting
from kernelweave.solvers.semidefinite.whole import solve_whole

__all__ = ["solve_alignment", "solve_psd_alignment"]

_SMALL_RANK = 120  # below, the whole cone costs no more


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

    # The uniform weights, at the length that is best for them.
    length = max(float(aim @ uniform), 1e-3 * float(np.linalg.norm(aim))) / float(uniform @ uniform)
    first = ConeProgramPoint(length * uniform, np.full((1, 1), float(aim @ aim)))

    def relative_gap(xi: FloatArray, forms: FloatArray) -> float:
        value, upper = float(aim @ xi) / float(np.linalg.norm(xi)), float(np.linalg.norm(aim + forms))
        return (upper - value) / max(abs(value), np.finfo(float).tiny)

    def small(matrices: FloatArray) -> ConeProgram:
        return ConeProgram(matrices, aim, 1.0, None, first, relative_gap)

    def candidate(iteration: Any, cone: ConeDual, gap: float, xi: FloatArray) -> Candidate:
        return Candidate(units * (span @ xi) / float(np.linalg.norm(xi)), gap=gap, extras={"cone_dual": cone})

    def feasible(xi: FloatArray) -> bool:
        return mixed_until_semidefinite(gram, units * (span @ xi), gram.traces())[1] <= FEASIBILITY_TOLERANCE

    for floor in face_floors(gram.dtype):
        setting = Setting(gram, find_face(gram, units, floor), units, span, small, candidate, feasible)
        solve = solve_whole if len(setting.face.pivots) <= _SMALL_RANK else solve_growing
        if (yield from solve(setting)):
            return
