"""What a bundle knows: the planes below the function, the best bounds, and the kernels worth watching."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem

__all__ = ["Bounds", "Evaluation"]

_MAX_PLANES = 40
_MATTERS = 0.5  # share of the largest quadratic form from which a kernel without weight is watched
_NEARLY_DONE = 1e-5  # predicted relative decrease of the last steps
_LOOK_AGAIN = 1e-3  # decrease of the gap after which all kernels are looked at again


@dataclass(frozen=True)
class Evaluation:
    """An SVM solution at one x: signed dual variables and gradients (k, n), bounds of f(x)."""

    x: FloatArray
    beta: FloatArray
    gradient: FloatArray
    upper: float
    lower: float

    @property
    def inner_gap(self) -> float:
        return self.upper - self.lower


class Bounds:
    """Best upper and lower bound seen, the planes below f, and the kernels they are known for."""

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.unit = problem.budget / problem.all_prices
        self.working = np.arange(len(problem.all_prices), dtype=np.intp)
        self.constants: list[float] = []
        self.slopes: list[FloatArray] = []
        self.alphas: list[FloatArray] = []
        self.upper, self.lower = float("inf"), -float("inf")
        self.sure_lower = -float("inf")
        self.sure_alpha: FloatArray | None = None
        self.gap_when_full = float("inf")
        self.best: Evaluation | None = None
        self.dual_alpha: FloatArray | None = None

    def record(self, point: Evaluation, q: FloatArray, *, full: bool) -> None:
        """Keep the better bounds and the plane of an SVM solution.

        ``q`` holds its quadratic forms with the working kernels, NaN elsewhere; with ``full`` all of them.
        """
        if self.best is None or point.upper < self.upper:
            self.upper, self.best = point.upper, point
        alpha = np.abs(point.beta)
        self.constants.append(2.0 * float(alpha.sum()) - float((alpha**2 @ self.problem.fixed_ridge).sum()))
        self.slopes.append(q)
        self.alphas.append(alpha)
        for kept in (self.constants, self.slopes, self.alphas):
            del kept[:-_MAX_PLANES]
        if full:
            self.choose_working(point.x, q)
            # A bound that did not know every kernel was a hope; fall back on the last one that did.
            self.lower, self.dual_alpha = self.sure_lower, self.sure_alpha
        self.offer(alpha, q)
        if full:
            self.gap_when_full = self.gap

    def choose_working(self, x: FloatArray, q: FloatArray) -> None:
        """Watch the kernels with weight at the next x, and those whose quadratic form is near the largest.

        A kernel far below has no weight near the optimum; the next full look, and the
        certificate, would tell. Planes that do not know all of them are dropped.
        """
        known_forms = np.where(np.isnan(q), 0.0, q)
        matters = (x > 0) | (known_forms >= _MATTERS * known_forms.max())
        if self.problem.learns_ridge:
            matters[-1] = True
        self.working = np.flatnonzero(matters).astype(np.intp)
        known = [bool(np.isfinite(slope[self.working]).all()) for slope in self.slopes]
        self.constants = list(compress(self.constants, known))
        self.slopes = list(compress(self.slopes, known))
        self.alphas = list(compress(self.alphas, known))

    def offer(self, alpha: FloatArray, q: FloatArray) -> None:
        """Lower bound from dual variables and an upper bound q of their quadratic forms."""
        forms = np.where(np.isnan(q), 0.0, q) / self.unit
        scale, total, curvature = self.problem.best_scale(alpha, forms)
        value = 2.0 * scale * total - scale**2 * curvature
        if value > self.lower:
            self.lower, self.dual_alpha = value, scale * alpha
        if value > self.sure_lower and np.isfinite(q).all():
            self.sure_lower, self.sure_alpha = value, scale * alpha

    def offer_mixture(self, multipliers: FloatArray) -> None:
        """The convex mixture of the planes' solutions: its quadratic forms are at most the mixed ones."""
        share = multipliers / multipliers.sum()
        self.offer(np.tensordot(share, np.array(self.alphas), axes=1), share @ np.array(self.slopes))

    @property
    def gap(self) -> float:
        """Absolute gap, as far as the working kernels tell."""
        return self.upper - self.lower

    def wants_full_look(self, predicted: float) -> bool:
        """Whether to look at all kernels next: enough has changed since, or little is left to gain."""
        nearly_done = predicted < _NEARLY_DONE * abs(self.upper) and self.gap < 0.1 * self.gap_when_full
        return nearly_done or not self.gap > _LOOK_AGAIN * self.gap_when_full

    def candidate(self) -> Candidate:
        if self.best is None or not np.isfinite(self.upper):
            return Candidate(alpha=None if self.best is None else np.abs(self.best.beta))
        weights = self.best.x * self.unit
        relative = self.gap / max(abs(self.upper), np.finfo(float).tiny)
        return Candidate(weights, np.abs(self.best.beta), gap=relative, dual_alpha=self.dual_alpha)
