"""Primal-dual interior point for nonnegative kernel weights.

Problem (`MarginProblem`), with weights in units of the budget, x_i = mu_i p_i / c, K_i scaled by c / p_i:

    max over alpha, t:  sum_k [2 alpha_k'e - alpha_k' R alpha_k] - t
    s.t.  t >= q_i(alpha),  0 <= alpha_k <= box,  alpha_k'y_k = 0.

Method: Mehrotra's predictor-corrector on the perturbed KKT system in (alpha, x, b, t) jointly,
multipliers s (alpha >= 0), u (alpha <= box), w (slack of the quadratic constraints). A step costs one
factorisation of K(mu) + diag a column and two passes over the stack; the stack solves the shifted
system, so dense and factor kernels share this loop. Meant for small n, many kernels, hard margins
and high accuracy. Source: the QCQP is [L04] (27), (37), (42), (46).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import feasible_dual
from kernelweave.solvers.ray import unbounded_direction

__all__ = ["solve_interior_point"]

_MAX_STEPS = 200
_TO_BOUNDARY = 0.995
_FLOOR = 1e-20  # complementarity, relative to the objective, below which a step is rounding only
_OWN = 0.1  # share of the samples' own terms in the first quadratic forms
_WORTH_ROUNDING = 1e-2  # gap below which a sparse solution is looked for
_CLEARLY = 1e-4  # a variable this much smaller than its multiplier is at its bound


@dataclass(frozen=True)
class _Variables:
    """A point or a step: dual variables, weights in units of the budget, and their multipliers."""

    alpha: FloatArray  # (k, n)
    room: FloatArray  # (k, n), box - alpha without its rounding; ones where there is no box
    s: FloatArray  # (k, n)
    u: FloatArray  # (k, n), zeros where there is no box
    x: FloatArray  # (M,)
    w: FloatArray  # (M,)
    b: FloatArray  # (k,)
    t: float

    def moved(self, length: float, step: _Variables) -> _Variables:
        return _Variables(
            self.alpha + length * step.alpha,
            self.room + length * step.room,
            self.s + length * step.s,
            self.u + length * step.u,
            self.x + length * step.x,
            self.w + length * step.w,
            self.b + length * step.b,
            self.t + length * step.t,
        )


class _Iteration:
    """The KKT system at one point."""

    def __init__(self, problem: MarginProblem, gram: Any, point: _Variables) -> None:
        self.problem, self.gram, self.p = problem, gram, point
        self.unit = problem.budget / problem.all_prices
        self.weights = point.x * self.unit
        self.boxed = np.isfinite(problem.box)
        self.signed = problem.labels * point.alpha
        self.products = [self._products(beta) for beta in self.signed]
        self.q = sum((d @ beta for d, beta in zip(self.products, self.signed, strict=True)), np.zeros(len(point.x)))
        # n.b. scores include the learned ridge, which is one of the kernels here.
        self.scores = np.stack([point.x @ d for d in self.products])
        self._residuals()

    def _products(self, beta: FloatArray) -> FloatArray:
        # alpha > 0 everywhere, so the support is everything, and symmetry halves the reading.
        products = self.gram.support_products(beta)
        if self.problem.learns_ridge:
            products = np.vstack([products, self.problem.ridge * beta])
        products *= self.unit[:, None]
        return products

    def _residuals(self) -> None:
        p, problem = self.p, self.problem
        self.r_alpha = (
            2.0 * (problem.labels * self.scores + problem.fixed_ridge * p.alpha - 1.0)
            - p.s
            + p.u
            + p.b[:, None] * problem.labels
        )
        self.r_budget = 1.0 - p.x.sum()
        self.r_balance = self.signed.sum(axis=1)
        self.r_forms = self.q - p.t + p.w

    @property
    def exhausted(self) -> bool:
        """Whether floating point allows no further progress (variables would go on to underflow)."""
        return self.complementarity() <= _FLOOR * abs(self.p.t)

    def complementarity(self, step: _Variables | None = None, length: float = 0.0) -> float:
        p, n_pairs = self.p, self.p.alpha.size + self.p.u[:, self.boxed].size + len(self.p.x)
        if step is None:
            return float((p.alpha * p.s).sum() + (p.room * p.u).sum() + p.x @ p.w) / n_pairs
        total = ((p.alpha + length * step.alpha) * (p.s + length * step.s)).sum()
        total += ((p.room + length * step.room) * (p.u + length * step.u))[:, self.boxed].sum()
        total += (p.x + length * step.x) @ (p.w + length * step.w)
        return float(total) / n_pairs

    def factorise(self) -> None:
        """Prepare the Schur complement in (x, b, t): everything that does not depend on the right-hand side."""
        p, problem = self.p, self.problem
        k, m = len(p.b), len(p.x)
        shift = problem.ridge_at(self.weights) + 0.5 * (p.s / p.alpha + p.u / p.room)
        mu = problem.kernel_part(self.weights)
        self.solvers, self.inverse_columns = [], []
        schur = np.zeros((m + k + 1, m + k + 1))
        for j in range(k):
            solve = self.gram.shifted_solve(mu, shift[j])
            columns = np.concatenate([2.0 * self.products[j].T, np.ones((len(shift[j]), 1))], axis=1)
            inverse = 0.5 * solve(columns)
            at = np.append(np.arange(m), m + j)
            schur[np.ix_(at, at)] -= columns.T @ inverse
            self.solvers.append(solve)
            self.inverse_columns.append((columns, inverse))
        schur[np.arange(m), np.arange(m)] -= p.w / p.x
        schur[:m, -1] = schur[-1, :m] = -1.0
        self.schur = schur

    def solve(self, c_alpha: FloatArray, c_box: FloatArray, c_x: FloatArray) -> _Variables:
        """Newton step for right-hand sides of the three complementarity conditions."""
        p, k, m = self.p, len(self.p.b), len(self.p.x)
        y = self.problem.labels
        # Work with beta = y alpha: H = Y (2 K + ...) Y, so the signs move to the right-hand sides.
        rhs = y * (-self.r_alpha - c_alpha / p.alpha + c_box / p.room)
        partial = np.stack([0.5 * solve(r) for solve, r in zip(self.solvers, rhs, strict=True)])
        right = np.zeros(m + k + 1)
        right[:m] = -self.r_forms + c_x / p.x
        right[m : m + k] = -self.r_balance
        right[-1] = -self.r_budget
        for j, (columns, _) in enumerate(self.inverse_columns):
            change = columns.T @ partial[j]
            right[:m] -= change[:m]
            right[m + j] -= change[m]
        outer = np.asarray(np.linalg.solve(self.schur, right), dtype=np.float64)
        x, b, t = outer[:m], outer[m : m + k], float(outer[-1])
        beta = np.stack(
            [partial[j] - inverse @ np.append(x, b[j]) for j, (_, inverse) in enumerate(self.inverse_columns)]
        )
        alpha = y * beta
        s = (-c_alpha - p.s * alpha) / p.alpha
        u = np.where(self.boxed, (-c_box + p.u * alpha) / p.room, 0.0)
        room = np.where(self.boxed, -alpha, 0.0)
        return _Variables(alpha, room, s, u, x, (-c_x - p.w * x) / p.x, b, t)

    def step_length(self, step: _Variables) -> float:
        p = self.p
        limits = [_to_zero(p.alpha, step.alpha), _to_zero(p.s, step.s), _to_zero(p.x, step.x), _to_zero(p.w, step.w)]
        if self.boxed.any():
            limits.append(_to_zero(p.room[:, self.boxed], step.room[:, self.boxed]))
            limits.append(_to_zero(p.u[:, self.boxed], step.u[:, self.boxed]))
        return min(1.0, *limits)

    def advance(self) -> _Variables:
        """One predictor-corrector step."""
        p = self.p
        self.factorise()
        c_alpha, c_box, c_x = p.alpha * p.s, p.room * p.u, p.x * p.w
        predictor = self.solve(c_alpha, c_box, c_x)
        now = self.complementarity()
        predicted = self.complementarity(predictor, self.step_length(predictor))
        centre = max((predicted / now) ** 3, 1e-8) * now
        step = self.solve(
            c_alpha + predictor.alpha * predictor.s - centre,
            np.where(self.boxed, c_box - predictor.alpha * predictor.u - centre, 0.0),
            c_x + predictor.x * predictor.w - centre,
        )
        a = min(1.0, _TO_BOUNDARY * self.step_length(step))
        return p.moved(a, step)

    def candidate(self) -> Candidate:
        """The point as weights and dual variables, with the gap that the iterate itself shows."""
        p, problem = self.p, self.problem
        weights = self.weights / p.x.sum()
        scores = self.scores / p.x.sum()
        if problem.learns_ridge:
            scores = scores - problem.ridge_at(weights) * self.signed
        primal = problem.primal_value(weights, self.signed, scores)
        dual = problem.dual_value(p.alpha, self.q * problem.all_prices / problem.budget)
        # Balance errors make the dual value optimistic; they count against the gap.
        imbalance = float((np.abs(self.r_balance) * (2.0 + np.abs(p.b))).sum())
        gap = (abs(primal - dual) + imbalance) / max(abs(primal), np.finfo(float).tiny)
        gap = gap if np.isfinite(gap) else float("inf")
        if gap < _WORTH_ROUNDING:
            sparse = self._rounded(primal + gap * abs(primal))
            if sparse is not None:
                return replace(sparse, bias=0.5 * p.b, gap=gap)
        return Candidate(weights, p.alpha, 0.5 * p.b, gap=gap)

    def _rounded(self, enough: float) -> Candidate | None:
        """The point with variables that are clearly at a bound put there, if its primal value is good enough."""
        problem = self.problem
        weights, alpha = self._sparse_weights(), self._sparse_alpha()
        signed = problem.labels * alpha
        scores = self.gram.matvec(problem.kernel_part(weights), signed.T).T
        if not problem.primal_value(weights, signed, scores) <= enough:
            return None
        return Candidate(weights, alpha, dual_alpha=self.p.alpha)

    def _sparse_alpha(self) -> FloatArray:
        """Dual variables with those that are clearly at a bound put there."""
        p, problem = self.p, self.problem
        typical = _CLEARLY * float(p.alpha.mean())
        alpha = np.where(p.alpha < typical * p.s, 0.0, p.alpha)
        alpha = np.where(self.boxed & (p.room < typical * p.u), problem.box, alpha)
        return np.stack([feasible_dual(a, y, problem.box)[0] for a, y in zip(alpha, problem.labels, strict=True)])

    def _sparse_weights(self) -> FloatArray:
        x = np.where(self.p.x < _CLEARLY * self.p.w / abs(self.p.t), 0.0, self.p.x)
        return x / x.sum() * self.unit


def _to_zero(values: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    with np.errstate(over="ignore"):
        return float(np.min(-values[falling] / change[falling], initial=1.0))


def _start(problem: MarginProblem, forms: Callable[[FloatArray], FloatArray], diagonals: FloatArray) -> _Variables:
    positive = problem.labels > 0
    counts = np.where(positive, positive.sum(axis=1, keepdims=True), (~positive).sum(axis=1, keepdims=True))
    alpha = 1.0 / counts
    # Class means that coincide make the forms vanish; the samples' own share of them does not.
    own = diagonals @ (alpha**2).sum(axis=0)
    scale, _, _ = problem.best_scale(alpha, forms(alpha) + _OWN * own)
    alpha = np.minimum(alpha * scale, 0.5 * problem.box)
    q = forms(alpha) * problem.budget / problem.all_prices
    own = diagonals @ (alpha**2).sum(axis=0) * problem.budget / problem.all_prices
    t = 1.1 * float((q + _OWN * own).max())
    m, boxed = len(q), np.isfinite(problem.box)
    room = np.where(boxed, problem.box - alpha, 1.0)
    return _Variables(
        alpha=alpha,
        room=room,
        s=np.ones_like(alpha),
        # Centred whatever the size of the box: a huge one must not pull the start away.
        u=np.where(boxed, alpha / room, 0.0),
        x=np.full(m, 1.0 / m),
        w=t - q,
        b=np.zeros(len(alpha)),
        t=t,
    )


def solve_interior_point(
    problem: MarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for nonnegative kernel weights by a primal-dual interior point.

    Parameters
    ----------
    problem : MarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        Labelled blocks of the kernels, n x n.
    start, deadline : optional
        Part of the solver contract; an interior point starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Weights, dual variables and biases; at the end of a non-separable hard margin, a ray.
    """

    def forms(alpha: FloatArray) -> FloatArray:
        parts = [problem.forms(beta, gram.support_products(beta)) for beta in problem.labels * alpha]
        return np.sum(parts, axis=0)

    diagonals = gram.diagonals()
    if problem.learns_ridge:
        diagonals = np.vstack([diagonals, problem.ridge])
    point = _start(problem, forms, diagonals)
    for _ in range(_MAX_STEPS):
        iteration = _Iteration(problem, gram, point)
        candidate = iteration.candidate()
        ray = unbounded_direction(problem, gram, candidate) if problem.is_hard else None
        yield candidate if ray is None else replace(candidate, ray=ray)
        if iteration.exhausted:
            return
        try:
            following = iteration.advance()
        except np.linalg.LinAlgError:
            return
        if not np.isfinite(following.alpha).all() or not np.isfinite(following.x).all():
            return
        point = following
