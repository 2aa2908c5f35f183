"""Local search for a monotone transform and its linear classifier ([H07], LMono).

Problem (`MonotoneProblem`): minimise F(m) over ramp weights m in a simplex for each group.

Method: (i) the linear SVM on phi(x) at the present m; (ii) for its weights w, the exact linear program in
(m, b, slack) for the hinge ([H07]; with the bias free, which can only help):

    min  sum_i box_i xi_i   s.t.  y_i ( sum_j m_j g_ij + b ) >= 1 - xi_i,   g_ij = sum_f w_f phi_j(x_if),

solved through its dual, which has one bounded variable a sample and one row a ramp. When that alternation
no longer decreases F, or there is no hinge, smooth descent on F itself goes on, along
dF/dm_j = -2 sum_f w_f w_fj (alternation alone can stop where F still has a slope). A point is taken only
when F is smaller; the end is a local minimum, no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.monotone import MonotoneProblem
from kernelweave.solvers.driver import run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.descent import solve_descent
from kernelweave.solvers.monotone.directed import solve_directed
from kernelweave.solvers.simplex import Simplexes

__all__ = ["solve_alternating"]

# Relative decrease of F below which a phase is over. Alternation slows down long before it ends.
_ALTERNATING_DECREASE, _DECREASE = 1e-3, 1e-5
_MAX_ALTERNATIONS, _MAX_STEPS = 50, 60
_LARGEST_PROGRAM = 3_000_000  # entries of g up to which the linear program is solved
_MANY = 1500  # features and samples from which the SVM is left to coordinate descent
_ACCURACY, _ROUGH_ACCURACY = 1e-8, 1e-6  # of the SVM, by interior point and by coordinate descent
_SMALL = 1e-3  # of a uniform weight: the curvature of smaller ones is that of this
_SUFFICIENT = 0.1  # share of the linear prediction that a smooth step must achieve
_STEEPER, _STEEPEST = 4.0, 1e8


@dataclass(frozen=True)
class _Point:
    """Ramp weights, the SVM on their transform, and F."""

    m: FloatArray
    alpha: FloatArray
    value: float


class _Search:
    """The problem, and the two ways to a better point."""

    def __init__(self, problem: MonotoneProblem, gram: Any, deadline: float | None) -> None:
        self.problem, self.gram, self.deadline = problem, gram, deadline
        self.simplexes = Simplexes(problem.convex.group_of)
        few_features, any_sign = gram.n_features <= _MANY, not gram.feature_directions.any()
        self.directed = few_features and not any_sign
        self.by_descent = not few_features and not (any_sign and gram.shape[0] <= _MANY)

    def fit(self, m: FloatArray, alpha: FloatArray | None) -> _Point:
        """The SVM on the transform of m."""
        convex, linear = self.problem.convex, self.gram.transformed(m)
        start = None if alpha is None else Candidate(np.ones(1), alpha)
        svm = MarginProblem(convex.labels, convex.box, convex.ridge, np.ones(1), 1.0)
        if self.directed:
            # The same SVM with a kernel for each feature, all of weight one.
            each = np.arange(linear.rank)
            svm = replace(svm, prices=np.ones(linear.rank), groups=each)
            linear = DirectedRampStack(replace(linear.cells, kernel_of=each), linear.rank, linear.feature_directions)
            result = run(solve_directed, svm, linear, tol=_ACCURACY)
        elif self.by_descent:
            result = run(solve_descent, svm, linear, tol=_ROUGH_ACCURACY, start=start)
        else:
            # With more features than samples their matrix of inner products is the smaller one.
            wide = self.gram.n_features > self.gram.shape[0]
            held = DenseStack([linear.combine(np.ones(1))]) if wide else linear
            result = run(solve_interior_point, svm, held, tol=_ACCURACY)
        found = result.candidate.alpha
        assert found is not None
        w = self.problem.feature_weights(self.gram, m, found)
        return _Point(m, found, self.problem.primal_value(w, self.problem.scores(self.gram, m, w)))

    @property
    def out_of_time(self) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline

    def alternations(self, point: _Point) -> Iterator[_Point]:
        """Linear programs and SVMs in turn, as long as F falls."""
        convex = self.problem.convex
        if not np.isfinite(convex.box).all() or convex.ridge.any():
            return
        if convex.labels.size * self.gram.n_kernels > _LARGEST_PROGRAM:
            return
        ramps = self.gram.matrix()
        for _ in range(_MAX_ALTERNATIONS):
            m = self._linear_program(point, ramps)
            if m is None or self.out_of_time:
                return
            trial = self.fit(m, point.alpha)
            if not trial.value < (1.0 - _ALTERNATING_DECREASE) * point.value:
                return
            point = trial
            yield point

    def _linear_program(self, point: _Point, ramps: Any) -> FloatArray | None:
        """Best ramp weights for the classifier of a point; None when the program fails."""
        convex, gram = self.problem.convex, self.gram
        k, n = convex.labels.shape
        w = self.problem.feature_weights(gram, point.m, point.alpha)
        kernel_of = _indicator(gram.kernel_of, gram.n_kernels)
        # Variables of the dual: multipliers a of the margins, one t a group; a'y = 0 since b is free.
        margins = scipy.sparse.vstack([(ramps * gram.to_columns(wk)) @ kernel_of for wk in w]).T * convex.labels.ravel()
        groups = _indicator(convex.group_of, convex.n_groups)
        balance = scipy.sparse.block_diag([y[None] for y in convex.labels] + [np.zeros((0, convex.n_groups))])
        upper = np.concatenate([np.tile(convex.box, k), np.full(convex.n_groups, np.inf)])
        result = scipy.optimize.linprog(
            np.append(-np.ones(k * n), np.ones(convex.n_groups)),
            A_ub=scipy.sparse.hstack([margins, -groups]).tocsr(),
            b_ub=np.zeros(gram.n_kernels),
            A_eq=balance.tocsr(),
            b_eq=np.zeros(k),
            bounds=np.column_stack([np.zeros_like(upper), upper]),
            method="highs",
        )
        if result.status != 0:
            return None
        m = np.maximum(-result.ineqlin.marginals, 0.0)
        spent = np.bincount(convex.group_of, m)[convex.group_of]
        # Where a group earns nothing, its weights stay.
        return self.simplexes.normalised(np.where(spent > 0, m, point.m))

    def smooth_steps(self, point: _Point) -> Iterator[_Point]:
        """Descent on F along its gradient, in a metric that grows where weights are small."""
        theta = 1.0
        floor = _SMALL / np.bincount(self.simplexes.groups)[self.simplexes.groups]
        for _ in range(_MAX_STEPS):
            gradient = self.problem.gradient(self.gram, point.m, point.alpha)
            scale = np.abs(gradient).max()
            if scale == 0:
                return
            stiffness = np.maximum(np.abs(gradient), 1e-3 * scale) / np.maximum(point.m, floor)
            while True:
                m = self.simplexes.step(point.m, -gradient, theta * stiffness)
                predicted = float(gradient @ (point.m - m))
                if predicted < _DECREASE * point.value or theta > _STEEPEST or self.out_of_time:
                    return
                trial = self.fit(m, point.alpha)
                if trial.value <= point.value - _SUFFICIENT * predicted:
                    break
                theta *= _STEEPER
            # A step that went well allows a longer one.
            theta = max(theta / 2.0, 1e-3)
            point = trial
            yield point


def _indicator(owner: IntArray, n_owners: int) -> Any:
    """The sparse matrix with a one where a row belongs to a column."""
    n = len(owner)
    return scipy.sparse.csr_array((np.ones(n), (np.arange(n), owner)), shape=(n, n_owners))


def solve_alternating(
    problem: MonotoneProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Search for a local minimum of the monotone problem.

    Parameters
    ----------
    problem : MonotoneProblem
        Labels, margin and groups of the ramps.
    gram : RampStack
        Samples on their ramps.
    start : Candidate, optional
        Ramp weights to start from, and dual variables for the first SVM; equal weights when None. A dual
        point of the relaxation in ``dual_alpha`` goes along with every candidate, for its lower bound.
    deadline : float, optional
        Value of ``time.perf_counter()`` after which no further SVM is solved.

    Yields
    ------
    Candidate
        Ramp weights and dual variables with F never larger than before; the last one says that
        it is a local minimum (``extras["local_minimum"]``).
    """
    search = _Search(problem, gram, deadline)
    start = Candidate() if start is None else start
    bound = problem.convex.certify(gram, Candidate(dual_alpha=start.dual_alpha)).dual
    m = np.ones(gram.n_kernels) if start.weights is None else np.maximum(start.weights, 0.0)

    def candidate(point: _Point, *, local_minimum: bool = False) -> Candidate:
        return Candidate(
            point.m,
            point.alpha,
            gap=(point.value - bound) / point.value,
            dual_alpha=start.dual_alpha,
            extras={"local_minimum": local_minimum},
        )

    point = search.fit(search.simplexes.normalised(m), start.alpha)
    yield candidate(point)
    for phase in (search.alternations, search.smooth_steps):
        for better in phase(point):
            point = better
            yield candidate(point)
    yield candidate(point, local_minimum=not search.out_of_time)
