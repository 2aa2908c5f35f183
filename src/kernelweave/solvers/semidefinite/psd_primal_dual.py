"""Primal-dual interior point for kernel weights of any sign: the whole cone at once.

Problem (`PSDMarginProblem`), with kernels scaled to the whole budget and weights x summing to one:

    min over x, K(x) >= 0:  max over alpha  sum_k [2 alpha_k'e - alpha_k' R alpha_k - alpha_k' Y_k K(x) Y_k alpha_k].

Method: the HKM direction with Mehrotra's corrector in (alpha, x, Z) jointly
(`kernelweave.solvers.semidefinite.saddle`), after facial reduction; `solve_psd_subspace` gets by with a few directions.
Source: the SDP is [L04] (26), (31), (36), (41), (45).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.cone import ConeDual
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE
from kernelweave.solvers.ray import unbounded_direction
from kernelweave.solvers.semidefinite.face import face_floors, find_face, span_of
from kernelweave.solvers.semidefinite.saddle import Saddle, SaddleIteration
from kernelweave.solvers.semidefinite.setting import Setting
from kernelweave.solvers.semidefinite.whole import solve_whole

__all__ = ["margin_settings", "solve_psd_primal_dual"]


def solve_psd_primal_dual(
    problem: PSDMarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for kernel weights of any sign with a positive semidefinite combination.

    Parameters
    ----------
    problem : PSDMarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        The kernels over all n samples, the labelled ones first.
    start, deadline : optional
        Part of the solver contract; an interior point starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights, dual variables, biases and the multiplier of the cone (``extras["cone_dual"]``);
        at the end of a non-separable hard margin, a ray.
    """
    for setting in margin_settings(problem, gram):
        if (yield from solve_whole(setting)):
            return


def margin_settings(problem: PSDMarginProblem, gram: Any) -> Iterator[Setting]:
    """The problem on finer and finer faces, to be tried in turn.

    Parameters
    ----------
    problem : PSDMarginProblem
        The problem.
    gram : GramStack
        The kernels over all n samples, the labelled ones first.

    Yields
    ------
    Setting
    """
    labelled = gram.restrict(np.arange(problem.labels.shape[1], dtype=np.intp))
    scale = problem.budget / problem.all_prices
    units = problem.kernel_part(scale)
    span = span_of(gram.frobenius_products() * np.outer(units, units), with_ridge=problem.learns_ridge)

    def small(matrices: FloatArray) -> Saddle:
        return Saddle(problem, labelled, scale, span, matrices)

    def candidate(iteration: SaddleIteration, cone: ConeDual, gap: float, xi: FloatArray) -> Candidate:
        columns, weights = iteration.point.columns, iteration.weights_at(xi)
        found = Candidate(weights, columns.alpha, 0.5 * columns.b, gap=gap, extras={"cone_dual": cone})
        ray = unbounded_direction(problem, labelled, found) if problem.is_hard else None
        return found if ray is None else replace(found, ray=ray)

    def feasible(xi: FloatArray) -> bool:
        weights = scale * (span @ xi)
        weights = weights * (problem.budget / (weights @ problem.all_prices))
        return problem.feasible_weights(gram, weights)[1] <= FEASIBILITY_TOLERANCE

    for floor in face_floors(gram.dtype):
        yield Setting(gram, find_face(gram, units, floor), units, span, small, candidate, feasible)
