"""One proximal point step on a working set, by semismooth Newton on its dual.

Around a centre (x0, h0), with steps sigma and rho,

    minimise over x, b, h = K x + b:   loss(h) + lam Omega(x) + ||x - x0||^2 / (2 sigma) + ||h - h0||^2 / (2 rho).

For multipliers w of h = K x + b the minimisers are x = prox(x0 + sigma K'w) and h = prox of the loss
at h0 - rho w; a free b asks for sum w = 0, which is kept throughout, and is what the residual
h - K x leaves in common. The concave dual has the gradient h - K x - b. Splitting the scores h off
makes it smooth in every sample (without it the ascent stalls at w = 0), and its generalised Hessian
is -(sigma K J K' + rho D). Groups of entries may have steps of their own beside the common sigma.
The z = K'w is linear along a step, so a trial costs one product with the few columns in the support of x.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.solvers.mixed_norm.columns import WorkingColumns
from kernelweave.solvers.mixed_norm.jacobian import EntryPenalty
from kernelweave.solvers.mixed_norm.newton_system import NewtonSystem

__all__ = ["MAX_NEWTON", "Centre", "Steps", "proximal_step"]

MAX_NEWTON = 30
_ARMIJO, _SHORTEST = 1e-4, 1e-6
_INNER = 0.03  # residual allowed, as a part of how far the step moves


@dataclass(frozen=True)
class Steps:
    """Step lengths of the coefficients (common factor) and of the scores."""

    sigma: float
    rho: float


@dataclass(frozen=True)
class Centre:
    """Coefficients on the working set, their scores without bias, and the split scores."""

    x: FloatArray
    fitted: FloatArray
    h: FloatArray


@dataclass(frozen=True)
class _Evaluation:
    """The dual function at w."""

    w: FloatArray
    z: FloatArray
    u: FloatArray
    x: FloatArray
    fitted: FloatArray
    h: FloatArray
    loss_derivative: FloatArray
    value: float
    gradient: FloatArray


class _Dual:
    """The dual of one proximal step."""

    def __init__(
        self, problem: MixedNormProblem, columns: WorkingColumns, penalty: EntryPenalty, centre: Centre, steps: Steps
    ) -> None:
        self.problem, self.columns, self.penalty = problem, columns, penalty
        self.centre, self.steps = centre, steps

    def at(self, w: FloatArray, z: FloatArray) -> _Evaluation:
        c, s, lam = self.centre, self.steps, self.problem.strength
        u = c.x + s.sigma * self.penalty.entry_steps * z
        x = self.penalty.prox(u, s.sigma * lam)
        fitted = self.columns.apply(x)
        h, derivative = self.problem.loss.proximal(c.h - s.rho * w, s.rho)
        gradient = h - fitted
        if self.problem.intercept:
            gradient -= gradient.mean()
        value = self.problem.loss.value(h) + lam * self.penalty.value(x) + float(w @ gradient)
        value += 0.5 * self._moved(x, h) ** 2
        return _Evaluation(w, z, u, x, fitted, h, derivative, value, gradient)

    def _moved(self, x: FloatArray, h: FloatArray) -> float:
        dx, dh = x - self.centre.x, h - self.centre.h
        squared = dx @ (dx / self.penalty.entry_steps) / self.steps.sigma + dh @ dh / self.steps.rho
        return float(np.sqrt(squared))

    def solved(self, now: _Evaluation) -> bool:
        """Whether the residual is small against the way gone (or zero but for rounding)."""
        residual = float(np.linalg.norm(now.gradient))
        allowed = _INNER * min(1.0, np.sqrt(self.steps.rho) / 3.0) * self._moved(now.x, now.h)
        rounding = 1e-13 * (np.sqrt(len(now.w)) + float(np.linalg.norm(now.h)))
        return residual <= max(allowed, rounding)


def proximal_step(
    problem: MixedNormProblem,
    columns: WorkingColumns,
    penalty: EntryPenalty,
    system: NewtonSystem,
    centre: Centre,
    steps: Steps,
    w: FloatArray,
    deadline: float | None = None,
) -> tuple[Centre, FloatArray, int]:
    """Take one proximal point step.

    Parameters
    ----------
    problem : MixedNormProblem
        Loss, penalty and strength.
    columns : WorkingColumns
        The working set.
    penalty : EntryPenalty
        The penalty on the working set.
    system : NewtonSystem
        Solves the Newton systems.
    centre : Centre
        Where to start from.
    steps : Steps
        Step lengths.
    w : ndarray of shape (n_samples,)
        Multipliers to start from, of sum zero when there is a free bias.
    deadline : float, optional
        Time of `time.perf_counter` at which to leave with what there is.

    Returns
    -------
    centre : Centre
        The new point.
    w : ndarray of shape (n_samples,)
        Its multipliers.
    n_newton : int
        Newton steps taken; more than `MAX_NEWTON` for a step that was left unsolved.
    """
    dual = _Dual(problem, columns, penalty, centre, steps)
    now = dual.at(w, columns.adjoint(w))
    count = 0
    while count < MAX_NEWTON and (count == 0 or not dual.solved(now)):
        jacobian = penalty.jacobian(now.u, now.x, steps.sigma * problem.strength)
        d = system.solve(jacobian, steps.sigma, steps.rho * now.loss_derivative, now.gradient, problem.intercept)
        following = _ascend(dual, now, d)
        count += 1
        if following is None:
            count = MAX_NEWTON + 1
            break
        now = following
        if deadline is not None and time.perf_counter() > deadline:
            break
    if count == MAX_NEWTON and not dual.solved(now):
        count += 1
    return Centre(now.x, now.fitted, now.h), now.w, count


def _ascend(dual: _Dual, now: _Evaluation, d: FloatArray) -> _Evaluation | None:
    """Backtrack along d until the dual value grows enough; None when it cannot grow any more."""
    dz = dual.columns.adjoint(d)
    slope, length = float(now.gradient @ d), 1.0
    while length >= _SHORTEST:
        trial = dual.at(now.w + length * d, now.z + length * dz)
        if trial.value >= now.value + _ARMIJO * length * slope - 1e-12 * abs(now.value):
            return trial
        length *= 0.5
    return None
