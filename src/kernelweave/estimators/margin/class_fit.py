"""Several classes against one another: one problem that shares the kernel weights, or one a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from kernelweave.estimators.margin.margin_fit import MarginSettings, fit_margin
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.base import Certificate
from kernelweave.solvers.driver import Status

__all__ = ["ClassFit", "fit_classes"]


@dataclass(frozen=True)
class ClassFit:
    """Certified weights and SVMs of all classes.

    Parameters
    ----------
    weights, importances : ndarray of shape (1 or n_columns, n_kernels)
        Kernel weights, and their shares ``mu_i trace_i / budget``; one row when shared.
    ridges : ndarray of shape (1 or n_columns,) or None
        Learned ridges, None where C is given.
    coefficients : ndarray of shape (n_columns, n_labelled)
        ``y_j alpha_j``.
    intercept : ndarray of shape (n_columns,)
        Biases.
    budget : float
        c, spent on each weight vector.
    certificate : Certificate
        Summed over the problems.
    status : Status
        OPTIMAL, or how the first problem that was not ended.
    n_iter : int
        Largest number of iterations.
    """

    weights: FloatArray
    importances: FloatArray
    ridges: FloatArray | None
    coefficients: FloatArray
    intercept: FloatArray
    budget: float
    certificate: Certificate
    status: Status
    n_iter: int


def fit_classes(
    labels: FloatArray,
    sample_weight: FloatArray,
    gram: GramStack,
    traces: FloatArray,
    n_all: int,
    settings: MarginSettings,
    *,
    shared: bool,
    n_jobs: int | None,
) -> ClassFit:
    """Learn the kernel weights of all label columns.

    Parameters
    ----------
    labels : ndarray of shape (n_columns, n_labelled)
        -1 or +1.
    sample_weight : ndarray of shape (n_labelled,)
        Positive weights.
    gram : GramStack
        The prepared kernels over all samples, labelled ones first.
    traces : ndarray of shape (n_kernels,)
        Over all samples.
    n_all : int
        Number of labelled and unlabelled samples.
    settings : MarginSettings
        Criterion, tolerance and solver.
    shared : bool
        One weight vector for all columns (the sum of their criteria), or one each.
    n_jobs : int or None
        Jobs for one weight vector each.
    """
    groups = [labels] if shared else [column[None] for column in labels]
    problems = [settings.problem(group, sample_weight, traces, n_all) for group in groups]
    if settings.weights == "nonnegative":
        # Without negative weights the unlabelled samples matter through the traces alone.
        gram = gram.restrict(np.arange(labels.shape[1], dtype=np.intp))
    fits = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit_margin)(p, gram, settings) for p in problems)
    weights = np.stack([fit.weights for fit in fits])
    budget = problems[0].budget
    unfinished = [fit.status for fit in fits if fit.status is not Status.OPTIMAL]
    return ClassFit(
        weights=weights,
        importances=weights * traces / budget,
        ridges=np.array([fit.ridge for fit in fits]) if settings.learns_ridge else None,
        coefficients=np.concatenate([fit.coefficients for fit in fits]),
        intercept=np.concatenate([fit.intercept for fit in fits]),
        budget=budget,
        certificate=Certificate(
            float(sum(fit.certificate.primal for fit in fits)),
            float(sum(fit.certificate.dual for fit in fits)),
            max(fit.certificate.infeasibility for fit in fits),
        ),
        status=unfinished[0] if unfinished else Status.OPTIMAL,
        n_iter=max(fit.n_iter for fit in fits),
    )
