"""The l2 penalty through one n x n matrix.

For p = q = 2 the optimal coefficients are alpha_t = K_t' w / lam with w the slopes of the loss, so

    f = M w / lam + b,     M = sum_t K_t K_t',

and the problem lives in the n slopes: minimise loss(M w / lam + b) + w'M w / (2 lam). Newton's
method on the optimality condition w = slopes(f) reaches the exact solution of the piecewise
quadratic losses in finitely many steps; M is formed once, and handed on along a path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import blas

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.mixed_norm import MixedNormProblem

__all__ = ["outer_products", "solve_ridge"]

_MAX_STEPS = 100
_BLOCK_BYTES = 16 * 2**20


def outer_products(gram: Any) -> FloatArray:
    """``sum_t K_t K_t'``, shape (n_samples, n_samples), in one pass over the stack by blocks of columns.

    Parameters
    ----------
    gram : GramStack
        The kernels, each n_samples x n_points.
    """
    n, n_points = gram.shape
    total = np.zeros((n, n), order="F")
    rows = np.arange(n, dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for t in range(gram.n_kernels):
        for first in range(0, n_points, step):
            columns = np.arange(first, min(first + step, n_points), dtype=np.intp)
            block = gram.read(np.array([t], dtype=np.intp), rows, columns)[0]
            # The symmetric update: half the work of a product.
            total = blas.dsyrk(1.0, block.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    upper = np.triu_indices(n, 1)
    total[upper] = total.T[upper]
    return total


class _Iteration:
    """Slopes w with z = K'w and the scores K z / lam, and the value of the problem at alpha = z / lam.

    The scores go through K, not through M: M has the square of its condition.
    """

    def __init__(self, problem: MixedNormProblem, w: FloatArray, z: FloatArray, fitted: FloatArray) -> None:
        self.w, self.z, self.fitted = w, z, fitted
        self.b = problem.bias_for(self.fitted)
        self.scores = self.fitted + self.b
        self.norm = 0.5 * float(np.vdot(z, z)) / problem.strength
        self.value = problem.loss.value(self.scores) + self.norm

    @classmethod
    def at(cls, problem: MixedNormProblem, gram: Any, w: FloatArray) -> _Iteration:
        """The iteration at slopes w: two passes over the kernels."""
        z = gram.adjoint(w)
        return cls(problem, w, z, gram.apply(z) / problem.strength)


def solve_ridge(
    problem: MixedNormProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for coefficients under the l2 penalty.

    Parameters
    ----------
    problem : MixedNormProblem
        With penalty p = q = 2.
    gram : GramStack
        The kernels, each n_samples x n_points.
    start : Candidate, optional
        Read for what an earlier run on the same kernels left in ``extras``: M and the slopes.
    deadline : float, optional
        Part of the solver contract; the driver keeps the time.

    Yields
    ------
    Candidate
        Coefficients and bias after each Newton step; ``extras`` holds "outer_products" and "slopes".

    Raises
    ------
    ValueError
        For another penalty.
    """
    if (problem.penalty.p, problem.penalty.q) != (2, 2):
        raise ValueError(f"solve_ridge is for the l2 penalty only; got {problem.penalty}.")
    extras = {} if start is None else start.extras
    matrix = extras.get("outer_products")
    if matrix is None:
        matrix = outer_products(gram)
    w = extras.get("slopes")
    if w is None:
        w = np.zeros(gram.shape[0])
    now = _Iteration.at(problem, gram, w)
    for _ in range(_MAX_STEPS):
        yield _candidate(problem, now, matrix)
        following = _newton(problem, gram, matrix, now)
        if following is None:
            return
        now = following


def _candidate(problem: MixedNormProblem, now: _Iteration, matrix: FloatArray) -> Candidate:
    # Where w is feasible it is the better dual point: the slopes magnify what the scores are off.
    w = problem.loss.feasible(now.w, problem.intercept)
    scale = problem.loss.best_scale(w, now.norm, np.inf)
    gap = np.inf
    if np.allclose(w, now.w, rtol=1e-6, atol=1e-9 * float(np.abs(w).max())):
        dual = problem.loss.dual_value(scale * w) - scale**2 * now.norm
        gap = max(now.value - dual, 0.0) / max(abs(now.value), np.finfo(float).tiny)
    return Candidate(
        alpha=now.z / problem.strength,
        bias=np.array([now.b]),
        gap=gap,
        dual_alpha=w[None],
        extras={"outer_products": matrix, "slopes": now.w},
    )


def _newton(problem: MixedNormProblem, gram: Any, matrix: FloatArray, now: _Iteration) -> _Iteration | None:
    """One damped step towards w = slopes(M w / lam + b); None when the value cannot fall any more."""
    loss, lam = problem.loss, problem.strength
    slopes, curvatures = loss.slopes(now.scores), loss.curvatures(now.scores)
    active = np.flatnonzero(curvatures > 1e-12 * loss.smoothness)
    # On the active samples (M / lam + 1 / curvature) w + b = scores + slopes / curvature; the others keep their slopes.
    target = slopes.copy()
    inactive = np.ones(len(target), dtype=bool)
    inactive[active] = False
    if len(active):
        block = matrix[np.ix_(active, active)] / lam
        block[np.diag_indices_from(block)] += 1.0 / curvatures[active]
        rhs = now.scores[active] + slopes[active] / curvatures[active]
        if inactive.any() and target[inactive].any():
            rhs -= matrix[np.ix_(active, inactive)] @ target[inactive] / lam
        target[active] = _bordered(block, rhs, -float(target[inactive].sum()), problem.intercept)
    whole = _Iteration.at(problem, gram, target)
    length = 1.0
    while length > 1e-8:
        parts = zip((now.w, now.z, now.fitted), (whole.w, whole.z, whole.fitted), strict=True)
        trial = _Iteration(problem, *(old + length * (new - old) for old, new in parts))
        if trial.value < now.value:
            return trial
        length *= 0.5
    return None


def _bordered(block: FloatArray, rhs: FloatArray, total: float, intercept: bool) -> FloatArray:
    """Solve ``block w + b = rhs`` with ``sum w = total`` for a free b, or with b = 0."""
    factor = scipy.linalg.cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
    w = scipy.linalg.cho_solve(factor, rhs, check_finite=False)
    if intercept:
        ones = scipy.linalg.cho_solve(factor, np.ones(len(rhs)), check_finite=False)
        w -= ones * ((w.sum() - total) / ones.sum())
    return np.asarray(w)
