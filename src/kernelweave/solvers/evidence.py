"""Kernel weights by the likelihood of a Gaussian process: average-information steps, safe ones where they fail.

Problem: `kernelweave.problems.evidence`. The curvature is that of the fit alone, halved ("average information":
the mean of the observed and the expected one), which costs m products with vectors and is always semidefinite; a
quadratic program in the m weights keeps them nonnegative, and a step is shortened until L falls. Where that fails,
``mu_i sqrt(fit_i / determinant_i)`` minimises the convex majoriser up to a rescaling and never raises L.

Source: Gilmour, Thompson, Cullis, "Average information REML", Biometrics 51, 1995, for the curvature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.evidence import EvidencePoint, EvidenceProblem

__all__ = ["solve_evidence"]

_MAX_STEPS = 300
_SAFE_FIRST = 2  # majorising steps at the start, far from any quadratic model
_HALVINGS = 8
_SUFFICIENT = 1e-4
_FLAT = 1e-14


def solve_evidence(
    problem: EvidenceProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Descend from equal shares of the variance.

    Parameters
    ----------
    problem : EvidenceProblem
        Targets and the smallest noise.
    gram : GramStack
        The kernels on the labelled samples.
    start : Candidate, optional
        Weights to start from, the noise last.
    deadline : float, optional
        Part of the solver contract; the driver keeps the time.

    Yields
    ------
    Candidate
        Weights with the noise last; L never rises.
    """
    lowest = np.append(np.zeros(gram.n_kernels), problem.floor)
    mu = _equal_shares(problem, gram) if start is None or start.weights is None else np.maximum(start.weights, lowest)
    point = problem.at(gram, mu)
    gap = (point.value - problem.bound(point)) / point.value
    for step in range(_MAX_STEPS):
        yield Candidate(weights=mu.copy(), gap=gap, extras={"local_minimum": True})
        moved = None if step < _SAFE_FIRST else _second_order(problem, gram, mu, point, lowest)
        if moved is None:
            ratio = point.fit / np.maximum(point.determinant, np.finfo(float).tiny)
            target = np.maximum(mu * np.sqrt(ratio), lowest)
            moved = target, problem.at(gram, target)
        before, (mu, point) = (point.value, gap), moved
        gap = (point.value - problem.bound(point)) / point.value
        # Where L is flat to rounding, the derivatives still tell how far there is to go.
        if point.value > before[0] * (1.0 + _FLAT) or (point.value >= before[0] and gap >= before[1]):
            return


def _equal_shares(problem: EvidenceProblem, gram: Any) -> FloatArray:
    n, k = problem.columns.shape
    variance = max(float(np.vdot(problem.columns, problem.columns)) / (n * k), 2.0 * problem.floor)
    sizes = np.maximum(gram.traces() / n, np.finfo(float).tiny)
    return np.append(0.5 * variance / (gram.n_kernels * sizes), 0.5 * variance)


def _second_order(
    problem: EvidenceProblem, gram: Any, mu: FloatArray, point: EvidencePoint, lowest: FloatArray
) -> tuple[FloatArray, EvidencePoint] | None:
    """The minimiser of the quadratic model, approached until L falls enough; None when it does not."""
    gradient = 0.5 * (point.determinant - point.fit)
    target = _model_minimiser(_curvature(gram, point), gradient, mu, lowest)
    slope, length = float(gradient @ (target - mu)), 1.0
    if not slope < 0:
        return None
    for _ in range(_HALVINGS):
        moved = np.maximum(mu + length * (target - mu), lowest)
        try:
            ahead = problem.at(gram, moved)
        except np.linalg.LinAlgError:
            length *= 0.5
            continue
        if ahead.value <= point.value + _SUFFICIENT * length * slope + _FLAT * point.value:
            return moved, ahead
        length *= 0.5
    return None


def _curvature(gram: Any, point: EvidencePoint) -> FloatArray:
    """Average information ``tr(V'K_i S^-1 K_j V) / 2``, shape (m + 1, m + 1)."""
    images = np.concatenate([gram.block_products(point.solved), point.solved[None]])
    flat = images.transpose(1, 0, 2).reshape(len(point.solved), -1)
    solved = scipy.linalg.cho_solve(point.factor, flat, check_finite=False).reshape(-1, *images.shape[::2])
    return 0.5 * np.einsum("ink,njk->ij", images, solved, optimize=True)


def _model_minimiser(H: FloatArray, gradient: FloatArray, mu: FloatArray, lowest: FloatArray) -> FloatArray:
    """Minimise ``gradient'd + d'Hd / 2`` over ``mu + d >= lowest``, as non-negative least squares."""
    sizes = np.sqrt(np.maximum(np.diagonal(H), np.finfo(float).tiny))
    scaled = H / np.outer(sizes, sizes)
    # Kernels that say the same make the model flat along their difference: stay near there.
    factor = np.linalg.cholesky(0.5 * (scaled + scaled.T) + 1e-8 * np.eye(len(H)))
    room = sizes * (mu - lowest)
    right = factor.T @ room - scipy.linalg.solve_triangular(factor, gradient / sizes, lower=True)
    found, _ = scipy.optimize.nnls(factor.T, right)
    return lowest + found / sizes
