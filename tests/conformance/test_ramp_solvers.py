"""The solvers of learned transforms keep the contract."""

from dataclasses import dataclass

import numpy as np
import pytest

from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.knots import group_knots
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.ridge import RidgeProblem
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.descent import solve_descent
from kernelweave.solvers.monotone.directed import solve_directed
from kernelweave.solvers.monotone.ridge_weights import solve_ridge_weights
from kernelweave.testing import check_solver

N = 40
RNG = np.random.default_rng(3)
X = RNG.uniform(0, 1, (N, 3)) ** 2
Y = np.where(np.sqrt(X[:, 0]) - np.sqrt(X[:, 1]) + 0.2 * RNG.normal(size=N) > 0, 1.0, -1.0)
GROUPS = {"all": np.zeros(3, dtype=np.intp), "feature": np.arange(3, dtype=np.intp)}


@dataclass(frozen=True)
class Posed:
    """A margin problem under another name: its symmetries are checked with dense kernels, which are no ramps."""

    margin: MarginProblem

    def certify(self, gram, candidate):
        return self.margin.certify(gram, candidate)


def on_posed(solver):
    def solve(problem, gram, **options):
        return solver(problem.margin, gram, **options)

    return solve


def stack_of(share):
    ramps = Ramps(group_knots(X, GROUPS[share], 5), GROUPS[share])
    return RampStack(ramps.cells(X), ramps.n_ramps), ramps.group_of_ramp


def margin_problem(margin, groups):
    box = np.full(N, 2.0 if margin == "l1" else np.inf)
    ridge = np.full(N, 0.0 if margin == "l1" else 0.5)
    return MarginProblem(Y[None], box, ridge, np.ones(len(groups)), 1.0, groups=groups)


@pytest.mark.parametrize("margin", ["l1", "l2"])
@pytest.mark.parametrize(
    ("solver", "share", "tol"),
    [(solve_interior_point, "all", 1e-8), (solve_directed, "feature", 1e-8), (solve_descent, "all", 1e-3)],
)
def test_margin_solvers(solver, share, tol, margin):
    stack, groups = stack_of(share)
    check_solver(on_posed(solver), Posed(margin_problem(margin, groups)), stack, tol=tol)


@pytest.mark.parametrize("share", ["all", "feature"])
def test_ridge_solver(share):
    stack, groups = stack_of(share)
    targets = np.stack([Y, np.sqrt(X[:, 2]) + 3.0])
    check_solver(solve_ridge_weights, RidgeProblem(targets, np.full(N, 0.3), groups), stack, tol=1e-9)
