"""The SVM's conditions and their elimination, beside the full linear system."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.columns import ColumnPoint, Columns, step_to_zero

N, M = 8, 3
RNG = np.random.default_rng(0)
HALF = RNG.normal(size=(M, N, 5))
K = HALF @ HALF.transpose(0, 2, 1)
LABELS = np.where(RNG.normal(size=(2, N)) > 0, 1.0, -1.0)
SCALE = np.array([1.0, 0.5, 2.0])
SPAN = RNG.normal(size=(M, M))
XI = np.linalg.solve(SPAN, np.array([0.5, 0.3, 0.2]))


def columns_at(boxed):
    box = np.full(N, 2.0 if boxed else np.inf)
    problem = PSDMarginProblem(LABELS, box, np.full(N, 0.1), np.full(M, 8.0), 8.0)
    alpha = RNG.uniform(0.5, 1.5, size=(2, N))
    room = box - alpha if boxed else np.ones((2, N))
    u = RNG.uniform(0.5, 1.5, size=(2, N)) if boxed else np.zeros((2, N))
    point = ColumnPoint(alpha, room, RNG.uniform(0.5, 1.5, size=(2, N)), u, RNG.normal(size=2))
    return Columns(problem, DenseStack(K), SCALE, SPAN, point, XI)


def test_forms_and_scores():
    columns = columns_at(True)
    signed = LABELS * columns.point.alpha
    combinations = np.tensordot(SPAN.T, SCALE[:, None, None] * K, 1)
    np.testing.assert_allclose(columns.q, np.einsum("ka,jab,kb->j", signed, combinations, signed), rtol=1e-10)
    np.testing.assert_allclose(columns.scores, signed @ np.tensordot(XI, combinations, 1), rtol=1e-9)
    np.testing.assert_allclose(columns.balance, signed.sum(axis=1), rtol=1e-12)
    assert columns.n_pairs == 4 * N


@pytest.mark.parametrize("boxed", [True, False])
def test_elimination_solves_the_whole_system(boxed):
    columns = columns_at(boxed)
    p, y = columns.point, LABELS
    schur, right = np.diag([-1.0, -2.0, -3.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 0.0, 0.0])
    given = schur.copy(), right.copy()
    columns.eliminate(schur)
    lower, upper = columns.right_side(0.2, None)
    partial = columns.reduce(lower, upper, right)
    outer = np.linalg.solve(schur, right)
    step = columns.expand(partial, lower, upper, outer)
    Kx = np.tensordot(columns.weights, K, 1)
    for k in range(2):
        dual = 2 * (y[k] * (Kx @ (y[k] * step.alpha[k])) + 0.1 * step.alpha[k]) - step.s[k] + step.u[k]
        dual += 2 * y[k] * (outer[:M] @ columns.products[k]) + step.b[k] * y[k]
        np.testing.assert_allclose(dual, -columns.residual[k], atol=1e-9)
        assert y[k] @ step.alpha[k] == pytest.approx(-columns.balance[k], abs=1e-9)
        assert step.b[k] == outer[M + k]
    np.testing.assert_allclose(p.alpha * step.s + p.s * step.alpha, lower, atol=1e-10)
    np.testing.assert_allclose(p.room * step.u + p.u * step.room, upper, atol=1e-10)
    np.testing.assert_allclose(step.room, -step.alpha if boxed else 0.0)
    forms = 2 * np.einsum("kjn,kn->j", columns.products, y * step.alpha)
    np.testing.assert_allclose(given[0][:M] @ outer + forms, given[1][:M], atol=1e-9)


def test_complementarity_ahead_and_length():
    columns = columns_at(True)
    p = columns.point
    step = ColumnPoint(-p.alpha, p.alpha, np.zeros_like(p.s), np.zeros_like(p.u), p.b)
    assert columns.length(step) == pytest.approx(1.0)
    ahead = columns.complementarity(step, 0.5)
    assert ahead == pytest.approx((0.5 * p.alpha * p.s).sum() + ((p.room + 0.5 * p.alpha) * p.u).sum())
    assert columns.complementarity() == pytest.approx((p.alpha * p.s + p.room * p.u).sum())


def test_step_to_zero():
    assert step_to_zero(np.array([1.0, 2.0]), np.array([-2.0, 1.0])) == 0.5
    assert step_to_zero(np.array([1.0]), np.array([0.0])) == np.inf
    assert step_to_zero(np.zeros(0), np.zeros(0)) == np.inf
