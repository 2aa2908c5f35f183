"""Dual coordinate descent for ramp kernels on many samples, the weights moving along.

Problem (`MarginProblem`, groups allowed), with x_i = mu_i p_i / c in a simplex for each group:

    minimise over x:  f(x) = sum_k omega_k( sum_i x_i (c / p_i) K_i ).

Method: a few epochs of coordinate descent on the SVM at x (linear in the features, never an n x n
matrix), then a step of x on  -q'x + 1/2 theta (x - x_0)'D(x - x_0),  q the quadratic forms at the present alpha,
D_i = 2 q_i / x_i. That D belongs to the classical fixed point mu_i ~ ||w_i||, which bounds f from
above and takes hundreds of steps; the true curvature is theta times smaller, and theta is measured
from one step to the next (a secant). x moves as soon as what it can gain is comparable
to the gap of the SVM, so that learning the weights costs about as many epochs as one SVM.

The bias is not penalised: it is a multiplier of y'alpha = 0 with an augmented term, moved after
each call of the compiled loop; bounds use the exactly optimal bias and exactly balanced alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.gram.ramps.ramp_loops import prefix_tables
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import feasible_dual, optimal_bias
from kernelweave.solvers.monotone.descent_loops import descend
from kernelweave.solvers.simplex import Simplexes

__all__ = ["solve_descent"]

_MAX_ROUNDS = 20_000
_EPOCHS = 10  # of one round
_PATIENCE = 200  # rounds without a smaller gap after which nothing more is expected
_STIFFNESS = 0.03  # of the bias, in units of the mean curvature
_FIRST_TOLERANCE, _TIGHTER, _TIGHTEST = 0.5, 0.5, 1e-12
_INNER = 1.0  # the weights move when the SVM's gap is at most this share of what they can gain
_MOST_ROUNDS = 20  # rounds at the same weights
_THETA, _LEAST_THETA, _STEEPER = 0.5, 0.02, 4.0
_SMALL = 1e-3  # of a uniform weight: the curvature of smaller ones is that of this
_NEGLIGIBLE = 1e-9  # share of a group below which a weight is zero


@dataclass(frozen=True)
class _Look:
    """A balanced dual point at the weights x, and what it says."""

    x: FloatArray
    alpha: FloatArray  # (k, n)
    forms: FloatArray  # quadratic forms in units of the budget
    upper: float
    lower_here: float  # of the SVM at x
    lower: float  # of the problem


class _Descent:
    """The iteration: dual variables, biases, weights."""

    def __init__(self, problem: MarginProblem, gram: Any, start: Candidate | None) -> None:
        self.problem, self.gram = problem, gram
        self.unit = problem.budget / problem.all_prices
        self.group = problem.group_of
        sizes = np.bincount(self.group)
        self.x = 1.0 / sizes[self.group]
        self.smallest = _SMALL * self.x
        self.alpha = np.zeros(problem.labels.shape)
        if start is not None and start.weights is not None:
            self.x = problem.in_budget(np.maximum(start.weights, 0.0)) / self.unit
        self.bias = np.zeros(len(problem.labels))
        if start is not None and start.alpha is not None:
            self.alpha = np.clip(start.alpha, 0.0, problem.box)
            scores = gram.matvec(self.x * self.unit, (problem.labels * self.alpha).T).T
            for k, (f, y) in enumerate(zip(scores, problem.labels, strict=True)):
                self.bias[k] = optimal_bias(f, y, problem.box, problem.ridge)
        self.tolerance = np.full(len(problem.labels), _FIRST_TOLERANCE)
        self.lengths = gram.diagonals()
        self.calls = 0
        self.simplexes = Simplexes(self.group)

    def round(self) -> _Look:
        """Some epochs at the present weights, and a look at where they lead."""
        problem, gram, cells = self.problem, self.gram, self.gram.cells
        mu = self.x * self.unit
        by_column = mu[gram.kernel_of]
        curvature = mu @ self.lengths + problem.ridge
        stiffness = _STIFFNESS * max(float(curvature.mean()), np.finfo(float).tiny)
        balanced = np.empty_like(self.alpha)
        for k, (alpha, y) in enumerate(zip(self.alpha, problem.labels, strict=True)):
            coefficients = gram.unrestricted(y * alpha)
            tables = prefix_tables(by_column * gram.backward(y * alpha), cells.offsets)
            self.calls += 1
            self.bias[k], violation, _ = descend(
                cells.indptr, cells.slots, cells.positions, cells.offsets,
                by_column, gram.directions, coefficients, tables,
                y, problem.box, problem.ridge, curvature + stiffness, alpha,
                self.bias[k] + stiffness * float(y @ alpha), stiffness, self.tolerance[k], _EPOCHS, self.calls,
            )  # fmt: skip
            self.tolerance[k] = max(min(_TIGHTER * self.tolerance[k], violation), _TIGHTEST)
            balanced[k] = _balanced(alpha, y, problem.box)
        return self._look(balanced, mu)

    def _look(self, alpha: FloatArray, mu: FloatArray) -> _Look:
        problem, gram = self.problem, self.gram
        signed = problem.labels * alpha
        by_column = mu[gram.kernel_of]
        coefficients = [gram.backward(beta) for beta in signed]
        scores = np.stack([gram.forward(by_column * w) for w in coefficients])
        forms = np.sum([gram.sum_by_kernel(w**2) for w in coefficients], axis=0)
        ridge = float(problem.ridge @ (alpha**2).sum(axis=0))
        return _Look(
            self.x.copy(),
            alpha,
            forms * self.unit,
            problem.primal_value(mu, signed, scores),
            2.0 * float(alpha.sum()) - float(mu @ forms) - ridge,
            problem.dual_value(alpha, forms),
        )

    def gain(self, look: _Look) -> float:
        """What better weights could gain at the present dual point."""
        largest = np.zeros(self.problem.n_groups)
        np.maximum.at(largest, self.group, look.forms)
        return float(largest.sum() - look.x @ look.forms)

    def stiffness_of(self, look: _Look) -> FloatArray:
        """D: the curvature of the bound from above."""
        floor = 1e-12 * float(look.forms.max())
        return 2.0 * np.maximum(look.forms, floor) / np.maximum(look.x, self.smallest)

    def move(self, look: _Look, theta: float) -> None:
        """The step of the weights."""
        if look.forms.max() <= 0:
            return
        x = self.simplexes.step(look.x, look.forms, theta * self.stiffness_of(look))
        x[x < _NEGLIGIBLE] = 0.0
        self.x = self.simplexes.normalised(x)


def _balanced(alpha: FloatArray, y: FloatArray, box: FloatArray) -> FloatArray:
    """Dual variables with alpha'y = 0: the free ones give way, so that those at a bound stay there."""
    excess = float(y @ alpha)
    if excess == 0.0:
        return alpha.copy()
    falls = y * excess > 0
    room = np.where(falls, alpha, np.minimum(box, 2.0 * alpha) - alpha)
    room[(alpha <= 0) | (alpha >= box)] = 0.0
    total = float(room.sum())
    if total <= 2.0 * abs(excess):
        return feasible_dual(alpha, y, box)[0]
    moved = alpha + np.where(falls, -1.0, 1.0) * room * (abs(excess) / total)
    return feasible_dual(moved, y, box)[0]


def solve_descent(
    problem: MarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for nonnegative weights of ramp kernels by coordinate descent.

    Parameters
    ----------
    problem : MarginProblem
        Soft margin; no learned ridge.
    gram : RampStack
        Samples on their ramps.
    start : Candidate, optional
        Weights and dual variables to start from.
    deadline : optional
        Part of the solver contract; rounds are short.

    Yields
    ------
    Candidate
        Best weights with their dual variables, and the best dual point.
    """
    descent = _Descent(problem, gram, start)
    best: _Look | None = None
    dual: _Look | None = None
    centre: _Look | None = None
    theta, rounds_here, since = _THETA, 0, 0
    for _ in range(_MAX_ROUNDS):
        look = descent.round()
        since, rounds_here = since + 1, rounds_here + 1
        if best is None or look.upper < best.upper:
            best, since = look, 0
        if dual is None or look.lower > dual.lower:
            dual, since = look, 0
        gap = (best.upper - dual.lower) / max(abs(best.upper), np.finfo(float).tiny)
        yield Candidate(best.x * descent.unit, best.alpha, gap=gap, dual_alpha=dual.alpha)
        if since > _PATIENCE:
            return
        if centre is not None and look.lower_here > centre.upper and theta < 1.0:
            # Certainly worse than before: the curvature was taken too small.
            theta = min(_STEEPER * theta, 1.0)
        elif look.upper - look.lower_here <= _INNER * descent.gain(look) or rounds_here >= _MOST_ROUNDS:
            theta = theta if centre is None else _secant(centre, descent.stiffness_of(centre), look, theta)
            centre = look
        else:
            continue
        rounds_here = 0
        descent.move(centre, theta)


def _secant(before: _Look, stiffness: FloatArray, look: _Look, theta: float) -> float:
    """Curvature between two looks over the one of the bound from above."""
    moved = look.x - before.x
    fallen = -float(moved @ (look.forms - before.forms))
    bound = float(moved @ (stiffness * moved))
    # Inexact looks make it noise at times; it may not fall fast.
    return min(max(fallen / bound, theta / _STEEPER, _LEAST_THETA), 1.0) if bound > 0 else theta
