"""Proofs that a hard margin has no solution."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.ray import unbounded_direction

Y = np.array([1.0, 1.0, -1.0, -1.0])
# Both class means are the origin: no line separates them.
CROSS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def hard(labels, stack, budget=1.0):
    labels = np.atleast_2d(labels)
    n = labels.shape[1]
    return MarginProblem(labels, np.full(n, np.inf), np.zeros(n), stack.traces(), budget)


def test_a_direction_is_normalised_and_proves_it():
    stack = FactorStack([CROSS, 3 * CROSS[:, :1]])
    direction = unbounded_direction(hard(Y, stack), stack, Candidate(alpha=np.full((1, 4), 1e9)))
    np.testing.assert_allclose(direction, np.full((1, 4), 0.5))
    assert np.abs(CROSS.T @ (Y * direction[0])).max() < 1e-12


def test_no_direction_where_one_kernel_separates():
    stack = FactorStack([CROSS, Y[:, None] * 1e-3])
    assert unbounded_direction(hard(Y, stack), stack, Candidate(alpha=np.full((1, 4), 1e9))) is None


def test_no_direction_before_the_dual_variables_grow():
    stack = FactorStack([CROSS])
    assert unbounded_direction(hard(Y, stack), stack, Candidate(alpha=np.ones((1, 4)))) is None
    assert unbounded_direction(hard(Y, stack), stack, Candidate(alpha=np.zeros((1, 4)))) is None
    assert unbounded_direction(hard(Y, stack), stack, Candidate()) is None


def test_what_is_large_depends_on_the_size_of_the_kernels():
    stack = FactorStack([1e-6 * CROSS])
    problem = hard(Y, stack, budget=1e-12)
    assert unbounded_direction(problem, stack, Candidate(alpha=np.full((1, 4), 1e9))) is None
    assert unbounded_direction(problem, stack, Candidate(alpha=np.full((1, 4), 1e20))) is not None


def test_one_class_of_several_is_enough():
    separable = np.array([1.0, -1.0, -1.0, -1.0])
    stack = FactorStack([CROSS])
    direction = unbounded_direction(hard(np.stack([separable, Y]), stack), stack, Candidate(alpha=np.full((2, 4), 1e9)))
    assert not direction[0].any() and direction[1].tolist() == [0.5] * 4


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("case", ["cross", "twins", "more samples than dimensions"])
def test_the_interior_point_finds_the_proof(case, scale):
    rng = np.random.default_rng(0)
    z, y = {
        "cross": lambda: (CROSS, Y),
        "twins": lambda: (np.repeat(rng.normal(size=(6, 8)), 2, axis=0), np.tile([1.0, -1.0], 6)),
        "more samples than dimensions": lambda: (rng.normal(size=(40, 3)), np.where(np.arange(40) % 2, 1.0, -1.0)),
    }[case]()
    for stack in (FactorStack([scale * z, z[:, :2]]), DenseStack([scale**2 * z @ z.T, z[:, :2] @ z[:, :2].T])):
        result = run(solve_interior_point, hard(y, stack, 3.0 * scale), stack, tol=1e-6)
        assert result.status is Status.NOT_SEPARABLE
        beta = y * result.candidate.ray[0]
        assert abs(beta.sum()) < 1e-12 and np.abs(z.T @ beta).max() < 1e-6


@pytest.mark.parametrize("distance", [1e-2, 1e-4])
def test_a_thin_margin_is_still_a_margin(distance):
    """Separable by one feature that is much smaller than the others."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    z = np.column_stack([rng.normal(size=(30, 2)), distance * y])
    stack = FactorStack([z])
    result = run(solve_interior_point, hard(y, stack), stack, tol=1e-6)
    assert result.status is Status.OPTIMAL
    # The small feature alone: ||w|| = 1 / distance, in the scale of the budget.
    assert result.certificate.dual <= stack.traces()[0] / distance**2 * (1 + 1e-6)
