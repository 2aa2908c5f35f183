"""From targets and ramps to certified weights for the squared loss."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.limits import check_choice, check_limits
from kernelweave.estimators.monotone.ramp_fit import RampFit
from kernelweave.gram.base import FloatArray
from kernelweave.gram.preparing.memory import check_memory
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.problems.ridge import RidgeProblem
from kernelweave.solvers.blas_threads import blas_threads
from kernelweave.solvers.driver import Progress, Result, Status, run
from kernelweave.solvers.monotone.ridge_weights import solve_ridge_weights

__all__ = ["RegressionSettings", "fit_ridge"]


@dataclass(frozen=True)
class RegressionSettings:
    """What the user asked for: see `MonotoneRegressor`."""

    C: float
    predict_with: str
    tol: float
    max_iter: int | None
    time_limit: float | None
    callback: Callable[[Progress], bool | None] | None

    def __post_init__(self) -> None:
        check_choice("predict_with", self.predict_with, ("kernel", "transform"))
        if not (isinstance(self.C, Real) and 0 < self.C < np.inf):
            raise ValueError(f"C must be a positive finite number; got {self.C!r}.")
        check_limits(self.tol, self.max_iter, self.time_limit)


def fit_ridge(problem: RidgeProblem, gram: RampStack, settings: RegressionSettings) -> RampFit:
    """Solve, certify, and say so when the tolerance was not reached.

    Parameters
    ----------
    problem : RidgeProblem
        Targets, ridge and groups of the ramps.
    gram : RampStack
        Samples on their ramps.
    settings : RegressionSettings
        Tolerance, budgets and predictor.

    Returns
    -------
    RampFit

    Raises
    ------
    MemoryLimitError
        When neither the ramps of all features nor the samples are few enough to be factorised in memory.

    Warns
    -----
    ConvergenceWarning
        With the gap reached, when it is above the tolerance.
    """
    size = min(gram.rank, gram.shape[0])
    check_memory(size, 1, np.float64)
    with blas_threads(size):
        result = run(
            solve_ridge_weights,
            problem,
            gram,
            tol=settings.tol,
            max_iter=settings.max_iter,
            time_limit=settings.time_limit,
            callback=settings.callback,
        )
        if result.status is not Status.OPTIMAL:
            warnings.warn(f"Ramp weights: {result.message} Asked for: {settings.tol:.1e}.", ConvergenceWarning, 3)
        if settings.predict_with == "kernel":
            return _kernel_fit(problem, gram, result)
        return _transform_fit(problem, gram, result)


def _kernel_fit(problem: RidgeProblem, gram: RampStack, result: Result) -> RampFit:
    weights, alpha = _point(problem, result)
    by_column = weights[gram.kernel_of]
    coefficients = np.stack([by_column * gram.backward(a) for a in alpha])
    intercept = problem.intercepts(np.stack([gram.forward(c) for c in coefficients]))
    return RampFit(
        weights, coefficients, None, intercept, result.certificate, None, result.status, max(result.n_iter, 1)
    )


def _transform_fit(problem: RidgeProblem, gram: RampStack, result: Result) -> RampFit:
    """Ridge regression on the recovered transform."""
    weights, _ = _point(problem, result)
    linear = gram.transformed(weights)
    alone = RidgeProblem(problem.targets, problem.ridge, np.zeros(1, dtype=np.intp))
    # One kernel has one feasible weight: the first candidate is the answer.
    refit = run(solve_ridge_weights, alone, linear, tol=1e-12, max_iter=1)
    w = np.stack([gram.by_feature(weights[gram.kernel_of] * gram.backward(a)) for a in _point(alone, refit)[1]])
    coefficients = np.stack([weights[gram.kernel_of] * gram.to_columns(wk) for wk in w])
    intercept = problem.intercepts(np.stack([gram.forward(c) for c in coefficients]))
    bound, value = result.certificate.dual, refit.certificate.primal
    gap = (value - bound) / value if value > 0 else 0.0
    return RampFit(weights, coefficients, w, intercept, result.certificate, gap, result.status, max(result.n_iter, 1))


def _point(problem: RidgeProblem, result: Result) -> tuple[FloatArray, FloatArray]:
    """Feasible weights and balanced dual variables of a result."""
    weights, alpha = result.candidate.weights, result.candidate.alpha
    weights = np.ones(len(problem.groups)) if weights is None else np.maximum(weights, 0.0)
    alpha = np.zeros(problem.targets.shape) if alpha is None else alpha
    return problem.in_budget(weights), alpha - alpha.mean(axis=1, keepdims=True)
