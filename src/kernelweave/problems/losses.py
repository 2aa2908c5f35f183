"""Smooth convex losses of scores, with an exactly optimal bias and their dual side.

For scores f (bias included), targets y and sample weights s, with w_i = -d loss / d f_i:

                  loss                          w_i                    conjugate: loss = max_w D(w) - w'f
squared hinge     sum s [1 - y f]_+^2           2 s y [1 - y f]_+      sum v - v^2 / (4 s),   v = y w >= 0
logistic          sum s log(1 + exp(-y f))      s y / (1 + exp(y f))   sum s H(v / s),        0 <= v <= s
squared           sum s (y - f)^2               2 s (y - f)            sum w y - w^2 / (4 s)

H is the binary entropy. There is no factor one half ([K09] (2) as it is written). An unpenalised
bias adds sum w = 0 to the dual; at the bias of least loss the w above satisfy it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit

from kernelweave.problems.base import FloatArray

__all__ = ["LogisticLoss", "Loss", "SquaredHingeLoss", "SquaredLoss"]

_BISECTIONS = 200


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of the scores on given targets.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Targets: -1 or +1, or real numbers for the squared loss.
    weight : ndarray of shape (n,)
        Positive weights of the samples.

    Raises
    ------
    ValueError
        When shapes differ, a weight is not positive, or a target is out of range.
    """

    y: FloatArray
    weight: FloatArray

    def __post_init__(self) -> None:
        if self.y.ndim != 1 or self.weight.shape != self.y.shape:
            raise ValueError(f"y and weight must have one shape (n,); got {self.y.shape} and {self.weight.shape}.")
        if not np.isfinite(self.y).all():
            raise ValueError("Every target must be finite.")
        if not (np.isfinite(self.weight).all() and (self.weight > 0).all()):
            raise ValueError("Every sample weight must be positive and finite; leave samples of weight zero out.")

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """Largest curvature of one sample's loss."""

    @property
    def bounded_bias(self) -> bool:
        """Whether the loss has a minimiser in the bias for any scores."""
        return True

    @abstractmethod
    def value(self, scores: FloatArray) -> float:
        """Total loss at scores of shape (n,)."""

    @abstractmethod
    def slopes(self, scores: FloatArray) -> FloatArray:
        """``w = -d loss / d scores``, shape (n,)."""

    @abstractmethod
    def curvatures(self, scores: FloatArray) -> FloatArray:
        """Second derivatives (one of the generalised ones at a kink), shape (n,)."""

    @abstractmethod
    def best_bias(self, scores: FloatArray) -> float:
        """Bias of least loss for scores without bias: exact for the piecewise quadratic losses."""

    @abstractmethod
    def feasible(self, w: FloatArray, balanced: bool) -> FloatArray:
        """Nearby slopes inside the domain of the conjugate, summing to zero when ``balanced``."""

    @abstractmethod
    def dual_value(self, w: FloatArray) -> float:
        """``D(w)`` for feasible slopes."""

    @abstractmethod
    def best_scale(self, w: FloatArray, curvature: float, limit: float) -> float:
        """Factor t in [0, limit] that maximises ``D(t w) - t^2 curvature`` and keeps t w feasible."""

    @abstractmethod
    def proximal(self, point: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        """Minimiser h of ``loss(h) + ||h - point||^2 / (2 step)`` and the derivative of h in ``point``."""


@dataclass(frozen=True)
class _QuadraticDual(Loss):
    """What the two losses with conjugate ``w'y - sum w^2 / (4 s)`` share."""

    @property
    def smoothness(self) -> float:
        return 2.0 * float(self.weight.max())

    def dual_value(self, w: FloatArray) -> float:
        return float(w @ self.y - w @ (w / (4.0 * self.weight)))

    def best_scale(self, w: FloatArray, curvature: float, limit: float) -> float:
        total = 2.0 * (float(w @ (w / (4.0 * self.weight))) + curvature)
        return float(np.clip(w @ self.y / total, 0.0, limit)) if total > 0 else min(1.0, limit)


@dataclass(frozen=True)
class SquaredLoss(_QuadraticDual):
    """``sum_i s_i (y_i - f_i)^2``.

    Parameters
    ----------
    y, weight : ndarray of shape (n,)
        Real targets and positive sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredLoss(np.array([1.0, 3.0]), np.ones(2)).best_bias(np.zeros(2))
    2.0
    """

    def value(self, scores: FloatArray) -> float:
        residual = self.y - scores
        return float(residual @ (self.weight * residual))

    def slopes(self, scores: FloatArray) -> FloatArray:
        return 2.0 * self.weight * (self.y - scores)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        return 2.0 * self.weight

    def best_bias(self, scores: FloatArray) -> float:
        return float(self.weight @ (self.y - scores) / self.weight.sum())

    def feasible(self, w: FloatArray, balanced: bool) -> FloatArray:
        return w - w.mean() if balanced else w

    def proximal(self, point: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        pull = 2.0 * step * self.weight
        return (point + pull * self.y) / (1.0 + pull), 1.0 / (1.0 + pull)


@dataclass(frozen=True)
class _LabelLoss(Loss):
    """What the losses of labels in {-1, +1} share."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.abs(self.y) == 1).all():
            raise ValueError("Labels must be -1 or +1.")

    @property
    def bounded_bias(self) -> bool:
        return bool((self.y > 0).any() and (self.y < 0).any())

    def _balanced(self, v: FloatArray) -> FloatArray:
        """Scale the heavier class down so that both have the same mass."""
        positive = self.y > 0
        plus, minus = float(v[positive].sum()), float(v[~positive].sum())
        factor = min(plus, minus) / max(plus, minus) if max(plus, minus) > 0 else 1.0
        return np.where(positive == (plus > minus), factor * v, v)


def _sums_after(values: FloatArray) -> FloatArray:
    """Sum of the entries behind each one, without cancellation."""
    sums = np.zeros_like(values)
    sums[:-1] = np.cumsum(values[:0:-1])[::-1]
    return sums


@dataclass(frozen=True)
class SquaredHingeLoss(_LabelLoss, _QuadraticDual):
    """``sum_i s_i [1 - y_i f_i]_+^2``, the loss of [K09] (2).

    Parameters
    ----------
    y, weight : ndarray of shape (n,)
        Labels in {-1, +1} and positive sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHingeLoss(np.array([1.0, 1.0, -1.0]), np.ones(3)).best_bias(np.zeros(3))  # mean of y
    0.333...
    """

    def value(self, scores: FloatArray) -> float:
        slack = np.maximum(1.0 - self.y * scores, 0.0)
        return float(slack @ (self.weight * slack))

    def slopes(self, scores: FloatArray) -> FloatArray:
        return 2.0 * self.weight * self.y * np.maximum(1.0 - self.y * scores, 0.0)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        return np.where(self.y * scores < 1.0, 2.0 * self.weight, 0.0)

    def best_bias(self, scores: FloatArray) -> float:
        # A sample pulls towards its breakpoint t = y - f with strength s (b - t): positive labels from
        # below, negative ones from above. The total is increasing in b and linear between breakpoints.
        breaks = self.y - scores
        order = np.argsort(breaks, kind="stable")
        t, s, positive = breaks[order], self.weight[order], self.y[order] > 0
        above, below = np.where(positive, s, 0.0), np.where(positive, 0.0, s)
        # Mass and moment of the samples active just right of each breakpoint; empty sets give exact zeros.
        mass = _sums_after(above) + np.cumsum(below)
        moment = _sums_after(above * t) + np.cumsum(below * t)
        pull = mass * t - moment
        first = min(int(np.searchsorted(pull >= 0.0, True)), len(t) - 1)
        if pull[first] == 0.0 and mass[first] == 0.0 and first + 1 < len(t):
            # A flat piece: no sample is active between the two breakpoints.
            return 0.5 * float(t[first] + t[first + 1])
        if first == 0 or not mass[first - 1] > 0:
            return float(t[first])
        return float(np.clip(moment[first - 1] / mass[first - 1], t[first - 1], t[first]))

    def feasible(self, w: FloatArray, balanced: bool) -> FloatArray:
        v = np.maximum(self.y * w, 0.0)
        return self.y * (self._balanced(v) if balanced else v)

    def proximal(self, point: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        pull = 2.0 * step * self.weight
        inside = self.y * point < 1.0
        h = np.where(inside, (point + pull * self.y) / (1.0 + pull), point)
        return h, np.where(inside, 1.0 / (1.0 + pull), 1.0)


@dataclass(frozen=True)
class LogisticLoss(_LabelLoss):
    """``sum_i s_i log(1 + exp(-y_i f_i))``.

    Parameters
    ----------
    y, weight : ndarray of shape (n,)
        Labels in {-1, +1} and positive sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> LogisticLoss(np.array([1.0, 1.0, -1.0]), np.ones(3)).best_bias(np.zeros(3))  # log odds, log 2
    0.693...
    """

    @property
    def smoothness(self) -> float:
        return 0.25 * float(self.weight.max())

    def value(self, scores: FloatArray) -> float:
        return float(self.weight @ np.logaddexp(0.0, -self.y * scores))

    def slopes(self, scores: FloatArray) -> FloatArray:
        return self.weight * self.y * expit(-self.y * scores)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        p = expit(scores)
        return self.weight * p * (1.0 - p)

    def best_bias(self, scores: FloatArray) -> float:
        # The mean probability has to meet the share of positives: each sample alone would put its own
        # log odds between these bounds.
        positive = float(self.weight[self.y > 0].sum() / self.weight.sum())
        odds = np.log(positive / (1.0 - positive))
        low, high = odds - float(scores.max()), odds - float(scores.min())
        bias = 0.5 * (low + high)
        for _ in range(_BISECTIONS):
            slope = float(self.slopes(scores + bias).sum())
            if slope > 0:
                low = bias
            else:
                high = bias
            curvature = float(self.curvatures(scores + bias).sum())
            newton = bias + slope / curvature if curvature > 0 else np.inf
            following = newton if low < newton < high else 0.5 * (low + high)
            if abs(following - bias) <= 1e-15 * (1.0 + abs(bias)):
                return float(following)
            bias = following
        return float(bias)

    def feasible(self, w: FloatArray, balanced: bool) -> FloatArray:
        v = np.clip(self.y * w, 0.0, self.weight)
        return self.y * (self._balanced(v) if balanced else v)

    def dual_value(self, w: FloatArray) -> float:
        v = np.clip(self.y * w / self.weight, 0.0, 1.0)
        return float(self.weight @ (entr(v) + entr(1.0 - v)))

    def best_scale(self, w: FloatArray, curvature: float, limit: float) -> float:
        v = self.y * w
        used = v > 0
        if not used.any():
            return min(1.0, limit)
        share, v = (v / self.weight)[used], v[used]
        low, high = 0.0, min(limit, 1.0 / float(share.max()))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            rising = v @ np.log((1.0 - middle * share) / (middle * share)) > 2.0 * middle * curvature
            low, high = (middle, high) if rising else (low, middle)
        return low

    def proximal(self, point: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        # In m = y h: g(m) = m - q - c / (1 + exp(m)) = 0. g increases, convex below m = 0 and concave above,
        # so Newton's method from zero goes to the root from one side, whatever q and c are.
        q, c = self.y * point, step * self.weight
        m = np.zeros_like(q)
        for _ in range(_BISECTIONS):
            p = expit(-m)
            excess, slope = m - q - c * p, 1.0 + c * p * (1.0 - p)
            change = excess / slope
            m = m - change
            # Below this the excess is rounding of its terms.
            rounding = 1e-15 * (np.abs(m) + np.abs(q) + c * p) / slope
            if (np.abs(change) <= rounding + 1e-14 * (1.0 + np.abs(m))).all():
                break
        p = expit(-m)
        return self.y * m, 1.0 / (1.0 + c * p * (1.0 - p))
