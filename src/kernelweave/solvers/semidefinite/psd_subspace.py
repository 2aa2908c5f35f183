"""Kernel weights of any sign, with the cone held on a few directions that grow until it holds everywhere.

Same problem as `kernelweave.solvers.semidefinite.psd_primal_dual`, method of
`kernelweave.solvers.semidefinite.growing`: a primal-dual step costs little more than one factorisation of the
SVM's system. Low ranks go to the whole cone, which is small then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelweave.problems.base import Candidate
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.growing import solve_growing
from kernelweave.solvers.semidefinite.psd_primal_dual import margin_settings
from kernelweave.solvers.semidefinite.whole import solve_whole

__all__ = ["solve_psd_subspace"]

_SMALL_RANK = 120  # below, the whole cone costs no more


def solve_psd_subspace(
    problem: PSDMarginProblem, gram: Any, *, start: Candidate | None = None, deadline: float | None = None
) -> Iterator[Candidate]:
    """Solve for kernel weights of any sign on a growing set of directions.

    Parameters
    ----------
    problem : PSDMarginProblem
        Labels, box, ridge, prices and budget.
    gram : GramStack
        The kernels over all n samples, the labelled ones first.
    start, deadline : optional
        Part of the solver contract; the method starts afresh, and the driver keeps the time.

    Yields
    ------
    Candidate
        One an interior-point step, as `kernelweave.solvers.semidefinite.growing.solve_growing` says.
    """
    for setting in margin_settings(problem, gram):
        solve = solve_whole if len(setting.face.pivots) <= _SMALL_RANK else solve_growing
        if (yield from solve(setting)):
            return
