"""Interior point for ramp weights of one feature each, with signs that may be prescribed.

When every ramp kernel has one column and there is one label column, the margin problem with a
budget for each group is a quadratic program in the coefficients of the ramps, split by sign, v >= 0:

    min over v, b:  sum_g (sum_{c in g} v_c)^2 + sum_i loss_i( 1 - y_i (sum_c sigma_c v_c z_ic + b) ),

where a coefficient that may have either sign has one column for each (`DirectedRampStack`). Its dual is that
of `MarginProblem`, with weights mu_c = v_c / sum_g v. Method: Mehrotra's predictor-corrector on (v, b, alpha)
and their multipliers; a step forms one Gram matrix of the ramps and factorises it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem

__all__ = ["solve_directed"]

_MAX_STEPS = 200
_TO_BOUNDARY = 0.995
_FLOOR = 1e-20  # complementarity, relative to the objective, below which a step is rounding only
_CENTRED = 10.0  # first multipliers of alpha


@dataclass(frozen=True)
class _Variables:
    """A point or a step."""

    v: FloatArray  # (q,)
    lam: FloatArray  # (q,) multipliers of v >= 0
    alpha: FloatArray  # (n,)
    room: FloatArray  # (n,) box - alpha; ones where there is no box
    s: FloatArray  # (n,) multipliers of alpha >= 0
    u: FloatArray  # (n,) multipliers of alpha <= box; zeros where there is none
    b: float

    def moved(self, length: float, step: _Variables) -> _Variables:
        pairs = zip(self._parts, step._parts, strict=True)
        return _Variables(*(x + length * dx for x, dx in pairs))  # type: ignore[arg-type]

    @property
    def _parts(self) -> tuple[FloatArray | float, ...]:
        return self.v, self.lam, self.alpha, self.room, self.s, self.u, self.b

    def longest(self, step: _Variables) -> float:
        """Longest step, up to one, that keeps what must be positive so."""
        length = 1.0
        for x, dx in zip(self._parts[:-1], step._parts[:-1], strict=True):
            falling = np.asarray(dx) < 0
            length = min(length, float(np.min(-np.asarray(x)[falling] / np.asarray(dx)[falling], initial=1.0)))
        return length


class _Iteration:
    """The conditions of optimality at one point, and Newton steps towards them."""

    def __init__(self, task: _Task, point: _Variables) -> None:
        self.task, self.p = task, point
        self.sums = np.bincount(task.group, point.v)
        self.scores = task.forward(point.v)
        self.pull = task.backward(task.y * point.alpha)
        problem = task.problem
        self.r_v = 2.0 * self.sums[task.group] - 2.0 * self.pull - point.lam
        self.r_alpha = 2.0 * (task.y * (self.scores + point.b) + problem.ridge * point.alpha - 1.0) - point.s + point.u
        self.r_b = float(task.y @ point.alpha)

    def complementarity(self, point: _Variables) -> float:
        boxed = self.task.boxed
        total = point.v @ point.lam + point.alpha @ point.s + (point.room * point.u)[boxed].sum()
        return float(total) / (len(point.v) + len(point.alpha) + boxed.sum())

    def factorise(self) -> None:
        p, task = self.p, self.task
        self.theta = 2.0 * task.problem.ridge + p.s / p.alpha + p.u / p.room
        H = 4.0 * task.gram_matrix(1.0 / self.theta)
        H[task.same_group] += 2.0
        H[np.diag_indices_from(H)] += p.lam / p.v
        self.factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        self.border = 4.0 * task.backward(1.0 / self.theta)
        self.solved_border = scipy.linalg.cho_solve(self.factor, self.border, check_finite=False)

    def step(self, c_v: FloatArray, c_alpha: FloatArray, c_box: FloatArray) -> _Variables:
        """Newton step for right-hand sides of the complementarity conditions."""
        p, task = self.p, self.task
        rho = -self.r_alpha - c_alpha / p.alpha + c_box / p.room
        right = -self.r_v - c_v / p.v + 2.0 * task.backward(task.y * rho / self.theta)
        partial = scipy.linalg.cho_solve(self.factor, right, check_finite=False)
        # y'(alpha + d alpha) = 0 gives the step of the bias.
        corner = 4.0 * float((1.0 / self.theta).sum()) - float(self.border @ self.solved_border)
        b = float(2.0 * (self.r_b + float(task.y @ (rho / self.theta))) - self.border @ partial) / corner
        v = partial - b * self.solved_border
        alpha = (rho - 2.0 * task.y * (task.forward(v) + b)) / self.theta
        return _Variables(
            v,
            (-c_v - p.lam * v) / p.v,
            alpha,
            np.where(task.boxed, -alpha, 0.0),
            (-c_alpha - p.s * alpha) / p.alpha,
            np.where(task.boxed, (-c_box + p.u * alpha) / p.room, 0.0),
            b,
        )

    def advance(self) -> _Variables:
        """One predictor-corrector step."""
        p, boxed = self.p, self.task.boxed
        self.factorise()
        c_v, c_alpha, c_box = p.v * p.lam, p.alpha * p.s, np.where(boxed, p.room * p.u, 0.0)
        predictor = self.step(c_v, c_alpha, c_box)
        now = self.complementarity(p)
        centre = max((self.complementarity(p.moved(p.longest(predictor), predictor)) / now) ** 3, 1e-8) * now
        corrected = self.step(
            c_v + predictor.v * predictor.lam - centre,
            c_alpha + predictor.alpha * predictor.s - centre,
            np.where(boxed, c_box - predictor.alpha * predictor.u - centre, 0.0),
        )
        return p.moved(min(1.0, _TO_BOUNDARY * p.longest(corrected)), corrected)

    def candidate(self) -> Candidate:
        """Weights and dual variables, with the gap between the two as they are."""
        task, p = self.task, self.p
        total = np.bincount(task.kernel, p.v, task.problem.prices.size).astype(np.float64)
        weights = task.problem.in_budget(total)
        forms = np.bincount(task.column, np.maximum(self.pull, 0.0) ** 2, task.stack.rank)
        dual = task.problem.dual_value(p.alpha[None], task.stack.sum_by_kernel(forms))
        slack = np.maximum(1.0 - task.y * (self.scores + p.b), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ridge = task.problem.ridge
            a = np.minimum(np.where(ridge > 0, slack / ridge, np.inf), task.problem.box)
        primal = float((self.sums**2).sum() + np.sum(np.where(slack > 0, 2.0 * a * slack - ridge * a**2, 0.0)))
        doubt = abs(self.r_b) * (2.0 + abs(p.b))
        gap = (abs(primal - dual) + doubt) / max(primal, np.finfo(float).tiny)
        return Candidate(weights, p.alpha[None], np.array([p.b]), gap=gap if np.isfinite(gap) else float("inf"))


class _Task:
    """The program's columns: those of the ramps, twice where either sign is allowed."""

    def __init__(self, problem: MarginProblem, stack: Any) -> None:
        self.problem, self.stack, self.y = problem, stack, problem.labels[0]
        self.boxed = np.isfinite(problem.box)
        directions = stack.directions if len(stack.directions) else np.zeros(stack.rank)
        up, down = np.flatnonzero(directions >= 0), np.flatnonzero(directions <= 0)
        self.column: IntArray = np.concatenate([up, down])
        self.sign = np.repeat([1.0, -1.0], [len(up), len(down)])
        self.kernel = stack.kernel_of[self.column]
        self.group = problem.group_of[self.kernel]
        self.same_group = self.group[:, None] == self.group

    def forward(self, v: FloatArray) -> FloatArray:
        return np.asarray(self.stack.forward(np.bincount(self.column, self.sign * v, self.stack.rank)))

    def backward(self, vector: FloatArray) -> FloatArray:
        return self.sign * self.stack.unrestricted(vector)[self.column]

    def gram_matrix(self, weights: FloatArray) -> FloatArray:
        matrix = self.stack.feature_gram(weights)[np.ix_(self.column, self.column)]
        matrix *= self.sign
        matrix *= self.sign[:, None]
        return np.asarray(matrix)

    def start(self) -> _Variables:
        problem = self.problem
        natural = 1.0 / np.where(problem.ridge > 0, problem.ridge, 1.0)
        alpha = 0.5 * np.where(self.boxed, problem.box, natural)
        tau, q = _CENTRED * float(alpha.mean()), len(self.column)
        room = np.where(self.boxed, problem.box - alpha, 1.0)
        v = np.full(q, 1.0 / q)
        return _Variables(v, tau / v, alpha, room, tau / alpha, np.where(self.boxed, tau / room, 0.0), 0.0)


def solve_directed(
    problem: MarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for ramp weights of one feature each by an interior point on the coefficients.

    Parameters
    ----------
    problem : MarginProblem
        Soft margin with one label column, unit prices and budget.
    gram : RampStack or DirectedRampStack
        One column a kernel.
    start, deadline : optional
        Part of the solver contract; an interior point starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        Ramp weights, dual variables and the bias.

    Raises
    ------
    ValueError
        For several label columns, or a kernel of several columns.
    """
    if len(problem.labels) > 1 or np.bincount(gram.kernel_of).max() > 1:
        raise ValueError("Directed ramps are solved for two classes and kernels of one column each.")
    task = _Task(problem, gram)
    point = task.start()
    for _ in range(_MAX_STEPS):
        iteration = _Iteration(task, point)
        yield iteration.candidate()
        if not iteration.complementarity(point) > _FLOOR * float((iteration.sums**2).sum()):
            # Floating point allows no further progress.
            return
        try:
            point = iteration.advance()
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return
        if not np.isfinite(point.v).all() or not np.isfinite(point.alpha).all():
            return
