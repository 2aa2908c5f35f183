"""Completion of a kernel matrix by Newton steps on its missing entries.

Problem: `kernelweave.problems.completion`, convex in the missing entries X: the gradient is ``P_0 - K^-1`` there, the
Hessian maps D to ``K^-1 D K^-1`` there. A step solves with it by conjugate gradients, two products of n x n matrices
an iteration, scaled by the diagonal ``P_ii P_jj + P_ij^2``; it is shortened until K is positive definite and the
value has fallen. The start need not be positive definite: a multiple of the diagonal is added to the observed
entries, and taken away as fast as the completions found so far allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.completion import CompletionProblem

__all__ = ["solve_completion"]

_MAX_STEPS, _CG_STEPS = 100, 200
_HALVINGS = 40
_SUFFICIENT = 1e-4
_FIRST_LIFT, _SMALLEST_LIFT = 2.0, 1e-4
_TAKEN = 0.7  # share of the way to singularity that a lift is lowered at once
_CENTRING_STEPS, _CENTRED = 30, 0.05  # a fall of log det below which a completion is central enough


def solve_completion(
    problem: CompletionProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Complete a matrix.

    Parameters
    ----------
    problem : CompletionProblem
        The matrix and its reference.
    gram, deadline : optional
        Part of the solver contract; not needed.
    start : Candidate, optional
        ``extras["completed"]``, a positive definite completion.

    Yields
    ------
    Candidate
        ``extras["completed"]``; none when no positive definite completion was found.
    """
    K = _first(problem) if start is None else np.where(problem.missing, start.extras["completed"], problem.given)
    if K is None:
        return
    for _ in range(_MAX_STEPS):
        inverse = _inverse(K)
        value = problem.value(K)
        gap = value - problem.bound(inverse)
        yield Candidate(gap=gap / max(abs(value), np.finfo(float).tiny), extras={"completed": K})
        moved = _newton_step(problem, K, inverse, value)
        if moved is None:
            return
        K = moved


def _first(problem: CompletionProblem) -> FloatArray | None:
    """A positive definite completion: with a heavier diagonal first, which is then taken away."""
    diagonal = np.diag(np.diagonal(problem.given))
    known = np.where(problem.missing, 0.0, problem.given)
    if np.isfinite(problem.value(known)):
        return known
    lift = _FIRST_LIFT
    while not np.isfinite(problem.value(known + lift * diagonal)):
        lift *= 4.0
        if lift > 1e8:
            return None
    K = known + lift * diagonal
    for _ in range(_MAX_STEPS):
        K = _central(CompletionProblem(K, problem.missing), K)
        room = _TAKEN * _distance(K, diagonal)
        if room >= lift:
            return K - lift * diagonal
        if room < _SMALLEST_LIFT * lift:
            return None
        K, lift = K - room * diagonal, lift - room
    return None


def _central(raised: CompletionProblem, K: FloatArray) -> FloatArray:
    """Near the completion of largest determinant, which leaves most room below."""
    for _ in range(_CENTRING_STEPS):
        value = raised.value(K)
        moved = _newton_step(raised, K, _inverse(K), value)
        if moved is None:
            break
        K = moved
        if value - raised.value(K) < _CENTRED:
            break
    return K


def _inverse(K: FloatArray) -> FloatArray:
    inverse: FloatArray = np.asarray(np.linalg.inv(K), dtype=np.float64)
    return 0.5 * (inverse + inverse.T)


def _distance(K: FloatArray, diagonal: FloatArray) -> float:
    """Largest t with ``K - t diag`` semidefinite."""
    root = 1.0 / np.sqrt(np.diagonal(diagonal))
    return float(np.linalg.eigvalsh(root[:, None] * K * root)[0])


def _newton_step(problem: CompletionProblem, K: FloatArray, inverse: FloatArray, value: float) -> FloatArray | None:
    missing = problem.missing
    start = 0.0 if problem.precision is None else problem.precision
    gradient = np.where(missing, start - inverse, 0.0)
    D = _direction(missing, inverse, -gradient)
    slope, length = float(np.vdot(gradient, D)), 1.0
    if not slope < 0:
        return None
    for _ in range(_HALVINGS):
        moved = K + length * D
        ahead = problem.value(moved)
        if ahead <= value + _SUFFICIENT * length * slope and ahead < value:
            return moved
        length *= 0.5
    return None


def _direction(missing: Any, inverse: FloatArray, right: FloatArray) -> FloatArray:
    """Solve ``(P D P) = right`` at the missing entries, D zero elsewhere, by scaled conjugate gradients."""
    diagonal = np.diagonal(inverse)
    scale = np.where(missing, 1.0 / (np.outer(diagonal, diagonal) + inverse**2), 0.0)
    D, residual = np.zeros_like(right), right.copy()
    scaled = scale * residual
    towards, level = scaled.copy(), float(np.vdot(residual, scaled))
    # As exact as the point deserves: superlinear near the end.
    target = level * min(0.01, level)
    for _ in range(_CG_STEPS):
        if level <= target or level == 0.0:
            break
        image = np.where(missing, inverse @ towards @ inverse, 0.0)
        length = level / float(np.vdot(towards, image))
        D += length * towards
        residual -= length * image
        scaled = scale * residual
        ahead = float(np.vdot(residual, scaled))
        towards, level = scaled + (ahead / level) * towards, ahead
    return 0.5 * (D + D.T)
