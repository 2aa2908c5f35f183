"""The fast solver of each mixed norm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelweave.problems.base import Candidate
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.solvers.mixed_norm.augmented_lagrangian import solve_augmented_lagrangian
from kernelweave.solvers.mixed_norm.ridge import solve_ridge

__all__ = ["solve_fast"]


def solve_fast(
    problem: MixedNormProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve with the method that suits the penalty: `solve_ridge` for l2, else `solve_augmented_lagrangian`.

    Parameters
    ----------
    problem, gram, start, deadline
        As for these two.

    Returns
    -------
    iterator of Candidate
    """
    dense = problem.penalty.separable and problem.penalty.q == 2
    solve = solve_ridge if dense else solve_augmented_lagrangian
    return solve(problem, gram, start=start, deadline=deadline)
