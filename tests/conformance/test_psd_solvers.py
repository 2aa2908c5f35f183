"""The solvers for weights of any sign keep the contract, on every margin and storage."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite import growing, psd_subspace
from kernelweave.solvers.semidefinite.psd_primal_dual import solve_psd_primal_dual
from kernelweave.solvers.semidefinite.psd_subspace import solve_psd_subspace
from kernelweave.testing import check_solver

N = 24
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 12))
# The fourth is the second without a part of it: some weights want to be negative.
FACTORS = [X[:, :3], X[:, 3:12], X[:, 2:6] ** 2, X[:, 3:8], np.tile(X, 3) + 0.3 * RNG.normal(size=(N, 36))]
LABELS = np.where(X[:, 0] + 0.4 * RNG.normal(size=N) > 0, 1.0, -1.0)
CLASSES = np.where(np.arange(N) % 3 == np.arange(3)[:, None], 1.0, -1.0)
SOLVERS = [solve_psd_subspace, solve_psd_primal_dual]


@pytest.fixture(autouse=True)
def _grow_from_few_directions(monkeypatch):
    monkeypatch.setattr(psd_subspace, "_SMALL_RANK", 4)
    monkeypatch.setattr(growing, "_FREE", 2)
    monkeypatch.setattr(growing, "_PER_KERNEL", 1)


def psd_problem(margin, labels=LABELS):
    labels = np.atleast_2d(labels)
    n = labels.shape[1]
    box, ridge = np.full(n, np.inf), np.zeros(n)
    if margin.startswith("l1"):
        box[:] = {"l1": 1.0, "l1 tiny box": 1e-3, "l1 huge box": 1e5}[margin]
    elif margin == "l2":
        ridge[:] = 0.5
    elif margin == "auto-C":
        ridge[:] = 1.0
    elif margin == "weighted":
        box[:], ridge[:] = 0.3 * (1 + np.arange(n) % 3), 0.1
    prices = np.array([np.sum(z**2) for z in FACTORS])
    return PSDMarginProblem(labels, box, ridge, prices, float(prices.mean()), float(N) if margin == "auto-C" else None)


def dense(dtype=np.float64):
    return DenseStack([(z @ z.T).astype(dtype) for z in FACTORS])


@pytest.mark.parametrize("margin", ["hard", "l1", "l1 tiny box", "l1 huge box", "l2", "auto-C", "weighted"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_classes(solver, margin):
    check_solver(solver, psd_problem(margin), dense(), tol=1e-7)


@pytest.mark.parametrize("margin", ["l1", "auto-C"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_classes_that_share_weights(solver, margin):
    check_solver(solver, psd_problem(margin, CLASSES), dense(), tol=1e-7)


@pytest.mark.parametrize("stack", [FactorStack(FACTORS), dense(np.float32)], ids=["factor", "float32"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_stacks(solver, stack):
    check_solver(solver, psd_problem("l1"), stack, tol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_known_optimum(solver):
    """Identity and ones: the ones say nothing about the labels, so their weight falls until K is singular.

    K = a I - b 11' is semidefinite for b <= a / n, and a n - b n = n leaves a = n / (n - 1). On balanced
    labels omega is that of the identity with this weight.
    """
    labels = np.where(np.arange(N) % 2 > 0, 1.0, -1.0)[None]
    problem = PSDMarginProblem(labels, np.full(N, np.inf), np.zeros(N), np.full(2, float(N)), float(N))
    check_solver(solver, problem, DenseStack([np.eye(N), np.ones((N, N))]), optimum=N * (N - 1) / N)


@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_margin_without_solution(solver):
    labels = np.where(np.arange(N) < N // 2, 1.0, -1.0)[None]
    problem = PSDMarginProblem(labels, np.full(N, np.inf), np.zeros(N), np.full(2, 24.0), 24.0)
    kernels = [np.ones((N, N)), np.tile(np.eye(N // 2), (2, 2))]
    check_solver(solver, problem, DenseStack(kernels), optimum=np.inf)
