"""From labels and ramps to a certified transform: the one place that chooses, runs and warns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.limits import box_and_ridge, check_choice, check_limits
from kernelweave.gram.base import FloatArray
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.problems.base import Candidate, Certificate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.monotone import MonotoneProblem
from kernelweave.problems.svm import optimal_bias
from kernelweave.solvers.blas_threads import blas_threads
from kernelweave.solvers.driver import Progress, Result, Solver, Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.alternating import solve_alternating
from kernelweave.solvers.monotone.descent import solve_descent
from kernelweave.solvers.monotone.directed import solve_directed

__all__ = ["RampFit", "RampSettings", "fit_ramps"]

_LARGEST_RANK = 2000  # coefficients up to which an interior point factorises in their space
_FEW_SAMPLES, _FEW_KERNELS = 1000, 500  # up to which it does so in the samples' space
_VERY_FEW, _DESCENT_REACHES = 300, 1e-5
_ROUNDING = 1e-8  # gap at which another solver would not do better
_FINISHED = (Status.OPTIMAL, Status.LOCAL_MINIMUM)


@dataclass(frozen=True)
class RampSettings:
    """What the user asked for: see `MonotoneClassifier`."""

    method: str
    margin: str
    C: float
    predict_with: str
    start: Any
    tol: float
    max_iter: int | None
    time_limit: float | None
    solver: str
    callback: Callable[[Progress], bool | None] | None

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("convex", "alternating"))
        check_choice("margin", self.margin, ("l1", "l2"))
        check_choice("predict_with", self.predict_with, ("kernel", "transform"))
        check_choice("solver", self.solver, ("auto", "interior_point", "descent"))
        if isinstance(self.start, str):
            check_choice("start", self.start, ("best", "linear", "convex"))
        if not (isinstance(self.C, Real) and 0 < self.C < np.inf):
            raise ValueError(f"C must be a positive finite number; got {self.C!r}.")
        check_limits(self.tol, self.max_iter, self.time_limit)

    def problem(self, labels: FloatArray, sample_weight: FloatArray, gram: Any, groups: Any) -> MarginProblem:
        """The convex problem for these labels.

        Parameters
        ----------
        labels : ndarray of shape (n_columns, n)
            -1 or +1.
        sample_weight : ndarray of shape (n,)
            Positive.
        gram : RampStack
            Samples on their ramps.
        groups : ndarray of shape (n_ramps,), dtype intp
            Group of each ramp.
        """
        box, ridge = box_and_ridge(self.margin, float(self.C), sample_weight)
        return MarginProblem(labels, box, ridge, np.ones(gram.n_kernels), 1.0, groups=groups)


@dataclass(frozen=True)
class RampFit:
    """Certified solution.

    Parameters
    ----------
    weights : ndarray of shape (n_ramps,)
        Ramp weights, summing to one in each group.
    coefficients : ndarray of shape (n_columns, n_coefficients)
        Of the predictor, on the columns of the stack.
    feature_weights : ndarray of shape (n_columns, n_features) or None
        Weights of the transformed features, where prediction uses the transform.
    intercept : ndarray of shape (n_columns,)
        Biases.
    certificate : Certificate
        Objective of the method, and the lower bound of the convex problem.
    relaxation_gap : float or None
        How far the linear classifier on the transform is above the lower bound, relative to itself.
    status : Status
        How the run ended.
    n_iter : int
        Iterations, over all runs.
    """

    weights: FloatArray
    coefficients: FloatArray
    feature_weights: FloatArray | None
    intercept: FloatArray
    certificate: Certificate
    relaxation_gap: float | None
    status: Status
    n_iter: int


def fit_ramps(problem: MarginProblem, gram: RampStack, linear: FloatArray, settings: RampSettings) -> RampFit:
    """Solve, certify, and say so when the end was not reached.

    Parameters
    ----------
    problem : MarginProblem
        The convex problem.
    gram : RampStack
        Samples on their ramps.
    linear : ndarray of shape (n_ramps,)
        Ramp weights that make the transform linear between the outermost knots.
    settings : RampSettings
        Method, tolerance and budgets.

    Returns
    -------
    RampFit

    Warns
    -----
    ConvergenceWarning
        When the tolerance was not reached (convex), or the search was cut short (alternating).
    """
    task = _Task(problem, gram, settings)
    with blas_threads(min(gram.shape[0], gram.rank)):
        relaxed = task.solve_convex()
        fit = task.alternate(relaxed, linear) if settings.method == "alternating" else task.finish_convex(relaxed)
    if fit.status not in _FINISHED:
        gap = fit.certificate.relative_gap
        warnings.warn(
            f"Ramp weights: {fit.status.name.lower().replace('_', ' ')} after {fit.n_iter} iterations with a relative "
            f"duality gap of {gap:.1e}: {fit.status.value}. Asked for: {settings.tol:.1e}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return fit


class _Task:
    """The problem with its budgets of time and iterations."""

    def __init__(self, problem: MarginProblem, gram: RampStack, settings: RampSettings) -> None:
        self.problem, self.gram, self.settings = problem, gram, settings
        self.search = MonotoneProblem(problem)
        self.began, self.n_iter = time.perf_counter(), 0

    def run(self, solver: Solver, problem: Any, start: Candidate | None = None, max_iter: int | None = None) -> Result:
        settings = self.settings
        limit = settings.time_limit
        result = run(
            solver,
            problem,
            self.gram,
            tol=settings.tol,
            max_iter=settings.max_iter if max_iter is None else max_iter,
            time_limit=None if limit is None else max(limit - (time.perf_counter() - self.began), 0.0),
            start=start,
            callback=settings.callback,
        )
        self.n_iter += result.n_iter
        return result

    def solve_convex(self) -> Result:
        first, *others = self._solvers()
        result = self.run(first, self.problem)
        for solver in others:
            failed = result.status in (Status.STALLED, Status.NUMERICAL_FAILURE)
            if not failed or result.certificate.relative_gap <= _ROUNDING:
                break
            again = self.run(solver, self.problem)
            if again.certificate.gap < result.certificate.gap:
                result = again
        return result

    def _solvers(self) -> list[Solver]:
        """The solver to use, and the one to turn to when it stalls."""
        problem, gram = self.problem, self.gram
        (k, n), m, rank = problem.labels.shape, gram.n_kernels, gram.rank
        directed = bool(gram.feature_directions.any())
        single = k == 1 and bool((np.bincount(gram.kernel_of, minlength=m) <= 1).all())
        interior: Solver | None = None
        # In the samples' space a step costs n^2 and more: descent is quicker, unless samples are very few
        # or the accuracy is one that it does not reach.
        second = rank > _LARGEST_RANK and n > _VERY_FEW and self.settings.tol >= _DESCENT_REACHES
        if single and rank <= _LARGEST_RANK:
            interior = solve_directed
        elif not directed and (rank <= _LARGEST_RANK or (n <= _FEW_SAMPLES and m <= _FEW_KERNELS)):
            interior = solve_interior_point
        if interior is None or self.settings.solver == "descent":
            return [solve_descent]
        if self.settings.solver == "interior_point":
            return [interior]
        return [solve_descent, interior] if second else [interior, solve_descent]

    def finish_convex(self, relaxed: Result) -> RampFit:
        """The additive predictor, or the linear one on the recovered transform."""
        weights, alpha = self._weights(relaxed), self._alpha(relaxed)
        if self.settings.predict_with == "kernel":
            fit = self._kernel_fit(weights, alpha, relaxed)
        else:
            start = Candidate(weights, alpha)
            refit = self.run(solve_alternating, self.search, start, max_iter=1)
            fit = self._transform_fit(refit, relaxed)
            fit = replace(fit, certificate=relaxed.certificate)
        return replace(fit, status=relaxed.status, n_iter=max(relaxed.n_iter, 1))

    def alternate(self, relaxed: Result, linear: FloatArray) -> RampFit:
        """The best of the searches from the chosen starts."""
        starts = {"linear": [linear], "convex": [self._weights(relaxed)]}
        starts["best"] = starts["linear"] + starts["convex"]
        chosen = starts[self.settings.start] if isinstance(self.settings.start, str) else [self.settings.start]
        bounding = relaxed.dual_candidate
        dual = bounding.alpha if bounding.dual_alpha is None else bounding.dual_alpha
        found = [self.run(solve_alternating, self.search, Candidate(m, dual_alpha=dual)) for m in chosen]
        best = min(found, key=lambda result: result.certificate.primal)
        fit = self._transform_fit(best, relaxed)
        unfinished = [result.status for result in found if result.status not in _FINISHED]
        status = unfinished[0] if unfinished else Status.LOCAL_MINIMUM
        optimal = fit.certificate.relative_gap <= self.settings.tol
        return replace(fit, status=Status.OPTIMAL if optimal else status)

    def _weights(self, result: Result) -> FloatArray:
        weights = result.candidate.weights
        return self.problem.in_budget(np.ones(self.gram.n_kernels) if weights is None else np.maximum(weights, 0.0))

    def _alpha(self, result: Result) -> FloatArray:
        alpha = result.candidate.alpha
        return np.zeros(self.problem.labels.shape) if alpha is None else np.clip(alpha, 0.0, self.problem.box)

    def _kernel_fit(self, weights: FloatArray, alpha: FloatArray, result: Result) -> RampFit:
        gram, by_column = self.gram, weights[self.gram.kernel_of]
        coefficients = np.stack([by_column * gram.backward(beta) for beta in self.problem.labels * alpha])
        return RampFit(
            weights, coefficients, None, self._intercept(coefficients), result.certificate, None, result.status, 0
        )

    def _transform_fit(self, result: Result, relaxed: Result) -> RampFit:
        gram, weights = self.gram, self._weights(result)
        w = self.search.feature_weights(gram, weights, self._alpha(result))
        coefficients = np.stack([weights[gram.kernel_of] * gram.to_columns(wk) for wk in w])
        bounds = Certificate(
            result.certificate.primal,
            max(result.certificate.dual, relaxed.certificate.dual),
            result.certificate.infeasibility,
        )
        intercept = self._intercept(coefficients)
        return RampFit(weights, coefficients, w, intercept, bounds, bounds.relative_gap, result.status, self.n_iter)

    def _intercept(self, coefficients: FloatArray) -> FloatArray:
        problem = self.problem
        scores = [self.gram.forward(c) for c in coefficients]
        biases = [optimal_bias(f, y, problem.box, problem.ridge) for f, y in zip(scores, problem.labels, strict=True)]
        return np.array(biases)
