"""The ramp stack does what the factor stack of its columns does, without ever forming them."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from kernelweave.gram.base import GramStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps, linear_cells

RNG = np.random.default_rng(3)
N = 40
KNOTS = np.array([-0.5, 0.0, 0.2, 1.0])


def _cases():
    dense = RNG.normal(size=(N, 3))
    sparse = scipy.sparse.random(N, 4, 0.5, format="csr", random_state=1, data_rvs=lambda k: RNG.normal(size=k))
    yield "shared", Ramps((KNOTS,), np.zeros(3, dtype=np.intp)).cells(dense), 3
    yield "groups", Ramps((KNOTS, np.array([0.0, 2.0])), np.array([1, 0, 1])).cells(dense), 4
    yield "anchored", Ramps((KNOTS,), np.zeros(4, dtype=np.intp), True).cells(sparse), 3
    yield "linear", linear_cells(dense), 1


CASES = {name: (cells, m) for name, cells, m in _cases()}
for _cells, _ in CASES.values():
    for part in (_cells.positions, _cells.slots, _cells.indptr, _cells.offsets, _cells.kernel_of):
        part.flags.writeable = False


@pytest.fixture(params=list(CASES))
def pair(request):
    cells, m = CASES[request.param]
    stack = RampStack(cells, m)
    eye = np.eye(cells.n_coefficients)
    Z = np.stack([stack.forward(c) for c in eye], axis=1)
    return stack, FactorStack([Z[:, cells.kernel_of == k] for k in range(m)]), Z


def test_columns_follow_the_formula():
    X = np.array([[-1.0], [0.1], [0.6], [4.0]])
    stack = RampStack(Ramps((KNOTS,), np.zeros(1, dtype=np.intp)).cells(X))
    for j, (a, b) in enumerate(itertools.pairwise(KNOTS)):
        expected = np.clip((X - a) / (b - a), 0, 1)
        np.testing.assert_allclose(stack.matrix().toarray()[:, j : j + 1], expected, atol=1e-15)


def test_everything_agrees_with_the_factors(pair):
    stack, factors, Z = pair
    m, mu = stack.n_kernels, np.linspace(0.0, 1.0, stack.n_kernels) + (stack.n_kernels == 1)
    v, V = RNG.normal(size=N), RNG.normal(size=(N, 2))
    sparse = np.where(RNG.random(N) < 0.5, 0.0, v)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(stack.matrix().toarray(), Z, **close)
    np.testing.assert_allclose(stack.backward(v), Z.T @ v, **close)
    np.testing.assert_allclose(stack.products(v), factors.products(v), **close)
    np.testing.assert_allclose(stack.support_products(sparse), factors.support_products(sparse), **close)
    some = np.array([m - 1], dtype=np.intp)
    np.testing.assert_allclose(stack.support_products(v, some), factors.support_products(v, some), **close)
    for block in (v, V):
        np.testing.assert_allclose(stack.matvec(mu, block), factors.matvec(mu, block), **close)
        np.testing.assert_allclose(stack.quadratic_forms(block), factors.quadratic_forms(block), **close)
    np.testing.assert_allclose(stack.combine(mu), factors.combine(mu), **close)
    held = np.full((N, N), np.nan)
    assert stack.combine(mu, out=held) is held
    np.testing.assert_allclose(held, factors.combine(mu), **close)
    np.testing.assert_allclose(stack.diagonals(), factors.diagonals(), **close)
    np.testing.assert_allclose(stack.traces(), factors.traces(), **close)
    np.testing.assert_allclose(stack.feature_gram(v**2), Z.T * v**2 @ Z, **close)
    rows, cols = np.array([3, 0, 7]), np.array([5, 7])
    everything = np.arange(m, dtype=np.intp)
    np.testing.assert_allclose(stack.read(everything, rows, cols), factors.read(everything, rows, cols), **close)
    np.testing.assert_allclose(stack.restrict(rows).products(v[:3]), factors.restrict(rows).products(v[:3]), **close)


def test_shifted_systems_are_solved_to_rounding(pair):
    stack, _, _ = pair
    mu = np.linspace(0.0, 1.0, stack.n_kernels) + (stack.n_kernels == 1)
    shift = 10.0 ** RNG.uniform(-6, 6, N)
    solve = stack.shifted_solve(mu, shift)
    rhs = RNG.normal(size=(N, 2))
    x = solve(rhs)
    residual = stack.matvec(mu, x) + shift[:, None] * x - rhs
    assert np.abs(residual).max() < 1e-9
    np.testing.assert_array_equal(solve(rhs[:, 0]), x[:, 0])
    # The general, dense way agrees.
    np.testing.assert_allclose(GramStack.shifted_solve(stack, mu, shift)(rhs), x, rtol=1e-6, atol=1e-9)


def test_more_coefficients_than_samples_fall_back_to_the_dense_system():
    cells = Ramps((KNOTS,), np.zeros(30, dtype=np.intp)).cells(RNG.normal(size=(10, 30)))
    stack, rhs = RampStack(cells), RNG.normal(size=10)
    x = stack.shifted_solve(np.ones(3), np.ones(10))(rhs)
    np.testing.assert_allclose(stack.matvec(np.ones(3), x) + x, rhs, atol=1e-12)


def test_blocks_off_the_diagonal_are_refused(pair):
    stack, _, _ = pair
    with pytest.raises(ValueError, match="symmetric"):
        stack.restrict(np.array([0]), np.array([1]))


@pytest.mark.parametrize("name", ["shared", "groups", "anchored"])
def test_transformed_features_are_one_linear_kernel(name):
    cells, m = CASES[name]
    stack, mu = RampStack(cells, m), RNG.random(m)
    eye = np.eye(cells.n_coefficients)
    Z = np.stack([stack.forward(c) for c in eye], axis=1)
    d = cells.feature_of.max() + 1
    phi = np.stack([(Z * mu[cells.kernel_of] * cells.signs)[:, cells.feature_of == f].sum(axis=1) for f in range(d)], 1)
    linear = stack.transformed(mu)
    np.testing.assert_allclose(linear.combine(np.ones(1)), phi @ phi.T, atol=1e-13)
    v, w = RNG.random(N), RNG.normal(size=d)
    np.testing.assert_allclose(linear.feature_gram(v), phi.T * v @ phi, atol=1e-13)
    np.testing.assert_allclose(linear.forward(w), stack.forward(mu[cells.kernel_of] * stack.to_columns(w)), atol=1e-13)
    np.testing.assert_allclose(
        linear.backward(v), stack.by_feature(mu[cells.kernel_of] * stack.backward(v)), atol=1e-13
    )
