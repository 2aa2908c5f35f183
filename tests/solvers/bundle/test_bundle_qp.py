"""The bundle's quadratic program: optimality conditions, and plain twins of its loops."""

import numpy as np
import pytest

from kernelweave.solvers.bundle import bundle_qp
from kernelweave.solvers.bundle.bundle_qp import solve_bundle_qp


def instance(m, k, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(m, m if rank is None else rank))
    centre = rng.dirichlet(np.ones(m))
    return z @ z.T, centre, rng.normal(size=k), rng.normal(size=(k, m))


def gap_of(x, lam, H, centre, a, G):
    """How far x is from optimal, at most: by weak duality with the multipliers lam."""
    planes = a - G @ x
    slope = H @ (x - centre) - G.T @ lam
    return planes.max() - lam @ planes + x @ slope - slope.min()


@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 1), (3, 2), (8, 5), (20, 40), (40, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_optimality(m, k, seed):
    H, centre, a, G = instance(m, k, seed)
    x, lam, ok = solve_bundle_qp(H, centre, a, G, 1e-10)
    assert ok
    assert (x >= 0).all() and x.sum() == pytest.approx(1.0, abs=1e-9)
    assert (lam >= 0).all() and lam.sum() == pytest.approx(1.0, abs=1e-8)
    assert gap_of(x, lam, H, centre, a, G) < 1e-8


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_planes_alone_and_singular_curvature(rank):
    H, centre, a, G = instance(10, 15, rank=rank)
    x, lam, ok = solve_bundle_qp(H, centre, a, G, 1e-10)
    assert ok and gap_of(x, lam, H, centre, a, G) < 1e-8


def test_one_plane_and_no_curvature_is_a_vertex():
    G = np.array([[1.0, 3.0, 2.0]])
    x, lam, ok = solve_bundle_qp(np.zeros((3, 3)), np.full(3, 1 / 3), np.zeros(1), G, 1e-10)
    assert ok
    np.testing.assert_allclose(x, [0, 1, 0], atol=1e-8)
    np.testing.assert_allclose(lam, [1.0])


def test_curvature_alone_stays_at_its_centre():
    centre = np.array([0.5, 0.2, 0.3])
    x, _, ok = solve_bundle_qp(np.eye(3), centre, np.zeros(1), np.full((1, 3), 7.0), 1e-12)
    assert ok
    np.testing.assert_allclose(x, centre, atol=1e-6)


def test_equal_planes_and_equal_kernels():
    H, centre, a, G = instance(6, 4)
    x, lam, ok = solve_bundle_qp(H, centre, np.tile(a, 2), np.tile(G, (2, 1)), 1e-10)
    single, _, _ = solve_bundle_qp(H, centre, a, G, 1e-10)
    assert ok and lam.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(x, single, atol=1e-5)
    twin = np.ix_([0, 0, 1, 2], [0, 0, 1, 2])
    x, lam, ok = solve_bundle_qp(H[twin], np.full(4, 0.25), a, G[:, [0, 0, 1, 2]], 1e-10)
    assert ok and x[0] == pytest.approx(x[1], abs=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_objective(scale):
    H, centre, a, G = instance(8, 5)
    x, lam, ok = solve_bundle_qp(scale * H, centre, scale * a, scale * G, 1e-10 * scale)
    assert ok and gap_of(x, lam, scale * H, centre, scale * a, scale * G) < 1e-7 * scale


def test_planes_far_below_do_not_matter():
    H, centre, a, G = instance(8, 5)
    x, _, _ = solve_bundle_qp(H, centre, a, G, 1e-11)
    y, lam, ok = solve_bundle_qp(H, centre, np.append(a, -1e4), np.vstack([G, G[0]]), 1e-11)
    assert ok and lam[-1] < 1e-8
    np.testing.assert_allclose(x, y, atol=1e-6)


def test_inputs_are_left_alone():
    arrays = instance(8, 5)
    kept = [array.copy() for array in arrays]
    solve_bundle_qp(*arrays, 1e-10)
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, kept, strict=True))


def test_what_is_not_finite_is_reported():
    H, centre, a, G = instance(4, 3)
    _, _, ok = solve_bundle_qp(H, centre, a * np.nan, G, 1e-10)
    assert not ok


@pytest.mark.parametrize("n", [1, 2, 7])
def test_factorise_and_solve(n):
    z = np.random.default_rng(n).normal(size=(n, n))
    A, b = z @ z.T + np.eye(n), np.arange(1.0, n + 1)
    L, solution = A.copy(), b.copy()
    bundle_qp._factorise(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A))
    bundle_qp._solve(L, solution)
    np.testing.assert_allclose(solution, np.linalg.solve(A, b))


def test_a_negative_pivot_is_lifted():
    A = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-17]])
    bundle_qp._factorise(A)
    assert 0 < A[1, 1] < 1e-6


def test_shrink():
    values, change = np.array([1.0, 2.0, 3.0]), np.array([1.0, -4.0, -1.0])
    assert bundle_qp._shrink(1.0, values, change) == 0.5
    assert bundle_qp._shrink(0.25, values, change) == 0.25
    assert bundle_qp._shrink(1.0, values, np.abs(change)) == 1.0


def test_newton_step_solves_the_linearised_conditions():
    """The eliminated system beside the whole one."""
    m, k = 5, 3
    H, _, _, G = instance(m, k)
    rng = np.random.default_rng(1)
    x, z, lam, s = (rng.uniform(0.1, 1, size) for size in (m, m, k, k))
    r_x, r_s, c_x, c_cut = (rng.normal(size=size) for size in (m, k, m, k))
    r_v, r_sum = 0.3, -0.2
    L, coupling, budget = np.empty((m, m)), np.empty(m), np.empty(m)
    weight, border = bundle_qp._factorise_step(H, G, x, z, lam, s, L, coupling, budget)
    dx, dz, dlam, ds = np.empty(m), np.empty(m), np.empty(k), np.empty(k)
    dv, dnu = bundle_qp._newton(
        L, coupling, budget, weight, border, G, x, z, lam, s, r_x, r_v, r_s, r_sum, c_cut, c_x, dx, dz, dlam, ds
    )
    np.testing.assert_allclose(H @ dx - G.T @ dlam - dz - dnu, -r_x, atol=1e-10)
    np.testing.assert_allclose(dlam.sum(), r_v, atol=1e-10)
    np.testing.assert_allclose(dx.sum(), r_sum, atol=1e-10)
    np.testing.assert_allclose(ds, dv + G @ dx - r_s, atol=1e-10)
    np.testing.assert_allclose(z * dx + x * dz, -c_x, atol=1e-10)
    np.testing.assert_allclose(lam * ds + s * dlam, -c_cut, atol=1e-10)


def test_residuals_by_definition():
    m, k = 5, 3
    H, centre, a, G = instance(m, k)
    rng = np.random.default_rng(2)
    x, z, lam = rng.uniform(0.1, 1, m), rng.uniform(0.1, 1, m), rng.uniform(0.1, 1, k)
    s, r_x, r_s, c_x, c_cut = np.empty(k), np.empty(m), np.empty(k), np.empty(m), np.empty(k)
    v, spread = bundle_qp._first_slacks(a, G, x, s)
    assert s.min() == pytest.approx(spread) and spread > 0
    np.testing.assert_allclose(v - s, a - G @ x)
    bundle_qp._gradient(H, centre, G, x, lam, r_x)
    np.testing.assert_allclose(r_x, H @ (x - centre) - G.T @ lam)
    gradient = r_x.copy()
    gap, worst = bundle_qp._residuals(a, G, x, z, lam, s, v, 0.7, r_x, r_s, c_x, c_cut)
    np.testing.assert_allclose(r_x, gradient - z - 0.7)
    np.testing.assert_allclose(r_s, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.append(c_x, c_cut), np.append(x * z, lam * s))
    assert gap == pytest.approx(x @ z + lam @ s) and worst == pytest.approx(np.abs(np.append(r_x, r_s)).max())
