"""Forward-backward splitting for mixed norms, plain and accelerated.

Problem (`MixedNormProblem`): minimise F(alpha) + lam Omega(alpha), F(alpha) = min_b loss(K alpha + b).

Method, [K09] Algorithm 2: with L a bound of the curvature of F,

    alpha <- prox of (lam / L) Omega  at  alpha + K'w / L,      w = slopes of the loss at K alpha + b.

The printed algorithm has the step K_y'[1 - K_y alpha]_+ / ||K_y||^2, without the factor 2 of the
gradient: it is for half the loss, so its lambda is half of the one here ([K09] (2) as written has no
half). With slopes 2[.]_+ and L = 2 ||K||^2 the gradient steps are the same ones. Minimising over b
first keeps L: a partial minimum is no more curved. The accelerated variant adds Nesterov's momentum
and drops it when it points uphill (O'Donoghue, Candes 2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from kernelweave.gram.base import FloatArray
from kernelweave.problems.base import Candidate
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.solvers.mixed_norm.prox import prox

__all__ = ["largest_curvature", "solve_accelerated", "solve_forward_backward"]

_MARGIN = 1e-3  # over the eigenvalue, which comes to about this relative accuracy


def largest_curvature(problem: MixedNormProblem, gram: Any) -> float:
    """Bound L of the curvature of the smooth part: the loss's times ``||[K_1 .. K_T]||^2``.

    Parameters
    ----------
    problem : MixedNormProblem
        Loss.
    gram : GramStack
        The kernels, each n_samples x n_points.
    """
    n = gram.shape[0]

    def both_ways(vector: FloatArray) -> FloatArray:
        return gram.apply(gram.adjoint(np.ravel(vector)))

    if n <= 2:
        norm = float(np.trace(np.stack([both_ways(e) for e in np.eye(n)])))
    else:
        operator = LinearOperator((n, n), matvec=both_ways, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n)
        norm = float(eigsh(operator, k=1, v0=start, tol=_MARGIN, return_eigenvectors=False)[0])
    return problem.loss.smoothness * max(norm * (1.0 + _MARGIN), np.finfo(float).tiny)


class _Point:
    """Coefficients with their scores, and the step from them."""

    def __init__(self, problem: MixedNormProblem, gram: Any, alpha: FloatArray, fitted: FloatArray) -> None:
        self.problem, self.gram, self.alpha, self.fitted = problem, gram, alpha, fitted
        self.b = problem.bias_for(fitted)
        self.w = problem.loss.slopes(fitted + self.b)
        self.z = gram.adjoint(self.w)

    def forward_backward(self, curvature: float) -> FloatArray:
        return prox(self.problem.penalty, self.alpha + self.z / curvature, self.problem.strength / curvature)

    def lower_bound(self) -> float:
        """Dual value of the slopes, which the best bias balances up to rounding."""
        return self.problem.dual_objective(self.w, self.z)

    def candidate(self, alpha: FloatArray, fitted: FloatArray) -> Candidate:
        """The coefficients, judged by the lower bound at this point."""
        b = self.problem.bias_for(fitted)
        primal = self.problem.objective(alpha, fitted + b)
        gap = max(primal - self.lower_bound(), 0.0) / max(abs(primal), np.finfo(float).tiny)
        dual = None if alpha is self.alpha else self.problem.loss.feasible(self.w, self.problem.intercept)[None]
        return Candidate(alpha=alpha, bias=np.array([b]), gap=gap, dual_alpha=dual)


def _start(gram: Any, start: Candidate | None) -> FloatArray:
    if start is None or start.alpha is None:
        return np.zeros((gram.shape[1], gram.n_kernels))
    return start.alpha


def solve_forward_backward(
    problem: MixedNormProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve by forward-backward splitting, [K09] Algorithm 2: the reference, slow.

    Parameters
    ----------
    problem : MixedNormProblem
        Loss, penalty, strength, intercept.
    gram : GramStack
        The kernels, each n_samples x n_points.
    start : Candidate, optional
        Coefficients to start from.
    deadline : float, optional
        Part of the solver contract; the driver keeps the time.

    Yields
    ------
    Candidate
        Coefficients, best bias and gap after each step.
    """
    curvature = largest_curvature(problem, gram)
    alpha = _start(gram, start)
    while True:
        point = _Point(problem, gram, alpha, gram.apply(alpha))
        yield point.candidate(point.alpha, point.fitted)
        alpha = point.forward_backward(curvature)


def solve_accelerated(
    problem: MixedNormProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve by forward-backward splitting with momentum and adaptive restart.

    Parameters
    ----------
    problem, gram, start, deadline
        As for `solve_forward_backward`.

    Yields
    ------
    Candidate
        Coefficients, best bias and gap after each step.
    """
    curvature = largest_curvature(problem, gram)
    alpha = _start(gram, start)
    fitted = gram.apply(alpha)
    point, momentum = _Point(problem, gram, alpha, fitted), 1.0
    while True:
        yield point.candidate(alpha, fitted)
        following = point.forward_backward(curvature)
        following_fitted = gram.apply(following)
        if float(((point.alpha - following) * (following - alpha)).sum()) > 0:
            momentum = 1.0
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        share = (momentum - 1.0) / next_momentum
        # The scores are linear in the coefficients, so the extrapolated point costs no product.
        point = _Point(
            problem,
            gram,
            following + share * (following - alpha),
            following_fitted + share * (following_fitted - fitted),
        )
        alpha, fitted, momentum = following, following_fitted, next_momentum
