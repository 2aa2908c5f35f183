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

from kernelweave.problems.base import Candidate, Certificate, FloatArray

__all__ = ["FEASIBILITY_TOLERANCE", "SVMProblem", "feasible_dual", "optimal_bias", "primal_value"]

# A dual point further from feasible than this bounds nothing; nearer ones are repaired exactly.
FEASIBILITY_TOLERANCE = 1e-6


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
    # At this scale of w there is no slack: the hard margin's value, and a bound for the soft ones, which
    # a vanishing ridge or a huge box would otherwise make of rounding errors.
    smallest = float(margins.min())
    without_slack = norm / smallest**2 if smallest > 0 else float("inf")
    if np.isinf(box).any() and not ridge.any():
        return without_slack
    slack = np.maximum(1.0 - margins, 0.0)
    # The inner maximiser a = min(slack / ridge, box); a zero ridge always meets the box.
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(slack > 0, np.minimum(np.where(ridge > 0, slack / ridge, np.inf), box), 0.0)
    return min(float(norm + np.sum(2.0 * a * slack - ridge * a**2)), without_slack)


def feasible_dual(alpha: FloatArray, y: FloatArray, box: FloatArray) -> tuple[FloatArray, float]:
    """Remove rounding errors from dual variables.

    Parameters
    ----------
    alpha, y, box : ndarray of shape (n,)
        Dual variables, labels, upper bounds.

    Returns
    -------
    alpha : ndarray of shape (n,)
        Exactly feasible: clipped to the box, the heavier class scaled down to balance ``alpha'y = 0``.
    infeasibility : float
        Largest violation before the repair, relative to the total mass.
    """
    clipped = np.clip(alpha, 0.0, box)
    mass = float(np.abs(alpha).sum())
    if mass == 0:
        return clipped, 0.0
    positive = y > 0
    plus, minus = float(clipped[positive].sum()), float(clipped[~positive].sum())
    infeasibility = max(float(np.abs(alpha - clipped).sum()), abs(plus - minus)) / mass
    if plus > minus:
        clipped[positive] *= minus / plus
    elif minus > plus:
        clipped[~positive] *= plus / minus
    return clipped, infeasibility


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

    def certify(self, gram: Any, candidate: Candidate) -> Certificate:
        """Primal and dual value of the dual variables in ``candidate.alpha`` of shape (1, n)."""
        if candidate.alpha is None or not np.isfinite(candidate.alpha).all():
            return Certificate(float("inf"), -float("inf"), float("inf"))
        alpha, infeasibility = feasible_dual(candidate.alpha[0], self.y, self.box)
        scores = gram.matvec(self.weights, self.y * alpha)
        norm = float((self.y * alpha) @ scores)
        primal = primal_value(norm, scores, self.y, self.box, self.ridge)
        dual = 2.0 * float(alpha.sum()) - norm - float(self.ridge @ alpha**2)
        return Certificate(primal, dual if infeasibility <= FEASIBILITY_TOLERANCE else -float("inf"), infeasibility)
