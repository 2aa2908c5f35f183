"""Weights of any sign: which solver, and what it leaves to the estimator."""

from __future__ import annotations

import numpy as np

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.driver import Solver
from kernelweave.solvers.semidefinite.psd_primal_dual import solve_psd_primal_dual
from kernelweave.solvers.semidefinite.psd_subspace import solve_psd_subspace

__all__ = ["psd_solvers", "psd_weights"]

# The whole cone costs about n^3 a kernel and a step: samples up to which it is worth it when directions stall.
_FALLBACK_LIMIT = 800


def psd_solvers(name: str, n: int) -> list[Solver]:
    """The solver to use, and the one to turn to when it stalls.

    Parameters
    ----------
    name : {"auto", "subspace", "primal_dual"}
        What the user asked for; "auto" is "subspace", which takes the whole cone where that is small.
    n : int
        Number of samples, labelled or not.

    Returns
    -------
    list of callable
    """
    if name == "primal_dual":
        return [solve_psd_primal_dual]
    return [solve_psd_subspace, *([solve_psd_primal_dual] if n <= _FALLBACK_LIMIT else [])]


def psd_weights(problem: PSDMarginProblem, gram: GramStack, candidate: Candidate) -> FloatArray:
    """Weights whose combination is semidefinite; the uniform ones when the candidate has none to offer.

    Parameters
    ----------
    problem : PSDMarginProblem
        Prices and budget.
    gram : GramStack
        The kernels over all samples.
    candidate : Candidate
        Best point of the solver.

    Returns
    -------
    ndarray of shape (m,) or (m + 1,)
    """
    weights, _ = problem.feasible_weights(gram, candidate.weights)
    if weights is None:
        return np.asarray(problem.budget / problem.all_prices / len(problem.all_prices), dtype=np.float64)
    return weights
