"""The best kernel there is: all positive semidefinite matrices of a given trace ([L04] (22))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.estimators.classes import encode_classes
from kernelweave.gram.base import FloatArray

__all__ = ["OptimalKernel", "optimal_kernel"]


@dataclass(frozen=True)
class OptimalKernel:
    """A kernel matrix that no other one of its trace beats.

    Parameters
    ----------
    gram : ndarray of shape (n, n), dtype float64
        The matrix, of rank one: ``c beta beta' / |beta|^2`` with beta the signed dual variables.
    dual_coef : ndarray of shape (n_labelled,), dtype float64
        ``y_j alpha_j``.
    objective : float
        omega of the matrix, a lower bound of `MKLClassifier`'s ``objective_`` at the same budget.
    """

    gram: FloatArray
    dual_coef: FloatArray
    objective: float


def optimal_kernel(
    y: Any, *, margin: str = "l1", C: float | str = 1.0, trace: float | None = None, n_unlabeled: int = 0
) -> OptimalKernel:
    """The kernel matrix of a given trace with the largest margin on given labels.

    Learns nothing about new samples: its unlabelled block is zero, and on the labelled samples it just repeats
    the labels. It tells how far a learned combination is from the best any kernel could do.

    Parameters
    ----------
    y : array-like of shape (n_labelled,)
        Labels of two classes.
    margin : {"l1", "l2", "hard"}, default="l1"
        As for `MKLClassifier`.
    C : float or "auto", default=1.0
        As for `MKLClassifier`. With "auto" the budget covers the ridge, and none is left for it.
    trace : float or None, default=None
        Budget c of the trace over all samples; None for their number.
    n_unlabeled : int, default=0
        Number of unlabelled samples.

    Returns
    -------
    OptimalKernel

    Raises
    ------
    ValueError
        For bad parameters, or labels of other than two classes.

    Notes
    -----
    ``alpha'YKY alpha <= c |alpha|^2`` for every K of the set, with equality at ``K = c beta beta' / |beta|^2``.
    What is left, ``max 2 alpha'e - (tau + c) |alpha|^2`` with ``alpha'y = 0`` in the box, gives all samples of
    a class the same alpha: with no box the value is ``4 n_plus n_minus / ((tau + c) n_labelled)``.

    References
    ----------
    .. [L04] Lanckriet et al., "Learning the kernel matrix with semidefinite programming", JMLR 5, 2004, (22).

    Examples
    --------
    >>> from kernelweave import optimal_kernel
    >>> best = optimal_kernel(["a", "a", "b", "b"], margin="hard", trace=2.0)
    >>> best.objective
    2.0
    >>> best.gram.round(3).tolist()[0]
    [0.5, 0.5, -0.5, -0.5]
    """
    signs = _signs(y)
    c = float(len(signs) + n_unlabeled) if trace is None else float(trace)
    if not (c > 0 and math.isfinite(c)) or n_unlabeled < 0:
        raise ValueError(f"trace must be positive and n_unlabeled not negative; got {trace!r} and {n_unlabeled!r}.")
    box, ridge = _box_and_ridge(margin, C)
    n_plus, n_minus = int((signs > 0).sum()), int((signs < 0).sum())
    share = 1.0 / n_plus + 1.0 / n_minus
    # Each class carries t in all.
    t = min(2.0 / ((ridge + c) * share), box * min(n_plus, n_minus))
    beta = np.zeros(len(signs) + n_unlabeled)
    beta[: len(signs)] = np.where(signs > 0, t / n_plus, -t / n_minus)
    gram = np.outer(beta, beta) * (c / float(beta @ beta))
    return OptimalKernel(gram, beta[: len(signs)], 4.0 * t - (ridge + c) * share * t**2)


def _signs(y: Any) -> FloatArray:
    classes, codes = encode_classes("optimal_kernel", y, len(y))
    if len(classes) != 2:
        raise ValueError(f"optimal_kernel needs labels of two classes, got {len(classes)}.")
    return np.where(codes == 1, 1.0, -1.0)


def _box_and_ridge(margin: str, C: float | str) -> tuple[float, float]:
    if margin not in ("hard", "l1", "l2"):
        raise ValueError(f"margin must be 'hard', 'l1' or 'l2'; got {margin!r}.")
    if margin == "hard" or (margin == "l2" and C == "auto"):
        return math.inf, 0.0
    if isinstance(C, str) or not C > 0 or not math.isfinite(C):
        raise ValueError(f"C must be a positive number, or 'auto' with margin='l2'; got {C!r}.")
    return (float(C), 0.0) if margin == "l1" else (math.inf, 1.0 / float(C))
