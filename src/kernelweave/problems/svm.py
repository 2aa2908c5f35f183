"""One support vector machine with a box and a ridge per sample ([L04] (20)).

    omega = max_alpha  2 alpha'e - alpha'(Y K Y + diag(ridge)) alpha,  0 <= alpha <= box,  alpha'y = 0.

Its primal is  min_{w,b}  ||w||^2 + sum_j loss_j(1 - y_j (f_j + b))  with, for slack s > 0,

    loss_j(s) = max_{0<=a<=box_j} 2 a s - ridge_j a^2,

which is the hinge (ridge 0), the squared hinge (box inf), or the hard constraint (both).
A sample of weight s counts as s copies: box s C and ridge tau / s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.problems.base import Candidate, Certificate, FloatArray

__all__ = ["FEASIBILITY_TOLERANCE", "SVMProblem", "check_classes", "feasible_dual", "optimal_bias", "primal_value"]

# A dual point further from feasible than this bounds nothing; nearer ones are repaired exactly.
FEASIBILITY_TOLERANCE = 1e-6
# Margins this close below 1 are looked at as 1 missed by rounding; a trial, the better value counts.
_ROUNDING = 1e-9
# Below this the square of a margin underflows, and with it the norm of w.
_VANISHING = 1e-140


def optimal_bias(scores: FloatArray, y: FloatArray, box: FloatArray, ridge: FloatArray) -> float:
    """Bias that minimises the primal value for given scores ``f_j = w'phi(x_j)``.

    Parameters
    ----------
    scores, y, box, ridge : ndarray of shape (n,)
        Scores without bias, labels in {-1, +1}, upper bounds (inf allowed), ridge.

    Returns
    -------
    float
        Exact minimiser (the middle of the flat piece when there is one).
    """
    positive = y > 0
    if not ridge.any():
        if np.isinf(box).any():
            return -0.5 * float(scores[positive].min() + scores[~positive].max())
        return _hinge_bias(scores, y, box)
    return _smooth_bias(scores, y, box, ridge)


def _hinge_bias(scores: FloatArray, y: FloatArray, box: FloatArray) -> float:
    # The derivative in b jumps by box_j at each b = y_j - f_j; the minimum is where it changes sign.
    breaks = y - scores
    order = np.argsort(breaks, kind="stable")
    slope = np.cumsum(box[order]) - box[y > 0].sum()
    tolerance = 1e-12 * box.sum()
    first = int(np.argmax(slope >= -tolerance))
    if slope[first] <= tolerance and first + 1 < len(breaks):
        return 0.5 * float(breaks[order[first]] + breaks[order[first + 1]])
    return float(breaks[order[first]])


def _smooth_bias(scores: FloatArray, y: FloatArray, box: FloatArray, ridge: FloatArray) -> float:
    # sum_j y_j a_j(b), a_j(b) = clip((1 - y_j (f_j + b)) / ridge_j, 0, box_j), decreases piecewise
    # linearly in b: bisect over its sorted breakpoints, then solve the linear piece.
    finite = np.isfinite(box)
    saturation = (y - scores - y * ridge * np.where(finite, box, 0.0))[finite]
    knots = np.unique(np.concatenate([y - scores, saturation]))

    def duals(b: float) -> FloatArray:
        return np.clip((1.0 - y * (scores + b)) / ridge, 0.0, box)

    low, high = 0, len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if y @ duals(float(knots[middle])) > 0 else (low, middle)
    inside = 0.5 * float(knots[low] + knots[high])
    a = duals(inside)
    linear, saturated = (a > 0) & (a < box), a == box
    if not linear.any():
        return inside
    numerator = ((y - scores)[linear] / ridge[linear]).sum() + (y * box)[saturated].sum()
    return float(numerator / (1.0 / ridge[linear]).sum())


def primal_value(norm: float, scores: FloatArray, y: FloatArray, box: FloatArray, ridge: FloatArray) -> float:
    """Primal value at the best bias: an upper bound of omega.

    Parameters
    ----------
    norm : float
        ``||w||^2``.
    scores, y, box, ridge : ndarray of shape (n,)
        Scores without bias, labels, upper bounds, ridge.

    Returns
    -------
    float
        inf when a hard margin is violated at every scale of w.
    """
    bias = optimal_bias(scores, y, box, ridge)
    margins = y * (scores + bias)
    if np.isinf(box).any() and not ridge.any():
        smallest = float(margins.min())
        return norm / smallest**2 if smallest > _VANISHING else float("inf")
    value = norm + _loss(1.0 - margins, box, ridge)
    nearly = (margins < 1.0) & (margins > 1.0 - _ROUNDING)
    if not nearly.any():
        return value
    # A margin that misses 1 by rounding costs as much as the box is large; a slightly longer w does not.
    longer = 1.0 / float(margins[nearly].min())
    return min(value, norm * longer**2 + _loss(1.0 - longer * margins, box, ridge))


def _loss(slack: FloatArray, box: FloatArray, ridge: FloatArray) -> float:
    slack = np.maximum(slack, 0.0)
    # The inner maximiser a = min(slack / ridge, box); a zero ridge always meets the box.
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(slack > 0, np.minimum(np.where(ridge > 0, slack / ridge, np.inf), box), 0.0)
    # In this order nothing overflows before the loss itself does: ridge a <= slack.
    return float(np.sum(a * (2.0 * slack - ridge * a)))


def feasible_dual(alpha: FloatArray, y: FloatArray, box: FloatArray) -> tuple[FloatArray, float]:
    """Remove rounding errors from dual variables.

    Parameters
    ----------
    alpha, y, box : ndarray of shape (n,)
        Dual variables, labels, upper bounds.

    Returns
    -------
    alpha : ndarray of shape (n,)
        Clipped to the box, the heavier class reduced until ``alpha'y = 0`` to the last digit.
    infeasibility : float
        Largest violation before the repair, relative to the total mass.
    """
    clipped = np.clip(alpha, 0.0, box)
    mass = float(np.abs(alpha).sum())
    if mass == 0:
        return clipped, 0.0
    positive = y > 0
    surplus = float(clipped[positive].sum() - clipped[~positive].sum())
    infeasibility = max(float(np.abs(alpha - clipped).sum()), abs(surplus)) / mass
    if surplus != 0:
        _take(clipped, positive if surplus > 0 else ~positive, abs(surplus), box)
    return clipped, infeasibility


def _take(alpha: FloatArray, heavier: npt.NDArray[np.bool_], surplus: float, box: FloatArray) -> None:
    # First from variables inside the box: the dual value is flat there, while moving one off
    # its bound costs to first order. What is still missing comes from all.
    for room in (box - alpha, np.inf):
        reserve = np.where(heavier, np.minimum(alpha, room), 0.0)
        available = float(reserve.sum())
        taken = min(surplus, available)
        if taken > 0:
            alpha -= reserve * (taken / available)
            surplus -= taken
    np.maximum(alpha, 0.0, out=alpha)


def check_classes(labels: FloatArray, box: FloatArray, ridge: FloatArray) -> None:
    """Refuse labels, boxes and ridges that make no problem.

    Parameters
    ----------
    labels : ndarray of shape (n_columns, n)
        Labels in {-1, +1}, both in each row.
    box, ridge : ndarray of shape (n,)
        Upper bounds (inf allowed) and ridge.

    Raises
    ------
    ValueError
        Saying what is wrong.
    """
    n = labels.shape[-1]
    if labels.ndim != 2 or box.shape != (n,) or ridge.shape != (n,):
        raise ValueError(
            f"labels must have shape (n_columns, n), box and ridge (n,); got {labels.shape}, "
            f"{box.shape}, {ridge.shape}."
        )
    if not (np.abs(labels) == 1).all():
        raise ValueError("labels must be -1 or +1.")
    if (np.abs(labels.sum(axis=1)) == n).any():
        raise ValueError("Every label column needs samples of both classes.")
    if not (box > 0).all() or not (ridge >= 0).all() or not np.isfinite(ridge).all():
        raise ValueError("box must be positive, ridge nonnegative and finite.")


@dataclass(frozen=True)
class SVMProblem:
    """The SVM on the sum of the kernels of a stack with given weights.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels in {-1, +1}.
    box : ndarray of shape (n,)
        Upper bounds of the dual variables, inf for none.
    ridge : ndarray of shape (n,)
        Nonnegative ridge added to the diagonal.
    weights : ndarray of shape (m,)
        Kernel weights.

    Raises
    ------
    ValueError
        When shapes disagree, one class is missing, or box or ridge are not positive where they must be.

    Examples
    --------
    >>> from kernelweave.gram.dense import DenseStack
    >>> y = np.array([1.0, -1.0])
    >>> problem = SVMProblem(y, np.full(2, np.inf), np.zeros(2), np.ones(1))
    >>> problem.certify(DenseStack([np.eye(2)]), Candidate(alpha=np.ones((1, 2))))
    Certificate(primal=2.0, dual=2.0, infeasibility=0.0)
    """

    y: FloatArray
    box: FloatArray
    ridge: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        check_classes(self.y[None], self.box, self.ridge)

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Primal and dual value of the dual variables in ``candidate.alpha`` of shape (1, n)."""
        given = candidate.alpha
        if given is None or given.shape != (1, len(self.y)) or not np.isfinite(given).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        with np.errstate(over="ignore", invalid="ignore"):
            alpha, infeasibility = feasible_dual(given[0], self.y, self.box)
            scores = gram.matvec(self.weights, self.y * alpha)
            norm = float((self.y * alpha) @ scores)
            primal = primal_value(norm, scores, self.y, self.box, self.ridge)
            dual = 2.0 * float(alpha.sum()) - norm - float(self.ridge @ alpha**2)
        feasible = infeasibility <= FEASIBILITY_TOLERANCE
        return Certificate.sound(primal, dual if feasible else -float("inf"), infeasibility)
