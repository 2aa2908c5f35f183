"""Interior point on the weights of kernel ridge regression.

Problem (`RidgeProblem`): minimise F(mu) = sum_k max_alpha 2 alpha't - alpha'(K(mu) + R) alpha, which is convex, over
simplexes. At given weights alpha is the solution of one linear system, so it is eliminated, and with x = mu / c,

    dF/dx = -q,    d^2F/dx^2 = 2 S,    S = c^2 sum_k D_k' P D_k,   D_k = [K_1 alpha_k, .., K_m alpha_k],

q the quadratic forms times c and P the inverse of K(mu) + R on vectors that sum to zero. Method: primal-dual
interior point with Mehrotra's corrector on

    t_g - q_i(x) = w_i,   sum_{i in g} x_i = 1,   x_i w_i = 0,   x, w >= 0,

whose systems have the size of the number of kernels. A step costs one factorisation of K(mu) + R (of the smaller of n
and the number of features where kernels are features) and one pass over the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.ridge import RidgeProblem

__all__ = ["solve_ridge_weights"]

_MAX_STEPS = 100
_TO_BOUNDARY = 0.995
_TINY = 1e-300


class _Fit:
    """Ridge regression at the weights x, and what the next step needs."""

    def __init__(self, problem: RidgeProblem, gram: Any, x: FloatArray) -> None:
        c, ones = problem.budget, np.ones(gram.shape[0])
        solve = gram.shifted_solve(c * x, problem.ridge)
        unit = solve(ones)
        total = float(unit.sum())
        self.alpha = np.empty_like(problem.targets)
        self.q, self.S = np.zeros(len(x)), np.zeros((len(x), len(x)))
        for k, target in enumerate(problem.targets):
            # The bias is the multiplier of sum alpha = 0.
            alpha = solve(target)
            alpha -= unit * (alpha.sum() / total)
            self.alpha[k] = alpha
            image = gram.image(alpha)
            across = image.adjoint(unit)
            self.q += c * image.forms
            self.S += c**2 * (image.schur(solve) - np.outer(across, across) / total)
        self.value = float((self.alpha * problem.targets).sum())


def solve_ridge_weights(
    problem: RidgeProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for nonnegative weights of kernel ridge regression.

    Parameters
    ----------
    problem : RidgeProblem
        Targets, ridge and groups.
    gram : GramStack
        The kernels.
    start, deadline : optional
        Part of the solver contract; an interior point starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights with their dual variables.
    """
    group = problem.groups
    x = 1.0 / np.bincount(group)[group]
    w = t = None
    for _ in range(_MAX_STEPS):
        fit = _Fit(problem, gram, x)
        if w is None or t is None:
            largest = np.zeros(problem.n_groups)
            np.maximum.at(largest, group, fit.q)
            t = 1.1 * largest + _TINY
            w = t[group] - fit.q
        weights = problem.in_budget(x)
        lower = problem.dual_value(fit.alpha, fit.q / problem.budget)
        yield Candidate(weights, fit.alpha, gap=(fit.value - lower) / max(abs(fit.value), _TINY))
        if not float(x @ w) > 0:
            return
        try:
            x, w, t = _step(x, w, t, fit, problem)
        except np.linalg.LinAlgError:
            return
        if not np.isfinite(x).all() or not np.isfinite(w).all():
            return


def _step(
    x: FloatArray, w: FloatArray, t: FloatArray, fit: _Fit, problem: RidgeProblem
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One predictor-corrector step in (x, w, t)."""
    group, m, g = problem.groups, len(x), problem.n_groups
    system = np.zeros((m + g, m + g))
    system[:m, :m] = 2.0 * fit.S
    system[np.arange(m), np.arange(m)] += w / x
    system[np.arange(m), m + group] = system[m + group, np.arange(m)] = 1.0
    factor = scipy.linalg.lu_factor(system, check_finite=False)
    residual = t[group] - fit.q - w
    missing = 1.0 - np.bincount(group, x, g)

    def newton(aim: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        # w/x dx + dw = aim / x - w,  dw = dt + 2 S dx + residual.
        solution = scipy.linalg.lu_solve(factor, np.append(aim / x - w - residual, missing), check_finite=False)
        dx, dt = solution[:m], solution[m:]
        return dx, dt[group] + 2.0 * (fit.S @ dx) + residual, dt

    dx, dw, dt = newton(np.zeros(m))
    now = float(x @ w) / m
    length = min(_longest(x, dx), _longest(w, dw))
    after = float((x + length * dx) @ (w + length * dw)) / m
    dx, dw, dt = newton(np.full(m, (after / now) ** 3 * now) - dx * dw)
    length = min(1.0, _TO_BOUNDARY * min(_longest(x, dx), _longest(w, dw)))
    return x + length * dx, w + length * dw, t + length * dt


def _longest(value: FloatArray, step: FloatArray) -> float:
    falling = step < 0
    return float(np.min(-value[falling] / step[falling], initial=1.0 / _TO_BOUNDARY))
