"""Mixed norms by a proximal point method (augmented Lagrangian) on a growing working set.

Problem (`MixedNormProblem`): minimise over alpha, b  loss(sum_t K_t alpha_t + b) + (lam/q) ||alpha||_{pq;r}^q.

Method: proximal point steps in coefficients and split scores, each solved by semismooth Newton
on its dual (`proximal_step`). After each step one pass over all kernels finds the violators, which
join the working set, and gives the duality gap; the step length grows while Newton's method finds
the steps easy. Entries never leave the set: late removals make such methods cycle.
Problem from [K09] (2); that paper lists working sets as open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.solvers.mixed_norm.columns import HeldColumns, StreamedColumns, WorkingColumns
from kernelweave.solvers.mixed_norm.jacobian import EntryPenalty
from kernelweave.solvers.mixed_norm.newton_system import NewtonSystem
from kernelweave.solvers.mixed_norm.proximal_step import MAX_NEWTON, Centre, Steps, proximal_step
from kernelweave.solvers.mixed_norm.working_set import violators

__all__ = ["solve_augmented_lagrangian"]

_FIRST_SIGMA, _LAST_SIGMA = 20.0, 1e9  # in units of one over the mean squared norm of a column
_LARGEST_RHO = 1e5
_MAX_STEPS = 300
_PATIENCE = 8  # steps without a smaller gap before giving up


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
        self._size = 0.0
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
        dual = problem.dual_objective(self.w, self.z)
        if dual >= self.best_dual:
            self.best_dual, self.best_w = dual, self.w

    def candidate(self) -> Candidate:
        gap = (self.primal - self.best_dual) / max(abs(self.primal), np.finfo(float).tiny)
        dual = None if self.best_w is self.w else self.best_w[None]
        return Candidate(
            alpha=self.alpha, bias=np.array([self.b]), gap=max(gap, 0.0), dual_alpha=dual, extras={"sigma": self.sigma}
        )

    def grow(self) -> None:
        """Let the violators join the working set."""
        inside = self.columns.inside
        self.columns.extend(violators(self.problem.penalty, self.problem.strength, self.alpha, self.z, inside))

    def step(self, deadline: float | None) -> None:
        """One proximal point step on the working set."""
        problem, columns = self.problem, self.columns
        size = self._column_size()
        sigma = min(self.sigma or _FIRST_SIGMA / size, self.largest_sigma, _LAST_SIGMA / size)
        rho = float(np.clip(sigma * size, 1.0, _LARGEST_RHO))
        penalty = EntryPenalty(problem.penalty, columns.entries, self.alpha.shape)
        h = self.fitted + self.b if self.h is None else self.h
        centre = Centre(self.alpha.ravel()[columns.entries], self.fitted, h)
        centre, n_newton = proximal_step(
            problem, columns, penalty, self.system, centre, Steps(sigma, rho), self.w, deadline
        )
        self.alpha, self.fitted, self.h = columns.spread(centre.x), centre.fitted, centre.h
        if n_newton > MAX_NEWTON:
            # Beyond what Newton's method (or floating point) can do: keep well below from now on.
            self.sigma, self.largest_sigma = 0.1 * sigma, 0.3 * sigma
        else:
            self.sigma = sigma * (10.0 if n_newton <= 2 else 3.0 if n_newton <= 5 else 1.0)

    def _column_size(self) -> float:
        """Mean squared norm of some columns of the working set."""
        if self._size == 0.0:
            sample = np.arange(0, len(self.columns), max(1, len(self.columns) // 200), dtype=np.intp)
            rows = self.columns.rows(sample)
            self._size = max(float(np.einsum("ij,ij->i", rows, rows).mean()), np.finfo(float).tiny)
        return self._size


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
    smallest, waited = np.inf, 0
    for _ in range(_MAX_STEPS):
        candidate = run.candidate()
        yield candidate
        waited = 0 if candidate.gap < 0.9 * smallest else waited + 1
        smallest = min(smallest, candidate.gap)
        if waited > _PATIENCE:
            return
        run.grow()
        if not len(run.columns):
            return
        try:
            run.step(deadline)
        except np.linalg.LinAlgError:
            return
        run.assess()
