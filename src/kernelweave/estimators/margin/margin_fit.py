"""From labels and a Gram stack to certified kernel weights: the one place that chooses, runs and warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.estimators.limits import box_and_ridge, check_limits
from kernelweave.estimators.margin.psd_fit import psd_solvers, psd_weights
from kernelweave.exceptions import NotSeparableError
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate, Certificate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.problems.svm import feasible_dual, optimal_bias
from kernelweave.solvers.blas_threads import blas_threads
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.driver import Progress, Result, Solver, Status, run
from kernelweave.solvers.interior_point import solve_interior_point

__all__ = ["MarginFit", "MarginSettings", "fit_margin"]

# Where the interior point is the better choice: measured against the bundle (see benchmarks/).
_SMALL = 150
_SMALL_HARD = 600
_MANY_KERNELS = 0.5  # kernels per sample
_HIGH_ACCURACY = 1e-8
_SOLVERS = {"nonnegative": ("auto", "bundle", "interior_point"), "psd": ("auto", "subspace", "primal_dual")}
_FALLBACK_LIMIT = 5000  # samples up to which one factorisation a step stays affordable


@dataclass(frozen=True)
class MarginSettings:
    """What the user asked for: see `MKLClassifier`."""

    margin: str
    C: float | str
    trace: float | str
    tol: float
    max_iter: int | None
    time_limit: float | None
    solver: str
    callback: Callable[[Progress], bool | None] | None
    weights: str = "nonnegative"

    def __post_init__(self) -> None:
        if self.margin not in ("hard", "l1", "l2"):
            raise ValueError(f"margin must be 'hard', 'l1' or 'l2'; got {self.margin!r}.")
        if isinstance(self.C, str):
            if self.C != "auto":
                raise ValueError(f"C must be a positive number or 'auto'; got {self.C!r}.")
            if self.margin != "l2":
                raise ValueError(f"C='auto' needs margin='l2'; got margin={self.margin!r}.")
        elif self.margin != "hard" and not (isinstance(self.C, Real) and 0 < self.C < np.inf):
            raise ValueError(f"C must be a positive finite number or 'auto'; got {self.C!r}.")
        if isinstance(self.trace, str):
            if self.trace not in ("mean", "sum"):
                raise ValueError(f"trace must be 'mean', 'sum' or a positive number; got {self.trace!r}.")
        elif not (isinstance(self.trace, Real) and 0 < self.trace < np.inf):
            raise ValueError(f"trace must be 'mean', 'sum' or a positive number; got {self.trace!r}.")
        check_limits(self.tol, self.max_iter, self.time_limit)
        if self.weights not in _SOLVERS:
            raise ValueError(f"weights must be one of {tuple(_SOLVERS)}; got {self.weights!r}.")
        if self.solver not in _SOLVERS[self.weights]:
            raise ValueError(
                f"solver must be one of {_SOLVERS[self.weights]} with weights={self.weights!r}; got {self.solver!r}."
            )

    @property
    def learns_ridge(self) -> bool:
        """Whether C is learned."""
        return self.C == "auto" and self.margin == "l2"

    def problem(self, labels: FloatArray, sample_weight: FloatArray, traces: FloatArray, n_all: int) -> MarginProblem:
        """The optimisation problem for these labels.

        Parameters
        ----------
        labels : ndarray of shape (n_columns, n_labelled)
            -1 or +1.
        sample_weight : ndarray of shape (n_labelled,)
            Positive; a sample of weight s counts as s copies.
        traces : ndarray of shape (n_kernels,)
            Over labelled and unlabelled samples.
        n_all : int
            Number of labelled and unlabelled samples.
        """
        # A ridge that is learned enters as its profile 1 / s.
        C = float(self.C) if isinstance(self.C, Real) else 1.0
        box, ridge = box_and_ridge(self.margin, C, sample_weight)
        total = traces.sum() + (n_all if self.learns_ridge else 0)
        parts = len(traces) + self.learns_ridge
        budget = {"sum": total, "mean": total / parts}[self.trace] if isinstance(self.trace, str) else self.trace
        kind = PSDMarginProblem if self.weights == "psd" else MarginProblem
        return kind(labels, box, ridge, traces, float(budget), float(n_all) if self.learns_ridge else None)


@dataclass(frozen=True)
class MarginFit:
    """Certified solution of one problem.

    Parameters
    ----------
    weights : ndarray of shape (n_kernels,)
        Kernel weights mu.
    ridge : float or None
        Learned ridge tau = 1 / C, None where it is not learned.
    coefficients : ndarray of shape (n_columns, n_labelled)
        ``y_j alpha_j``.
    intercept : ndarray of shape (n_columns,)
        Biases.
    certificate : Certificate
        Primal and dual value.
    status : Status
        How the run ended.
    n_iter : int
        Iterations.
    """

    weights: FloatArray
    ridge: float | None
    coefficients: FloatArray
    intercept: FloatArray
    certificate: Certificate
    status: Status
    n_iter: int


def fit_margin(problem: MarginProblem, gram: GramStack, settings: MarginSettings) -> MarginFit:
    """Solve, certify, and say so when the tolerance was not reached.

    Parameters
    ----------
    problem : MarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        The prepared kernels: labelled blocks, or with weights of any sign all samples, labelled ones first.
    settings : MarginSettings
        Tolerance, budgets and solver.

    Returns
    -------
    MarginFit

    Raises
    ------
    NotSeparableError
        For a hard margin without solution.

    Warns
    -----
    ConvergenceWarning
        With the gap reached, when it is above the tolerance.
    """
    with blas_threads(gram.shape[0]):
        result = _solve(problem, gram, settings)
    if result.status is Status.NOT_SEPARABLE:
        direction = result.candidate.ray
        raise NotSeparableError(
            "The hard margin has no solution: no combination of these kernels separates the labelled samples "
            "(the convex hulls of two classes meet in the feature space of every kernel; the weights of the "
            "meeting point are in the attribute 'direction' of this error). "
            "Use a soft margin: margin='l1' or margin='l2'.",
            direction,
        )
    if result.status is not Status.OPTIMAL:
        warnings.warn(
            f"Kernel weights: {result.message} Asked for: {settings.tol:.1e}.", ConvergenceWarning, stacklevel=3
        )
    return _unpack(problem, gram, result)


def _solve(problem: MarginProblem, gram: GramStack, settings: MarginSettings) -> Result:
    first, *others = _solvers(problem, gram, settings)
    result = _run(first, problem, gram, settings)
    for solver in others:
        if result.status not in (Status.STALLED, Status.NUMERICAL_FAILURE):
            break
        left = None if settings.time_limit is None else max(settings.time_limit - result.seconds, 0.0)
        again = _run(solver, problem, gram, replace(settings, time_limit=left))
        if again.status is Status.NOT_SEPARABLE or again.certificate.gap < result.certificate.gap:
            result = again
    return result


def _run(solver: Solver, problem: MarginProblem, gram: GramStack, settings: MarginSettings) -> Result:
    return run(
        solver,
        problem,
        gram,
        tol=settings.tol,
        max_iter=settings.max_iter,
        time_limit=settings.time_limit,
        callback=settings.callback,
    )


def _solvers(problem: MarginProblem, gram: GramStack, settings: MarginSettings) -> list[Solver]:
    """The solver to use, and the one to turn to when it stalls."""
    if isinstance(problem, PSDMarginProblem):
        return psd_solvers(settings.solver, gram.shape[0])
    if settings.solver == "interior_point":
        return [solve_interior_point]
    n, m = problem.labels.shape[1], len(problem.prices)
    fallback = [solve_interior_point] if n <= _FALLBACK_LIMIT or isinstance(gram, FactorStack) else []
    if settings.solver == "bundle":
        return [solve_bundle, *fallback]
    interior = (
        isinstance(gram, FactorStack)
        or n <= _SMALL
        or (problem.is_hard and n <= _SMALL_HARD)
        or m >= _MANY_KERNELS * n
        or (settings.tol < _HIGH_ACCURACY and n <= _FALLBACK_LIMIT)
    )
    return [solve_interior_point] if interior else [solve_bundle, *fallback]


def _unpack(problem: MarginProblem, gram: GramStack, result: Result) -> MarginFit:
    candidate, shape = result.candidate, problem.labels.shape
    if isinstance(problem, PSDMarginProblem):
        weights = psd_weights(problem, gram, candidate)
        gram = gram.restrict(np.arange(shape[1], dtype=np.intp))
    else:
        weights = _nonnegative_weights(problem, candidate)
    alpha = np.zeros(shape) if candidate.alpha is None else candidate.alpha
    signed = problem.labels * np.stack(
        [feasible_dual(a, y, problem.box)[0] for a, y in zip(alpha, problem.labels, strict=True)]
    )
    scores = gram.matvec(problem.kernel_part(weights), signed.T).T
    ridge = problem.ridge_at(weights)
    intercept = [optimal_bias(f, y, problem.box, ridge) for f, y in zip(scores, problem.labels, strict=True)]
    return MarginFit(
        weights=problem.kernel_part(weights),
        ridge=float(weights[-1]) if problem.learns_ridge else None,
        coefficients=signed,
        intercept=np.array(intercept),
        certificate=result.certificate,
        status=result.status,
        n_iter=max(result.n_iter, 1),
    )


def _nonnegative_weights(problem: MarginProblem, candidate: Candidate) -> FloatArray:
    weights = problem.budget / problem.all_prices / len(problem.all_prices)
    if candidate.weights is not None and candidate.weights.shape == weights.shape:
        weights = np.maximum(candidate.weights, 0.0)
        weights *= problem.budget / (weights @ problem.all_prices)
    return weights
