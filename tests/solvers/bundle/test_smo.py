"""Sequential minimal optimisation beside a plain twin, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.svm import SVMProblem
from kernelweave.solvers.bundle import smo

RNG = np.random.default_rng(0)


def problem(n=60, margin="l1", seed=0, C=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
    box, ridge = np.full(n, C), np.zeros(n)
    if margin == "l2":
        box, ridge = np.full(n, np.inf), np.full(n, 1.0 / C)
    if margin == "weighted":
        box, ridge = C * (0.2 + np.arange(n) / n), np.full(n, 0.1)
    for array in (K, y, box, ridge):
        array.flags.writeable = False
    return K, y, box, ridge


def plain_ascend(K, ridge, lower, upper, beta, gradient, tol, max_steps):
    """Second-order working sets, one pair a step, with vectors."""
    curvature = K.diagonal() + ridge
    for step in range(max_steps + 1):
        rising = np.where(beta < upper, gradient, -np.inf)
        falling = np.where(beta > lower, gradient, np.inf)
        i = int(np.argmax(rising))
        if rising[i] - falling.min() < tol or step == max_steps:
            return step, rising[i] - falling.min()
        drop = rising[i] - falling
        a = np.maximum(curvature[i] + curvature - 2 * K[i], 1e-12)
        j = int(np.argmax(np.where(drop > 0, drop**2 / a, -1.0)))
        delta = min(drop[j] / a[j], upper[i] - beta[i], beta[j] - lower[j])
        beta[i] += delta
        beta[j] -= delta
        gradient -= delta * (K[i] - K[j])
        gradient[i] -= ridge[i] * delta
        gradient[j] += ridge[j] * delta


@pytest.mark.parametrize("margin", ["l1", "l2", "weighted"])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 40])
def test_steps_of_the_compiled_loop(margin, steps):
    K, y, box, ridge = problem(margin=margin)
    lower, upper = np.where(y > 0, 0.0, -box), np.where(y > 0, box, 0.0)
    compiled, plain = np.zeros(60), np.zeros(60)
    g_compiled, g_plain = y.copy(), y.copy()
    taken, violation = smo._ascend(K, K.diagonal() + ridge, ridge, lower, upper, compiled, g_compiled, 1e-3, steps)
    expected, expected_violation = plain_ascend(K, ridge, lower, upper, plain, g_plain, 1e-3, steps)
    assert taken == expected
    np.testing.assert_allclose(compiled, plain, atol=1e-10)
    np.testing.assert_allclose(g_compiled, g_plain, atol=1e-10)
    assert violation == pytest.approx(expected_violation, abs=1e-10)


@pytest.mark.parametrize("n", [12, 60, 200])
@pytest.mark.parametrize("margin", ["l1", "l2", "weighted"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_solutions_are_certified(n, margin, C):
    K, y, box, ridge = problem(n, margin, seed=n, C=C)
    beta = np.zeros(n)
    gradient, steps, violation = smo.solve_smo(K, y, box, ridge, beta, tol=1e-7)
    assert violation < 1e-7 and steps > 0
    np.testing.assert_allclose(gradient, y - K @ beta - ridge * beta, atol=1e-9 * max(1.0, C))
    certificate = SVMProblem(y, box, ridge, np.ones(1)).certify(DenseStack([K]), Candidate(alpha=(y * beta)[None]))
    assert certificate.infeasibility < 1e-12
    # A margin that misses 1 by the tolerance costs that much of the box.
    assert certificate.gap < 1e-6 * certificate.primal + 2e-7 * box[np.isfinite(box)].sum()


def test_agrees_with_scikit_learn():
    K, y, box, ridge = problem(150)
    beta = np.zeros(150)
    smo.solve_smo(K, y, box, ridge, beta, tol=1e-8)
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(K, y)
    theirs = np.zeros(150)
    theirs[svc.support_] = svc.dual_coef_[0]
    np.testing.assert_allclose(beta, theirs, atol=1e-4)


def test_a_warm_start_takes_fewer_steps_to_the_same_point():
    K, y, box, ridge = problem(150)
    cold = np.zeros(150)
    _, many, _ = smo.solve_smo(K, y, box, ridge, cold, tol=1e-6)
    warm = cold.copy()
    _, few, _ = smo.solve_smo(1.001 * K, y, box, ridge, warm, tol=1e-6)
    assert few < many / 2
    again = np.zeros(150)
    smo.solve_smo(1.001 * K, y, box, ridge, again, tol=1e-6)
    np.testing.assert_allclose(warm, again, atol=1e-3)


def test_a_known_gradient_saves_its_computation():
    K, y, box, ridge = problem(150)
    beta = np.zeros(150)
    gradient, _, _ = smo.solve_smo(K, y, box, ridge, beta, tol=1e-2)
    one, two = beta.copy(), beta.copy()
    first, _, _ = smo.solve_smo(K, y, box, ridge, one, tol=1e-8)
    second, _, _ = smo.solve_smo(K, y, box, ridge, two, tol=1e-8, gradient=gradient.copy())
    np.testing.assert_allclose(one, two, atol=1e-6)
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_the_step_limit_is_kept_and_reported():
    K, y, box, ridge = problem(150)
    beta = np.zeros(150)
    _, steps, violation = smo.solve_smo(K, y, box, ridge, beta, tol=1e-9, max_steps=50)
    assert steps == 50 and violation > 1e-9
    _, steps, _ = smo.solve_smo(K, y, box, ridge, beta, tol=1e-9, max_steps=1000)
    assert steps <= 1000


def test_a_solution_takes_no_step():
    K, y, box, ridge = problem()
    beta = np.zeros(60)
    smo.solve_smo(K, y, box, ridge, beta, tol=1e-8)
    kept = beta.copy()
    _, steps, _ = smo.solve_smo(K, y, box, ridge, beta, tol=1e-6)
    assert steps == 0 and np.array_equal(beta, kept)


def test_shrinking_changes_nothing(monkeypatch):
    K, y, box, ridge = problem(300, C=0.1)
    shrunk, whole = np.zeros(300), np.zeros(300)
    smo.solve_smo(K, y, box, ridge, shrunk, tol=1e-9)
    monkeypatch.setattr(smo, "_SHRINK_TO", 0.0)
    smo.solve_smo(K, y, box, ridge, whole, tol=1e-9)
    np.testing.assert_allclose(shrunk, whole, atol=1e-6)


@pytest.mark.parametrize("rank", [0, 1])
def test_flat_kernels(rank):
    """Pairs without curvature: a zero kernel, and one of identical samples."""
    y = np.where(np.arange(10) % 2 > 0, 1.0, -1.0)
    K = np.full((10, 10), float(rank))
    beta = np.zeros(10)
    _, _, violation = smo.solve_smo(K, y, np.full(10, 2.0), np.zeros(10), beta, tol=1e-6)
    assert violation < 1e-6
    np.testing.assert_allclose(y * beta, 2.0)


def test_bounds_are_met_exactly():
    K, y, box, ridge = problem(100, C=0.05)
    beta = np.zeros(100)
    smo.solve_smo(K, y, box, ridge, beta, tol=1e-6)
    assert (np.abs(beta) == 0.05).sum() > 50  # not 0.05 - 1e-17: free variables are found by comparison
    assert (y * beta >= 0).all() and (np.abs(beta) <= 0.05).all()
