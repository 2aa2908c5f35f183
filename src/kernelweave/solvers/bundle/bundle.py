"""Second-order bundle method for nonnegative kernel weights.

Problem (`MarginProblem`), with x_i = mu_i p_i / c in the simplex:

    minimise over x:  f(x) = sum_k omega_k( sum_i x_i (c / p_i) K_i ).

f is convex; an SVM solution beta at x gives the plane  2 beta'y - ridge beta^2 - x'q  below f, and
its free samples the Hessian (module `curvature`). Each step minimises the largest plane
collected so far plus the Hessian around the best point (module `bundle_qp`): planes alone
crawl near a smooth optimum, the Hessian alone fails where few samples are free. The SVMs are
solved by warm-started SMO, only as exactly as the step needs. Weights start from a
third of the samples, each counted three times, where a pass over the kernels costs a ninth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import feasible_dual
from kernelweave.solvers.bundle.bundle_bounds import Bounds, Evaluation
from kernelweave.solvers.bundle.bundle_qp import solve_bundle_qp
from kernelweave.solvers.bundle.curvature import Curvature, free_curvature
from kernelweave.solvers.bundle.smo import solve_smo
from kernelweave.solvers.ray import unbounded_direction

__all__ = ["solve_bundle"]

_MAX_STEPS = 500
_FIRST_TOLERANCE = 0.1  # of the SVM, in units of the margin
_TIGHTEST = 1e-12
_FRESH_BELOW = 1e-6
_FIRST_ACCURACY, _INNER = 1e-4, 0.01  # SVM gap: of the value at first, then of the predicted decrease
_COARSE_BELOW = 400  # samples from which a coarse start pays
_COARSE_GAP = 3e-2
_EARLY_GAP, _EARLY_FREE = 5e-2, 1000  # subsample the Hessian before this gap, to this many samples
_ENOUGH = 0.05  # share of the predicted decrease that moves the centre
_NEGLIGIBLE = 1e-9  # share of the largest weight below which a weight is zero
_MAX_IDLE = 40  # steps without a smaller gap after which rounding has won
_VALUE_NOISE = 1e-12  # relative accuracy of function values
_PAIR_STEPS = 300  # SMO steps per sample before a hard margin is examined for separability


@dataclass
class _Centre:
    """The best point so far, with the model's metric around it."""

    point: Evaluation
    kernels: IntArray  # the curvature is known for these
    curvatures: list[Curvature]
    predicted: float = 0.0

    def accepts(self, point: Evaluation) -> bool:
        """Whether a point is the better centre; where values differ by rounding only, the newer step is."""
        noise = _VALUE_NOISE * abs(self.point.upper)
        return point.upper <= self.point.upper - _ENOUGH * self.predicted + noise

    def hessian_for(self, working: IntArray) -> FloatArray:
        """Hessian for the working kernels, zero where it is not known."""
        total = np.sum([c.hessian for c in self.curvatures], axis=0)
        at = np.searchsorted(self.kernels, working)
        known = np.isin(working, self.kernels)
        result = np.zeros((len(working), len(working)))
        result[np.ix_(known, known)] = total[np.ix_(at[known], at[known])]
        return result


class _Oracle:
    """Evaluates f: the combined kernel, the SVMs on it, the products with every kernel."""

    def __init__(self, problem: MarginProblem, gram: Any) -> None:
        self.problem, self.gram = problem, gram
        self.unit = problem.budget / problem.all_prices
        self.K = np.empty(gram.shape)
        self.tolerance = _FIRST_TOLERANCE

    def move_to(self, x: FloatArray) -> None:
        """Form the combined kernel and ridge at x."""
        self.x = x
        self.K = self.gram.combine(self.problem.kernel_part(x * self.unit), out=self.K)
        self.ridge = self.problem.ridge_at(x * self.unit)

    def evaluate(self, beta: FloatArray, allowance: float) -> Evaluation:
        """Solve the SVMs at x until their own gap is within the allowance (a share of it when below 1)."""
        point = self._solve(beta)
        while point.inner_gap > max(allowance, 1e-13 * abs(point.upper)) and self.tolerance > _TIGHTEST:
            self.tolerance *= 0.2
            point = self._solve(point.beta, point.gradient)
        return point

    def _solve(self, beta: FloatArray, gradient: FloatArray | None = None) -> Evaluation:
        problem, beta = self.problem, beta.copy()
        limit = _PAIR_STEPS * beta.shape[1] if np.isinf(problem.box).any() else 10_000_000
        known: list[FloatArray | None] = [None] * len(beta)
        # Close to the end the gradient is formed afresh: updated ones carry the rounding of every step.
        if gradient is not None and self.tolerance >= _FRESH_BELOW:
            known = list(gradient.copy())
        solved = [
            solve_smo(self.K, y, problem.box, self.ridge, b, tol=self.tolerance, max_steps=limit, gradient=g)
            for b, y, g in zip(beta, problem.labels, known, strict=True)
        ]
        gradient = np.stack([g for g, _, _ in solved])
        scores = problem.labels - self.ridge * beta - gradient
        upper = problem.primal_value(self.x * self.unit, beta, scores)
        dual = 2.0 * beta * problem.labels - beta * scores - self.ridge * beta**2
        return Evaluation(self.x, beta, gradient, upper, float(dual.sum()))

    def products(self, point: Evaluation, kernels: IntArray) -> list[FloatArray]:
        """``K_i beta`` at the support in units of the budget, for the kernels named; one array a column."""
        m, result = len(self.problem.prices), []
        for b in point.beta:
            products = self.gram.support_products(b, kernels[kernels < m])
            if self.problem.learns_ridge:
                products = np.vstack([products, self.problem.ridge * b])
            products *= self.unit[kernels][:, None]
            result.append(products)
        return result

    def curvatures(self, point: Evaluation, products: list[FloatArray], at_most: int | None) -> list[Curvature]:
        """Second-order information of every column at an evaluated point."""
        result = []
        for b, g, d in zip(point.beta, point.gradient, products, strict=True):
            free = np.flatnonzero((b != 0) & (np.abs(b) < self.problem.box)).astype(np.intp)
            bias = float(g[free].mean()) if len(free) else 0.0
            result.append(free_curvature(self.K, self.ridge, d, g - bias, free, at_most))
        return result


def solve_bundle(
    problem: MarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for nonnegative kernel weights by the second-order bundle method.

    Parameters
    ----------
    problem : MarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        Labelled blocks of the kernels, n x n.
    start : Candidate, optional
        Weights and dual variables to start from.
    deadline : float, optional
        Value of ``time.perf_counter()`` after which the coarse start gives way.

    Yields
    ------
    Candidate
        Best weights so far, their dual variables, and the dual point of the best lower bound.
    """
    x, beta = _start(problem, gram, start, deadline)
    oracle, bounds = _Oracle(problem, gram), Bounds(problem)
    oracle.move_to(x)
    allowance = _FIRST_ACCURACY * float(np.abs(beta).sum()) if beta.any() else float("inf")
    centre: _Centre | None = None
    stretch, nulls, idle, smallest = 1.0, 0, 0, float("inf")
    everything = np.arange(len(x), dtype=np.intp)
    for _ in range(_MAX_STEPS):
        point = oracle.evaluate(beta, allowance)
        full = centre is None or bounds.wants_full_look(centre.predicted)
        kernels = everything if full else bounds.working
        products = oracle.products(point, kernels)
        q = np.full(len(x), np.nan)
        q[kernels] = np.sum([d @ b for d, b in zip(products, point.beta, strict=True)], axis=0)
        bounds.record(point, q, full=full)
        if not np.isfinite(point.upper):
            candidate = bounds.candidate()
            yield replace(candidate, ray=unbounded_direction(problem, gram, candidate))
            return
        if centre is None or centre.accepts(point):
            at_most = _EARLY_FREE if bounds.gap > _EARLY_GAP * abs(bounds.upper) else None
            centre = _Centre(point, kernels, oracle.curvatures(point, products, at_most))
            stretch, nulls = max(1.0, stretch / 4.0), 0
        else:
            stretch, nulls = 3.0 * stretch, nulls + 1
        x, predicted = _step(bounds, centre, stretch)
        yield bounds.candidate()
        bounds.choose_working(np.maximum(x, centre.point.x), q)
        idle = 0 if bounds.gap < 0.9 * smallest else idle + 1
        smallest = min(smallest, bounds.gap)
        if idle > _MAX_IDLE:
            return
        centre.predicted = predicted
        beta = _predict(problem, centre, x)
        allowance = max(_INNER * min(predicted, bounds.gap), 1e-14 * abs(bounds.upper))
        oracle.move_to(x)


def _step(bounds: Bounds, centre: _Centre, stretch: float) -> tuple[FloatArray, float]:
    """Next x and the decrease the model promises there."""
    working = bounds.working
    size = max(abs(centre.point.upper), np.finfo(float).tiny)
    H = stretch * centre.hessian_for(working) / size
    a, G = np.array(bounds.constants) / size, np.array(bounds.slopes)[:, working] / size
    inside, multipliers, _ = solve_bundle_qp(H, centre.point.x[working], a, G, 1e-16)
    bounds.offer_mixture(multipliers)
    inside = np.where(inside < _NEGLIGIBLE * inside.max(), 0.0, inside)
    inside /= inside.sum()
    away = inside - centre.point.x[working]
    model = float((a - G @ inside).max() + 0.5 * away @ H @ away)
    x = np.zeros_like(centre.point.x)
    x[working] = inside
    return x, max(centre.point.upper - size * model, 0.0)


def _predict(problem: MarginProblem, centre: _Centre, x: FloatArray) -> FloatArray:
    """Dual variables expected at x: linear on the free samples, brought back into the box."""
    beta = centre.point.beta.copy()
    for k, (curvature, y) in enumerate(zip(centre.curvatures, problem.labels, strict=True)):
        moved = beta[k].copy()
        moved[curvature.free] += curvature.predict((x - centre.point.x)[centre.kernels])
        alpha, _ = feasible_dual(y * moved, y, problem.box)
        beta[k] = y * alpha
    return beta


def _start(
    problem: MarginProblem, gram: Any, start: Candidate | None, deadline: float | None
) -> tuple[FloatArray, FloatArray]:
    """First x and dual variables: as given, or from a third of the samples, or uniform and zero."""
    n, m = problem.labels.shape[1], len(problem.all_prices)
    beta = np.zeros(problem.labels.shape)
    if start is not None and start.weights is not None:
        x = start.weights * problem.all_prices / problem.budget
        if start.alpha is not None:
            beta = problem.labels * np.stack(
                [feasible_dual(a, y, problem.box)[0] for a, y in zip(start.alpha, problem.labels, strict=True)]
            )
        return x / x.sum(), beta
    if n < _COARSE_BELOW or m == 1:
        return np.full(m, 1.0 / m), beta
    rows = _third(problem.labels)
    part = MarginProblem(
        problem.labels[:, rows],
        3.0 * problem.box[rows],
        problem.ridge[rows] / 3.0,
        problem.prices,
        problem.budget,
        problem.ridge_price,
    )
    coarse = Candidate()
    for coarse in solve_bundle(part, gram.restrict(rows), deadline=deadline):
        if coarse.gap < _COARSE_GAP or (deadline is not None and time.perf_counter() > deadline):
            break
    if coarse.weights is None or coarse.alpha is None:
        return np.full(m, 1.0 / m), beta
    beta[:, rows] = part.labels * coarse.alpha / 3.0
    return coarse.weights * problem.all_prices / problem.budget, beta


def _third(labels: FloatArray) -> IntArray:
    """Every third sample within each class, in the order of the rows."""
    order = np.lexsort(labels)
    return np.sort(order[::3]).astype(np.intp)
