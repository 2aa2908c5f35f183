"""Every solver of ours keeps the contract (that the suite can fail is shown in tests/testing)."""

import numpy as np
import pytest

from kernelweave.gram.base import GramStack
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.testing import check_solver

N, N_CLASSES = 24, 3
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 12))
FACTORS = [X[:, :3], X[:, 3:12], X[:, 2:6] ** 2, np.tile(X[:, :4], 4) + 0.3 * RNG.normal(size=(N, 16))]
LABELS = np.where(X[:, 0] + 0.4 * RNG.normal(size=N) > 0, 1.0, -1.0)
CLASSES = np.where(np.arange(N) % N_CLASSES == np.arange(N_CLASSES)[:, None], 1.0, -1.0)
MARGINS = ["hard", "l1", "l1 tiny box", "l1 huge box", "l2", "auto-C", "weighted"]
SOLVERS = [solve_bundle, solve_interior_point]
# Where each is meant to be exact: the bundle hands over to the interior point beyond.
TOLERANCE = {solve_bundle: 1e-6, solve_interior_point: 1e-8}


class Minimal(GramStack):
    """A stack that offers what it must, and nothing else."""

    def __init__(self, matrices):
        self.matrices = np.stack(matrices)
        self.n_kernels, self.shape, self.dtype = len(matrices), matrices[0].shape, self.matrices.dtype

    def read(self, kernels, rows, cols=None):
        cols = np.arange(self.shape[1]) if cols is None else cols
        return self.matrices[np.ix_(kernels, rows, cols)].astype(np.float64)

    def restrict(self, rows, cols=None):
        return Minimal(self.matrices[:, rows][:, :, rows if cols is None else cols])


def margin_problem(margin, labels=LABELS):
    labels = np.atleast_2d(labels)
    box, ridge = np.full(N, np.inf), np.zeros(N)
    if margin.startswith("l1"):
        box[:] = {"l1": 1.0, "l1 tiny box": 1e-3, "l1 huge box": 1e5}[margin]
    elif margin == "l2":
        ridge[:] = 0.5
    elif margin == "auto-C":
        ridge[:] = 1.0
    elif margin == "weighted":
        box[:], ridge[:] = 0.3 * (1 + np.arange(N) % 3), 0.1
    prices = np.array([np.sum(z**2) for z in FACTORS])
    return MarginProblem(labels, box, ridge, prices, float(prices.mean()), float(N) if margin == "auto-C" else None)


def dense(dtype=np.float64):
    return [(z @ z.T).astype(dtype) for z in FACTORS]


STACKS = {
    "dense": lambda: DenseStack(dense()),
    "float32": lambda: DenseStack(dense(np.float32)),
    "factor": lambda: FactorStack(FACTORS),
    "minimal": lambda: Minimal(dense()),
}


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_classes(solver, margin):
    check_solver(solver, margin_problem(margin), DenseStack(dense()), tol=TOLERANCE[solver])


@pytest.mark.parametrize("margin", ["l1", "l2", "auto-C"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_classes_that_share_weights(solver, margin):
    check_solver(solver, margin_problem(margin, CLASSES), DenseStack(dense()), tol=TOLERANCE[solver])


@pytest.mark.parametrize("stack", [name for name in STACKS if name != "dense"])
@pytest.mark.parametrize("margin", ["l1", "auto-C"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_stacks(solver, margin, stack):
    check_solver(solver, margin_problem(margin), STACKS[stack](), tol=TOLERANCE[solver])


@pytest.mark.parametrize("margin", ["hard", "l1", "l2", "auto-C"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_known_optimum(solver, margin):
    """One identity kernel: omega has a closed form (all dual variables of a class are equal)."""
    n_plus = int((LABELS > 0).sum())
    tau = {"l2": 0.5}.get(margin, 0.0)
    free = 4.0 * n_plus * (N - n_plus) / ((1.0 + tau) * N)
    # The learned ridge is a second identity, and the budget buys one of the two.
    problem = margin_problem(margin)
    problem = MarginProblem(
        problem.labels, problem.box, problem.ridge, np.array([1.0 * N]), 1.0 * N, problem.ridge_price
    )
    if margin == "l1":
        problem = MarginProblem(problem.labels, np.full(N, 10.0), problem.ridge, problem.prices, problem.budget)
    check_solver(solver, problem, DenseStack([np.eye(N)]), tol=TOLERANCE[solver], optimum=free)


@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_margin_without_solution(solver):
    problem = margin_problem("hard", np.where(np.arange(N) < N // 2, 1.0, -1.0))
    kernels = [np.ones((N, N)), np.tile(np.eye(N // 2), (2, 2))]
    check_solver(
        solver,
        MarginProblem(problem.labels, problem.box, problem.ridge, np.full(2, 24.0), 24.0),
        DenseStack(kernels),
        optimum=np.inf,
    )
