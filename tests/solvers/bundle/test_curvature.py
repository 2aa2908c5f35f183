"""Second-order information, against exact solutions at neighbouring weights."""

import numpy as np
import pytest

from kernelweave.solvers.bundle.curvature import free_curvature
from kernelweave.solvers.bundle.smo import solve_smo

N, M = 60, 3
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(M, N, 40))
KERNELS = Z @ Z.transpose(0, 2, 1) / 40
Y = np.where(RNG.normal(size=N) + Z[0, :, 0] > 0, 1.0, -1.0)
MU = np.array([0.5, 0.2, 0.3])
MARGINS = {
    "l1": (np.full(N, 0.8), np.zeros(N)),
    "l2": (np.full(N, np.inf), np.full(N, 0.2)),
    "both": (np.full(N, 0.8), np.full(N, 0.2)),
}


def solution(mu, box, ridge):
    beta, K = np.zeros(N), np.tensordot(mu, KERNELS, 1)
    gradient, _, _ = solve_smo(K, Y, box, ridge, beta, tol=1e-12)
    return K, beta, gradient


def curvature_at(mu, box, ridge, at_most=None):
    K, beta, gradient = solution(mu, box, ridge)
    free = np.flatnonzero((beta != 0) & (np.abs(beta) < box))
    residual = gradient - gradient[free].mean()
    return free_curvature(K, ridge, KERNELS @ beta, residual, free, at_most), beta, free


@pytest.mark.parametrize("margin", MARGINS)
def test_hessian_is_the_second_derivative(margin):
    box, ridge = MARGINS[margin]
    curvature, _, _ = curvature_at(MU, box, ridge)
    step, numeric = 1e-5, np.empty((M, M))
    for i in range(M):
        forms = []
        for sign in (1, -1):
            _, beta, _ = solution(MU + sign * step * np.eye(M)[i], box, ridge)
            forms.append(np.einsum("a,tab,b->t", beta, KERNELS, beta))
        # The derivative of omega in mu is minus the quadratic forms.
        numeric[:, i] = -(forms[0] - forms[1]) / (2 * step)
    np.testing.assert_allclose(curvature.hessian, numeric, rtol=1e-4, atol=1e-4 * np.abs(numeric).max())


@pytest.mark.parametrize("margin", MARGINS)
def test_prediction_is_exact_while_the_free_set_stays(margin):
    box, ridge = MARGINS[margin]
    curvature, beta, free = curvature_at(MU, box, ridge)
    change = 1e-4 * np.array([1.0, -2.0, 0.5])
    _, after, _ = solution(MU + change, box, ridge)
    predicted = beta.copy()
    predicted[free] += curvature.predict(change)
    # Of second order in the change.
    np.testing.assert_allclose(predicted, after, atol=1e-6)
    assert np.abs(after - beta).max() > 1e-5
    assert curvature.predict(change).sum() == pytest.approx(0.0, abs=1e-10)


def test_prediction_corrects_an_inexact_solution():
    box, ridge = MARGINS["l2"]
    K, exact, _ = solution(MU, box, ridge)
    free = np.flatnonzero(exact)
    rough = exact.copy()
    rough[free] += 1e-3 * (RNG.normal(size=len(free)) - 0.0)
    rough[free] -= (rough - exact)[free].mean()
    gradient = Y - K @ rough - ridge * rough
    curvature = free_curvature(K, ridge, KERNELS @ rough, gradient - gradient[free].mean(), free)
    np.testing.assert_allclose(rough[free] + curvature.predict(np.zeros(M)), exact[free], atol=1e-8)


def test_a_subsample_scales_up():
    box, ridge = MARGINS["l2"]
    whole, _, free = curvature_at(MU, box, ridge)
    part, _, _ = curvature_at(MU, box, ridge, at_most=len(free) // 2)
    assert part.factor is None and len(part.free) == len(free) // 2
    assert part.predict(np.ones(M)).tolist() == [0.0] * len(part.free)
    assert 0.3 < np.trace(part.hessian) / np.trace(whole.hessian) < 3.0
    same, _, _ = curvature_at(MU, box, ridge, at_most=len(free))
    np.testing.assert_array_equal(same.hessian, whole.hessian)


@pytest.mark.parametrize("free", [[], [4]])
def test_too_few_free_samples_have_no_curvature(free):
    curvature = free_curvature(np.eye(6), np.zeros(6), np.ones((2, 6)), np.zeros(6), np.array(free, dtype=np.intp))
    assert not curvature.hessian.any() and curvature.hessian.shape == (2, 2)
    assert len(curvature.free) == 0 and curvature.predict(np.ones(2)).shape == (0,)


@pytest.mark.parametrize("rank", [1, 2])
def test_singular_blocks(rank):
    """Rank-deficient kernels are the normal case: the metric stays finite and semidefinite."""
    z = RNG.normal(size=(6, rank))
    curvature = free_curvature(z @ z.T, np.zeros(6), RNG.normal(size=(2, 6)), np.zeros(6), np.arange(6))
    assert np.isfinite(curvature.hessian).all()
    assert np.linalg.eigvalsh(curvature.hessian).min() >= -1e-9 * np.abs(curvature.hessian).max()


def test_an_indefinite_block_gives_no_curvature():
    curvature = free_curvature(np.diag([1.0, -1.0, 1.0]), np.zeros(3), np.ones((2, 3)), np.zeros(3), np.arange(3))
    assert not curvature.hessian.any() and len(curvature.free) == 0


def test_inputs_are_left_alone():
    arrays = np.eye(6), np.ones(6), np.ones((2, 6)), np.ones(6)
    for array in arrays:
        array.flags.writeable = False
    free_curvature(*arrays, np.arange(6))
