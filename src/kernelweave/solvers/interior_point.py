"""Primal-dual interior point for nonnegative kernel weights.

Problem (`MarginProblem`), with weights in units of the budget, x_i = mu_i p_i / c, K_i scaled by c / p_i:

    max over alpha, t:  sum_k [2 alpha_k'e - alpha_k' R alpha_k] - sum_g t_g
    s.t.  t_g >= q_i(alpha) for every kernel i of group g,  0 <= alpha_k <= box,  alpha_k'y_k = 0.

Method: Mehrotra's predictor-corrector on the perturbed KKT system in (alpha, x, b, t) jointly, with
the coefficients beta of w as variables of their own (beta_k = Y_k alpha_k once a full step is taken), and
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

from kernelweave.gram.image import Image
from kernelweave.problems.base import Candidate, FloatArray
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import feasible_dual
from kernelweave.solvers.ray import unbounded_direction

__all__ = ["solve_interior_point"]

_MAX_STEPS = 200
_TO_BOUNDARY = 0.995
_FLOOR = 1e-20  # complementarity, relative to the objective, below which a step is rounding only
# The start, in units of what the problem shows at once; too small costs many steps, too large few.
_GENEROUS = 1e3  # alpha over its best uniform value
_CENTRED = 10.0  # multipliers of alpha
_OWN = 0.1  # share of the samples' own terms in the first quadratic forms
_WORTH_ROUNDING = 1e-2  # gap below which a sparse solution is looked for
_ROUNDING_COST = 10.0  # gaps that rounding may add
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
    t: FloatArray  # (groups,)
    beta: FloatArray  # (k, n), y alpha once a full step has been taken

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
            self.beta + length * step.beta,
        )


class _Iteration:
    """The KKT system at one point."""

    def __init__(self, problem: MarginProblem, gram: Any, point: _Variables) -> None:
        self.problem, self.gram, self.p = problem, gram, point
        self.unit = problem.budget / problem.all_prices
        self.weights = point.x * self.unit
        self.boxed = np.isfinite(problem.box)
        self.group = problem.group_of
        self.images = [self._image(beta) for beta in point.beta]
        self.q = self.unit * np.sum([image.forms for image in self.images], axis=0)
        # n.b. scores include the learned ridge, which is one of the kernels here.
        self.scores = np.stack([image.combine(self.weights) for image in self.images])
        self._residuals()

    def _image(self, beta: FloatArray) -> Image:
        image: Image = self.gram.image(beta)
        return _WithRidge(image, self.problem.ridge, beta) if self.problem.learns_ridge else image

    def _residuals(self) -> None:
        p, problem = self.p, self.problem
        self.r_beta = p.beta - problem.labels * p.alpha
        self.r_alpha = (
            2.0 * (problem.labels * self.scores + problem.fixed_ridge * p.alpha - 1.0)
            - p.s
            + p.u
            + p.b[:, None] * problem.labels
        )
        self.r_budget = 1.0 - np.bincount(self.group, p.x)
        self.r_balance = p.beta.sum(axis=1)
        self.r_forms = self.q - p.t[self.group] + p.w

    @property
    def exhausted(self) -> bool:
        """Whether floating point allows no further progress (variables would go on to underflow)."""
        return self.complementarity() <= _FLOOR * float(np.abs(self.p.t).sum())

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
        self.shift = shift = problem.ridge_at(self.weights) + 0.5 * (p.s / p.alpha + p.u / p.room)
        mu = problem.kernel_part(self.weights)
        self.solvers = []
        schur = np.zeros((m + k + len(p.t), m + k + len(p.t)))
        for j, image in enumerate(self.images):
            solve = self.gram.shifted_solve(mu, shift[j])
            inverse = 0.5 * solve(np.ones_like(shift[j]))
            schur[:m, :m] -= 2.0 * image.schur(solve) * np.outer(self.unit, self.unit)
            schur[:m, m + j] = schur[m + j, :m] = -2.0 * self.unit * image.adjoint(inverse)
            schur[m + j, m + j] = -inverse.sum()
            self.solvers.append(solve)
        schur[np.arange(m), np.arange(m)] -= p.w / p.x
        schur[np.arange(m), m + k + self.group] = schur[m + k + self.group, np.arange(m)] = -1.0
        self.schur = schur

    def solve(self, c_alpha: FloatArray, c_box: FloatArray, c_x: FloatArray) -> _Variables:
        """Newton step for right-hand sides of the three complementarity conditions."""
        p, k, m = self.p, len(self.p.b), len(self.p.x)
        y = self.problem.labels
        # Work with beta = y alpha: H = Y (2 K + ...) Y, so the signs move to the right-hand sides.
        rhs = y * (-self.r_alpha - c_alpha / p.alpha + c_box / p.room) - 2.0 * self.shift * self.r_beta
        partial = np.stack([0.5 * solve(r) for solve, r in zip(self.solvers, rhs, strict=True)])
        right = np.zeros(len(self.schur))
        right[:m] = -self.r_forms + c_x / p.x
        right[m : m + k] = -self.r_balance
        right[m + k :] = -self.r_budget
        for j, image in enumerate(self.images):
            right[:m] -= 2.0 * self.unit * image.adjoint(partial[j])
            right[m + j] -= partial[j].sum()
        outer = np.asarray(np.linalg.solve(self.schur, right), dtype=np.float64)
        x, b, t = outer[:m], outer[m : m + k], outer[m + k :]
        beta = np.stack(
            [
                p_j - 0.5 * solve(2.0 * image.combine(x * self.unit) + b_j)
                for p_j, b_j, solve, image in zip(partial, b, self.solvers, self.images, strict=True)
            ]
        )
        alpha = y * (beta + self.r_beta)
        s = (-c_alpha - p.s * alpha) / p.alpha
        u = np.where(self.boxed, (-c_box + p.u * alpha) / p.room, 0.0)
        room = np.where(self.boxed, -alpha, 0.0)
        return _Variables(alpha, room, s, u, x, (-c_x - p.w * x) / p.x, b, t, beta)

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
        weights, scores = self._judged_weights()
        # beta is what the scores belong to; y beta becomes alpha, and is feasible long before the end.
        alpha = np.clip(problem.labels * p.beta, 0.0, problem.box)
        off = p.beta - problem.labels * alpha
        primal = problem.primal_value(weights, p.beta, scores)
        dual = problem.dual_value(alpha, self.q * problem.all_prices / problem.budget)
        # What the repair of the dual point can cost counts against the gap.
        doubt = np.abs((p.beta - off).sum(axis=1)) @ (2.0 + np.abs(p.b)) + 2.0 * np.abs(scores * off).sum()
        gap = float(abs(primal - dual) + doubt) / max(abs(primal), np.finfo(float).tiny)
        gap = gap if np.isfinite(gap) else float("inf")
        if gap < _WORTH_ROUNDING:
            sparse = self._rounded(alpha, primal + _ROUNDING_COST * gap * abs(primal))
            if sparse is not None:
                return replace(sparse, bias=0.5 * p.b, gap=gap)
        return Candidate(weights, alpha, 0.5 * p.b, gap=gap)

    def _judged_weights(self) -> tuple[FloatArray, FloatArray]:
        """Weights within the budget, and the scores of the kernels under them."""
        problem, used = self.problem, np.bincount(self.group, self.p.x)
        if problem.n_groups > 1:
            weights = problem.in_budget(self.weights)
            return weights, np.stack([image.combine(weights) for image in self.images])
        weights, scores = self.weights / used[0], self.scores / used[0]
        return weights, scores - problem.ridge_at(weights) * self.p.beta if problem.learns_ridge else scores

    def _rounded(self, alpha: FloatArray, enough: float) -> Candidate | None:
        """The point with variables that are clearly at a bound put there, if its primal value is good enough."""
        problem = self.problem
        weights, sparse = self._sparse_weights(), self._sparse(alpha)
        signed = problem.labels * sparse
        scores = self.gram.matvec(problem.kernel_part(weights), signed.T).T
        if not problem.primal_value(weights, signed, scores) <= enough:
            return None
        return Candidate(weights, sparse, dual_alpha=alpha)

    def _sparse(self, alpha: FloatArray) -> FloatArray:
        """Dual variables with those that are clearly at a bound put there."""
        p, problem = self.p, self.problem
        typical = _CLEARLY * float(p.alpha.mean())
        alpha = np.where(p.alpha < typical * p.s, 0.0, alpha)
        alpha = np.where(self.boxed & (p.room < typical * p.u), problem.box, alpha)
        return np.stack([feasible_dual(a, y, problem.box)[0] for a, y in zip(alpha, problem.labels, strict=True)])

    def _sparse_weights(self) -> FloatArray:
        p = self.p
        small = p.x * np.abs(p.t)[self.group] < _CLEARLY * p.w
        # A group whose weights are all of no use keeps them.
        idle = np.bincount(self.group, ~small) == 0
        return self.problem.in_budget(np.where(small & ~idle[self.group], 0.0, self.weights))


class _WithRidge(Image):
    """The image of one more kernel, the diagonal matrix of a learned ridge."""

    def __init__(self, image: Image, ridge: FloatArray, vector: FloatArray) -> None:
        self._image, self._product = image, ridge * vector
        self.forms = np.append(image.forms, self._product @ vector)

    def combine(self, weights: FloatArray) -> FloatArray:
        return self._image.combine(weights[:-1]) + weights[-1] * self._product

    def adjoint(self, vector: FloatArray) -> FloatArray:
        return np.append(self._image.adjoint(vector), self._product @ vector)

    def schur(self, solve: Callable[[FloatArray], FloatArray]) -> FloatArray:
        inverse = solve(self._product)
        border = self._image.adjoint(inverse)
        return np.block([[self._image.schur(solve), border[:, None]], [border[None], self._product @ inverse]])


def _to_zero(values: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    with np.errstate(over="ignore"):
        return float(np.min(-values[falling] / change[falling], initial=1.0))


def _start(problem: MarginProblem, gram: Any) -> _Variables:
    """Every pair centred, at beta = 0.

    Starting from beta = y alpha instead would mean scores far from the margins (of the order of n),
    unless alpha is tiny, close to its bound: both cost several times the steps.
    """
    positive = problem.labels > 0
    counts = np.where(positive, positive.sum(axis=1, keepdims=True), (~positive).sum(axis=1, keepdims=True))
    uniform = 1.0 / counts
    diagonals = gram.diagonals()
    if problem.learns_ridge:
        diagonals = np.vstack([diagonals, problem.ridge])
    # Class means that coincide make the forms vanish; the samples' own share of them does not.
    own = diagonals @ (uniform**2).sum(axis=0)
    scale, _, _ = problem.best_scale(uniform, problem.forms(gram, uniform) + _OWN * own)
    boxed = np.isfinite(problem.box)
    # A learned ridge follows the size of alpha, so that its start must not be generous.
    size = (1.0 if problem.learns_ridge else _GENEROUS) * scale
    if boxed.all() and getattr(gram, "rank", len(problem.box)) < len(problem.box):
        # More samples than features are hardly separable: many will end at the box.
        size = np.inf
    alpha = np.minimum(0.5 * problem.box, size * uniform)
    tau = _CENTRED * float(alpha.mean())
    room = np.where(boxed, problem.box - alpha, 1.0)
    counts_of_group = np.bincount(problem.group_of).astype(np.float64)
    share = 1.0 / counts_of_group[problem.group_of]
    return _Variables(
        alpha=alpha,
        room=room,
        s=tau / alpha,
        u=np.where(boxed, tau / room, 0.0),
        x=share,
        w=tau / share,
        b=np.zeros(len(alpha)),
        t=tau * counts_of_group,
        beta=np.zeros_like(alpha),
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

    point = _start(problem, gram)
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
