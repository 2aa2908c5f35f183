"""The interior point beyond the conformance suite: accuracy, sparsity, sizes."""

import warnings

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=N) > 0, 1.0, -1.0)
FACTORS = [X[:, :2], X[:, 2:4], X[:, 4:], X]


def problem(margin, stack, C=1.0, labels=Y):
    labels = np.atleast_2d(labels)
    n, prices = labels.shape[1], stack.traces()
    box = np.full(n, C if margin == "l1" else np.inf)
    ridge = np.full(n, {"l2": 1.0 / C, "auto": 1.0}.get(margin, 0.0))
    return MarginProblem(labels, box, ridge, prices, prices.mean(), float(n) if margin == "auto" else None)


def gaussian(widths):
    distances = ((X[:, None] - X) ** 2).sum(-1)
    return DenseStack([np.exp(-g * distances) for g in widths])


@pytest.mark.parametrize("margin", ["l1", "l2", "hard", "auto"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_high_accuracy(margin, dtype):
    dense = gaussian([0.01, 0.1, 1.0])
    stack = DenseStack([matrix.astype(dtype) for matrix in dense._matrices])
    result = run(solve_interior_point, problem(margin, stack), stack, tol=1e-11)
    assert result.status is Status.OPTIMAL and result.n_iter < 30


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_extreme_boxes_and_ridges(margin, C):
    for stack in (gaussian([0.01, 0.1, 1.0]), FactorStack(FACTORS)):
        result = run(solve_interior_point, problem(margin, stack, C), stack, tol=1e-7)
        assert result.status is Status.OPTIMAL, result.message


def test_dense_and_factor_stacks_agree():
    factor = FactorStack(FACTORS)
    dense = DenseStack([z @ z.T for z in FACTORS])
    values = [run(solve_interior_point, problem("l1", factor), s, tol=1e-9).certificate.primal for s in (factor, dense)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)


def test_solutions_are_sparse():
    stack = FactorStack([X[:, :1], X[:, 1:2], np.ones((N, 1))])
    result = run(solve_interior_point, problem("l1", stack), stack, tol=1e-6)
    # A constant kernel and one of noise get no weight at all, and far samples no part in w.
    assert result.candidate.weights[2] == 0.0
    assert 0 < (result.candidate.alpha == 0).sum() < N


@pytest.mark.parametrize("m", [1, 300])
def test_one_kernel_and_many(m):
    stack = FactorStack([RNG.normal(size=(N, 1)) for _ in range(m)])
    result = run(solve_interior_point, problem("l2", stack), stack, tol=1e-7)
    assert result.status is Status.OPTIMAL and result.n_iter < 40


@pytest.mark.parametrize("n_minus", [1, 2])
def test_few_samples_of_one_class(n_minus):
    y = np.where(np.arange(N) < n_minus, -1.0, 1.0)
    for margin in ("l1", "l2", "auto"):
        stack = gaussian([0.1, 1.0])
        assert run(solve_interior_point, problem(margin, stack, labels=y), stack, tol=1e-7).status is Status.OPTIMAL


def test_two_samples():
    stack = DenseStack([np.eye(2), np.array([[1.0, 0.5], [0.5, 1.0]])])
    result = run(solve_interior_point, problem("hard", stack, labels=np.array([1.0, -1.0])), stack, tol=1e-9)
    # The identity keeps the two further apart: omega = 4 / ||phi(x) - phi(z)||^2 = 2.
    assert result.certificate.primal == pytest.approx(2.0, rel=1e-8)
    np.testing.assert_allclose(result.candidate.weights, [1.0, 0.0], atol=1e-6)


def test_it_ends_at_the_floor_without_a_word():
    stack = gaussian([0.1, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(solve_interior_point, problem("l1", stack), stack, tol=1e-30)
    assert result.status in (Status.STALLED, Status.OPTIMAL) and result.n_iter < 60
    assert result.certificate.relative_gap < 1e-13
