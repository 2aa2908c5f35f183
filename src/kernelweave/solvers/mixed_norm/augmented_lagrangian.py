"""Mixed norms by a proximal point method (augmented Lagrangian) on a growing working set.

Problem (`MixedNormProblem`): minimise over alpha, b  loss(sum_t K_t alpha_t + b) + (lam/q) ||alpha||_{pq;r}^q.

Method: proximal point steps in coefficients and split scores, each solved by semismooth Newton
on its dual (`proximal_step`), in a metric that makes up for the scales of the kernels. After each step
one pass over all kernels finds the violators, which join the working set, and gives the duality gap;
the step length grows while Newton's method finds the steps easy. Entries never leave the set: late
removals make such methods cycle. The slopes of the loss are the dual point; where they lag behind
the coefficients (large kernels magnify what they are off), the step's own multipliers are tried too.
Problem from [K09] (2); that paper lists working sets as open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.solvers.mixed_norm.columns import HeldColumns, StreamedColumns, WorkingColumns, column_sizes
from kernelweave.solvers.mixed_norm.jacobian import EntryPenalty
from kernelweave.solvers.mixed_norm.newton_system import NewtonSystem
from kernelweave.solvers.mixed_norm.prox import group_count
from kernelweave.solvers.mixed_norm.proximal_step import MAX_NEWTON, Centre, Steps, proximal_step
from kernelweave.solvers.mixed_norm.working_set import violators

__all__ = ["solve_augmented_lagrangian"]

_FIRST_SIGMA, _LAST_SIGMA = 20.0, 1e9  # in units of one over the mean squared norm of a kernel's columns
_LARGEST_RHO = 1e5
_SMALL_KERNEL = 1e3  # times smaller than the mean, in squared norms: steps of its own
_HELD_SHARE = 0.5  # of the stack's bytes: columns beyond are read where they are, not copied
_MAX_STEPS = 300
_PATIENCE = 8  # steps without a smaller gap or value, or a longer step, before giving up
_PROGRESS = 1e-3  # relative fall of the value that counts
_LAGGING = 10.0  # gap over the last fall of the value from which the dual point is suspected


class _Run:
    """State between proximal point steps."""

    def __init__(self, problem: MixedNormProblem, gram: Any, start: Candidate | None) -> None:
        self.problem, self.gram = problem, gram
        shape = (gram.shape[1], gram.n_kernels)
        self.alpha = np.zeros(shape) if start is None or start.alpha is None else np.array(start.alpha, dtype=float)
        self.fitted = gram.apply(self.alpha)
        self.columns: WorkingColumns = self._empty_columns()
        self.columns.extend(np.flatnonzero(self.alpha))
        self.system = NewtonSystem(self.columns, gram.shape[0])
        self.sigma = 0.0 if start is None else float(start.extras.get("sigma", 0.0))
        self.h: FloatArray | None = None
        self.largest_sigma = np.inf
        self._wait, self._easy = 0, 0
        self.steps = _relative_steps(problem, gram)
        self.best_dual, self.best_w = -np.inf, np.zeros(gram.shape[0])
        self.assess()

    def _empty_columns(self) -> WorkingColumns:
        # Groups that are whole kernels would make a copy of each kernel in use.
        whole_kernels = (
            not self.problem.penalty.separable and self.problem.penalty.q == 1 and self.problem.penalty.r == 2
        )
        return StreamedColumns(self.gram) if whole_kernels else HeldColumns(self.gram)

    def assess(self) -> None:
        """Bias, slopes, inner products with all columns, and both bounds at the current coefficients."""
        problem = self.problem
        self.b = problem.bias_for(self.fitted)
        scores = self.fitted + self.b
        self.primal = problem.objective(self.alpha, scores)
        self.w = problem.loss.feasible(problem.loss.slopes(scores), problem.intercept)
        self.z = self.gram.adjoint(self.w)
        self._bound(self.w, self.z)

    def _bound(self, w: FloatArray, z: FloatArray) -> None:
        dual = self.problem.dual_objective(w, z)
        if dual >= self.best_dual:
            self.best_dual, self.best_w = dual, w

    @property
    def gap(self) -> float:
        """Relative gap of the best points so far."""
        return max((self.primal - self.best_dual) / max(abs(self.primal), np.finfo(float).tiny), 0.0)

    def bound_by(self, w: FloatArray) -> None:
        """Try multipliers as the dual point: another pass."""
        w = self.problem.loss.feasible(w, self.problem.intercept)
        self._bound(w, self.gram.adjoint(w))

    def candidate(self) -> Candidate:
        dual = None if self.best_w is self.w else self.best_w[None]
        return Candidate(
            alpha=self.alpha, bias=np.array([self.b]), gap=self.gap, dual_alpha=dual, extras={"sigma": self.sigma}
        )

    def grow(self) -> None:
        """Let the violators join the working set."""
        inside = self.columns.inside
        joining = violators(self.problem.penalty, self.problem.strength, self.alpha, self.z, inside)
        share = _HELD_SHARE * self.gram.dtype.itemsize / 8
        if isinstance(self.columns, HeldColumns) and len(self.columns) + len(joining) > share * self.alpha.size:
            self.columns = StreamedColumns.instead_of(self.columns)
            self.system.read_from(self.columns)
        self.columns.extend(joining)

    def step(self, deadline: float | None) -> None:
        """One proximal point step on the working set, and what follows from it."""
        problem, columns = self.problem, self.columns
        sigma = min(self.sigma or _FIRST_SIGMA, self.largest_sigma, _LAST_SIGMA)
        rho = float(np.clip(sigma, 1.0, _LARGEST_RHO))
        penalty = EntryPenalty(problem.penalty, columns.entries, self.alpha.shape, self.steps)
        h = self.fitted + self.b if self.h is None else self.h
        centre = Centre(self.alpha.ravel()[columns.entries], self.fitted, h)
        centre, w, n_newton = proximal_step(
            problem, columns, penalty, self.system, centre, Steps(sigma, rho), self.w, deadline
        )
        before = self._point()
        self.alpha, self.fitted, self.h = columns.spread(centre.x), centre.fitted, centre.h
        self.assess()
        value = before[0]
        if self.gap > _LAGGING * abs(value - self.primal) / max(abs(self.primal), np.finfo(float).tiny):
            self.bound_by(w)
        if n_newton > MAX_NEWTON and self.primal > value:
            self.primal, self.alpha, self.fitted, self.h, self.b, self.w, self.z = before
        self._adapt(sigma, n_newton)

    def _point(self) -> tuple[Any, ...]:
        return self.primal, self.alpha, self.fitted, self.h, self.b, self.w, self.z

    def _adapt(self, sigma: float, n_newton: int) -> None:
        """Choose the next step length by how hard this step was."""
        if n_newton > MAX_NEWTON:
            # Beyond what Newton's method (or floating point) can do: keep below, the longer the more often it failed.
            self.sigma, self.largest_sigma = 0.1 * sigma, 0.3 * sigma
            self._wait, self._easy = 2 * self._wait + 1, 0
            return
        self.sigma = sigma * (10.0 if n_newton <= 2 else 3.0 if n_newton <= 5 else 1.0)
        if self.sigma > self.largest_sigma:
            self._easy += 1
            if self._easy > self._wait:
                self.largest_sigma, self._easy = 3.0 * self.largest_sigma, 0


def _relative_steps(problem: MixedNormProblem, gram: Any) -> FloatArray:
    """Step of each group: one over the mean squared norm of a column, and longer for much smaller kernels.

    Equal steps need the fewest iterations until a kernel is so small that they hardly move it.
    Groups of samples run across all kernels, and have the same step in any case.
    """
    sizes = column_sizes(gram)
    mean = float(sizes.mean()) if sizes.any() else 1.0
    if problem.penalty.r == 1 and not problem.penalty.separable:
        return np.full(group_count(problem.penalty, (gram.shape[1], gram.n_kernels)), 1.0 / mean)
    # A kernel that is zero where it was looked at goes by the mean, on the careful side.
    return 1.0 / np.where(sizes > 0, np.minimum(mean, _SMALL_KERNEL * sizes), mean)


def solve_augmented_lagrangian(
    problem: MixedNormProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for coefficients under a mixed norm; the fast solver.

    Parameters
    ----------
    problem : MixedNormProblem
        Loss, penalty, strength, intercept.
    gram : GramStack
        The kernels, each n_samples x n_points.
    start : Candidate, optional
        Coefficients to start from, and the step length in ``extras["sigma"]``.
    deadline : float, optional
        Time of `time.perf_counter` at which to leave off inside a step.

    Yields
    ------
    Candidate
        Coefficients and best bias after each proximal point step.
    """
    run = _Run(problem, gram, start)
    smallest, lowest, longest, waited = np.inf, np.inf, 0.0, 0
    for _ in range(_MAX_STEPS):
        candidate = run.candidate()
        yield candidate
        if candidate.gap < 0.9 * smallest or run.primal < (1.0 - _PROGRESS) * lowest or run.sigma > longest:
            waited, longest = 0, max(run.sigma, longest)
        else:
            waited += 1
        smallest, lowest = min(smallest, candidate.gap), min(lowest, run.primal)
        if waited > _PATIENCE:
            return
        run.grow()
        if not len(run.columns):
            return
        try:
            run.step(deadline)
        except np.linalg.LinAlgError:
            return
