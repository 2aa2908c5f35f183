"""A linear function over semidefinite combinations of kernels at a fixed trace, by a primal-dual method.

With kernels scaled to cost the whole budget and weights x = T xi, T an orthonormal basis of their span:

    max g'xi   s.t.  a'xi = 1,  K(xi) >= 0,      g = T'(u q),  a = T'e,  u_i = c / r_i.

The whole cone at once where its rank is low, growing directions elsewhere (`kernelweave.solvers.semidefinite`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.cone import ConeDual, mixed_until_semidefinite
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE
from kernelweave.problems.trace_maximum import TraceMaximumProblem
from kernelweave.solvers.semidefinite.face import face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.growing import solve_growing
from kernelweave.solvers.semidefinite.program import ConeProgram, ConeProgramPoint
from kernelweave.solvers.semidefinite.setting import Setting
from kernelweave.solvers.semidefinite.whole import solve_whole

__all__ = ["solve_trace_maximum"]

_SMALL_RANK = 120  # below, the whole cone costs no more


def solve_trace_maximum(
    problem: TraceMaximumProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for weights of any sign that maximise ``q'mu``.

    Parameters
    ----------
    problem : TraceMaximumProblem
        q, traces and budget.
    gram : GramStack
        The kernels.
    start, deadline : optional
        Part of the solver contract; the method starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights on the budget and the multiplier of the cone.
    """
    units = problem.budget / problem.prices
    span = span_of(gram.frobenius_products() * np.outer(units, units), with_ridge=False)
    aim, budget = span.T @ (units * problem.q), span.sum(axis=0)
    m = len(units)
    uniform: FloatArray = np.asarray(np.linalg.lstsq(span, np.full(m, 1.0 / m), rcond=None)[0], dtype=np.float64)
    first = ConeProgramPoint(uniform / float(budget @ uniform), np.full((1, 1), float(np.abs(units * problem.q).max())))

    def relative_gap(xi: FloatArray, forms: FloatArray) -> float:
        value, held = float(aim @ xi) / float(budget @ xi), aim + forms
        level = float(budget @ held) / float(budget @ budget)
        upper = level + float(np.linalg.norm(level * budget - held))
        return (upper - value) / max(abs(value), np.finfo(float).tiny)

    def small(matrices: FloatArray) -> ConeProgram:
        return ConeProgram(matrices, aim, 0.0, budget, first, relative_gap)

    def candidate(iteration: Any, cone: ConeDual, gap: float, xi: FloatArray) -> Candidate:
        return Candidate(units * (span @ xi) / float(budget @ xi), gap=gap, extras={"cone_dual": cone})

    def feasible(xi: FloatArray) -> bool:
        return mixed_until_semidefinite(gram, units * (span @ xi), problem.prices)[1] <= FEASIBILITY_TOLERANCE

    for floor in face_floors(gram.dtype):
        setting = Setting(gram, find_face(gram, units, floor), units, span, small, candidate, feasible)
        solve = solve_whole if len(setting.face.pivots) <= _SMALL_RANK else solve_growing
        if (yield from solve(setting)):
            return
