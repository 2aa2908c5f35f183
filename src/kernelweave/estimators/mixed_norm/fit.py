"""From a Gram stack and losses to certified coefficients: the one place that chooses, runs and warns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.base import Candidate, Certificate
from kernelweave.problems.losses import LogisticLoss, Loss, SquaredHingeLoss, SquaredLoss
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.problems.penalties import MixedNorm, penalty_named
from kernelweave.solvers.blas_threads import blas_threads
from kernelweave.solvers.driver import Progress, Result, Solver, Status, run
from kernelweave.solvers.mixed_norm.columns import column_sizes
from kernelweave.solvers.mixed_norm.fast import solve_fast
from kernelweave.solvers.mixed_norm.forward_backward import solve_accelerated, solve_forward_backward

__all__ = ["LOSSES", "MixedNormFit", "MixedNormSettings", "fit_mixed_norm", "largest_strengths", "point_weights"]

LOSSES: dict[str, type[Loss]] = {"squared_hinge": SquaredHingeLoss, "logistic": LogisticLoss, "squared": SquaredLoss}
_FAR_APART = 1e3  # sizes of kernels that are worth a word when a fit stops short
_SOLVERS: dict[str, Solver] = {
    "auto": solve_fast,
    "accelerated": solve_accelerated,
    "forward_backward": solve_forward_backward,
}


@dataclass(frozen=True)
class MixedNormSettings:
    """What the user asked for: see `MixedNormClassifier`."""

    penalty: str
    structure: str
    loss: str
    intercept: bool
    tol: float
    max_iter: int | None
    time_limit: float | None
    solver: str
    callback: Callable[[Progress], bool | None] | None = None

    def __post_init__(self) -> None:
        self.norm  # noqa: B018  (refuses unknown names)
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {sorted(LOSSES)}; got {self.loss!r}.")
        if self.solver not in _SOLVERS:
            raise ValueError(f"solver must be one of {list(_SOLVERS)}; got {self.solver!r}.")
        if not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(f"tol must be a positive number; got {self.tol!r}.")
        if self.max_iter is not None and not (isinstance(self.max_iter, Integral) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a whole number of at least 1 or None; got {self.max_iter!r}.")
        if self.time_limit is not None and not (isinstance(self.time_limit, Real) and self.time_limit >= 0):
            raise ValueError(f"time_limit must be a number of seconds (0 or more) or None; got {self.time_limit!r}.")

    @property
    def norm(self) -> MixedNorm:
        """The penalty."""
        return penalty_named(self.penalty, self.structure)

    def loss_of(self, y: FloatArray, weight: FloatArray) -> Loss:
        """The loss on targets with positive weights."""
        return LOSSES[self.loss](y, weight)

    def problem(self, loss: Loss, alpha: float) -> MixedNormProblem:
        """The optimisation problem for one target and one strength of the penalty."""
        return MixedNormProblem(loss, self.norm, alpha, self.intercept)


@dataclass(frozen=True)
class MixedNormFit:
    """Certified coefficients of all outputs.

    Parameters
    ----------
    coefficients : list of ndarray of shape (n_points, n_kernels)
        One array an output.
    intercept : ndarray of shape (n_outputs,)
        Biases, zero where there is none.
    alpha_max : ndarray of shape (n_outputs,)
        Smallest strength at which all coefficients of the output are zero.
    certificate : Certificate
        Summed over the outputs.
    status : Status
        OPTIMAL, or how the first run that was not ended.
    n_iter : int
        Largest number of iterations.
    candidates : list of Candidate
        Where a run on the same kernels can start from.
    """

    coefficients: list[FloatArray]
    intercept: FloatArray
    alpha_max: FloatArray
    certificate: Certificate
    status: Status
    n_iter: int
    candidates: list[Candidate]


def point_weights(penalty: MixedNorm, sample_weight: FloatArray) -> FloatArray | None:
    """Factors of the columns by which a sample of weight s counts as s copies in the penalty too.

    Copies share a coefficient: under the 1-norm they pay as much as one sample, under the squared
    2-norm s copies pay 1/s of it, which is what a column longer by sqrt(s) does.

    Parameters
    ----------
    penalty : MixedNorm
        The norm.
    sample_weight : ndarray of shape (n_points,)
        Positive weights of the samples that are the expansion points.

    Returns
    -------
    ndarray of shape (n_points,) or None
        None when all factors are one.
    """
    norm_over_samples = penalty.p if penalty.r == 2 else penalty.q
    return None if norm_over_samples == 1 or (sample_weight == 1).all() else np.sqrt(sample_weight)


def fit_mixed_norm(
    losses: Sequence[Loss],
    alpha: float,
    gram: GramStack,
    settings: MixedNormSettings,
    *,
    start: Sequence[Candidate | None] | None = None,
    alpha_max: FloatArray | None = None,
) -> MixedNormFit:
    """Solve for each output, certify, and say so when the tolerance was not reached.

    Parameters
    ----------
    losses : sequence of Loss
        One an output.
    alpha : float
        Strength of the penalty.
    gram : GramStack
        The prepared kernels, n_samples x n_points.
    settings : MixedNormSettings
        Penalty, tolerance, budgets and solver.
    start : sequence of Candidate or None, optional
        Where to start from, one an output.
    alpha_max : ndarray of shape (n_outputs,), optional
        The limits of `largest_strengths`, where they are known.

    Returns
    -------
    MixedNormFit

    Warns
    -----
    ConvergenceWarning
        With the largest gap, when one is above the tolerance.
    """
    began, results = time.perf_counter(), []
    starts = [None] * len(losses) if start is None else start
    with blas_threads(gram.shape[0]):
        for loss, first in zip(losses, starts, strict=True):
            left = settings.time_limit
            if left is not None:
                left = max(left - (time.perf_counter() - began), 0.0)
            problem = settings.problem(loss, alpha)
            results.append(_run(problem, gram, settings, left, first))
    unfinished = [result for result in results if result.status is not Status.OPTIMAL]
    if unfinished:
        worst = max(unfinished, key=lambda result: result.certificate.relative_gap)
        warnings.warn(
            f"Mixed norm at alpha={alpha:.4g}: {worst.message} Asked for: {settings.tol:.1e}.{_scale_advice(gram)}",
            ConvergenceWarning,
            stacklevel=4,
        )
    shape = (gram.shape[1], gram.n_kernels)
    candidates = [result.candidate for result in results]
    return MixedNormFit(
        coefficients=[np.zeros(shape) if c.alpha is None else np.asarray(c.alpha) for c in candidates],
        intercept=np.array([_bias(candidate, settings) for candidate in candidates]),
        alpha_max=largest_strengths(losses, gram, settings) if alpha_max is None else alpha_max,
        certificate=Certificate(
            float(sum(result.certificate.primal for result in results)),
            float(sum(result.certificate.dual for result in results)),
        ),
        status=unfinished[0].status if unfinished else Status.OPTIMAL,
        n_iter=max(1, *(result.n_iter for result in results)),
        candidates=candidates,
    )


def largest_strengths(losses: Sequence[Loss], gram: GramStack, settings: MixedNormSettings) -> FloatArray:
    """Smallest strength at which all coefficients are zero, of each output; one pass each.

    Parameters
    ----------
    losses, gram, settings
        As for `fit_mixed_norm`.
    """
    return np.array([settings.problem(loss, 1.0).alpha_max(gram) for loss in losses])


def _scale_advice(gram: GramStack) -> str:
    sizes = np.sqrt(column_sizes(gram))
    sizes = sizes[sizes > 0]
    if not len(sizes) or sizes.max() < _FAR_APART * sizes.min():
        return ""
    return (
        f" The kernels differ in size by a factor of {sizes.max() / sizes.min():.0e}; "
        "normalize='frobenius' brings them to one."
    )


def _run(
    problem: MixedNormProblem,
    gram: GramStack,
    settings: MixedNormSettings,
    time_limit: float | None,
    start: Candidate | None,
) -> Result:
    return run(
        _SOLVERS[settings.solver],
        problem,
        gram,
        tol=settings.tol,
        max_iter=settings.max_iter,
        time_limit=time_limit,
        start=start,
        callback=settings.callback,
    )


def _bias(candidate: Candidate, settings: MixedNormSettings) -> Any:
    return candidate.bias[0] if settings.intercept and candidate.bias is not None else 0.0
