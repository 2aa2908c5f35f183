"""Newton systems against dense linear algebra, along sequences of changing derivatives."""

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm import newton_system as module
from kernelweave.solvers.mixed_norm.columns import HeldColumns, StreamedColumns
from kernelweave.solvers.mixed_norm.jacobian import EntryPenalty
from kernelweave.solvers.mixed_norm.newton_system import NewtonSystem

PENALTIES = [MixedNorm(1, 1), MixedNorm(2, 1, 1), MixedNorm(2, 1, 2), MixedNorm(1, 2, 1), MixedNorm(1, 2, 2)]
N, POINTS, KERNELS = 12, 10, 4


def dense(columns, jacobian, sigma, shift):
    rows = columns.rows(jacobian.support)
    inner = np.stack([jacobian.times(e) for e in np.eye(len(rows))]) if len(rows) else np.zeros((0, 0))
    return sigma * rows.T @ inner @ rows + np.diag(shift)


@pytest.mark.parametrize("kind", [HeldColumns, StreamedColumns])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("few", [0.0, 100.0], ids=["running sum", "woodbury"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_sequences(penalty, few, balanced, kind, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    monkeypatch.setattr(module, "_RESIDUAL", 1e-9)
    monkeypatch.setattr(module, "_CG_STEPS", 60)
    rng = np.random.default_rng(0)
    columns = kind(RectangularStack(rng.normal(size=(KERNELS, N, POINTS))))
    system = NewtonSystem(columns, N)
    order = rng.permutation(POINTS * KERNELS)
    u = np.zeros(0)
    for step, (size, sigma) in enumerate([(20, 1.0), (20, 1.0), (33, 5.0), (40, 5.0), (40, 50.0), (40, 0.1)]):
        columns.extend(order[len(columns) : size])
        u = np.concatenate([u, np.zeros(size - len(u))]) + rng.normal(size=size) * (1.0 if step % 2 else 0.2)
        on = EntryPenalty(penalty, columns.entries, (POINTS, KERNELS))
        jacobian = on.jacobian(u, on.prox(u, 0.3 * sigma), 0.3 * sigma)
        shift, rhs = rng.uniform(0.2, 3.0, N), rng.normal(size=N)
        direction = system.solve(jacobian, sigma, shift, rhs, balanced)
        residual = rhs - dense(columns, jacobian, sigma, shift) @ direction
        if balanced:
            assert abs(direction.sum()) <= 1e-13 * np.abs(direction).sum()
            residual -= residual.mean()
        np.testing.assert_allclose(residual, 0.0, atol=1e-8 * np.abs(rhs).max())


def test_an_empty_support_leaves_the_diagonal():
    columns = HeldColumns(RectangularStack(np.ones((1, 3, 3))))
    columns.extend(np.arange(3))
    on = EntryPenalty(MixedNorm(1, 1), columns.entries, (3, 1))
    jacobian = on.jacobian(np.zeros(3), np.zeros(3), 1.0)
    direction = NewtonSystem(columns, 3).solve(jacobian, 1.0, np.array([1.0, 2.0, 4.0]), np.ones(3), False)
    np.testing.assert_allclose(direction, [1.0, 0.5, 0.25])


def test_single_precision_gives_way_where_it_does_not_suffice(monkeypatch):
    """A step length of 1e12 is beyond single precision: the sum is made again in double, and the answer holds."""
    monkeypatch.setattr(module, "_SINGLE_FROM", 1)
    monkeypatch.setattr(module, "_FEW", 0.0)
    rng = np.random.default_rng(2)
    columns = HeldColumns(RectangularStack(rng.normal(size=(2, 8, 8))))
    columns.extend(np.arange(7))
    on, system, rhs = (
        EntryPenalty(MixedNorm(1, 1), columns.entries, (8, 2)),
        NewtonSystem(columns, 8),
        rng.normal(size=8),
    )
    for sigma, storage in ((1.0, np.float32), (1e12, np.float64)):
        u = 10 * sigma * rng.normal(size=7)
        jacobian = on.jacobian(u, u, 0.0)
        for _ in range(2):  # the second time after the change of precision
            direction = system.solve(jacobian, sigma, np.ones(8), rhs, False)
        residual = dense(columns, jacobian, sigma, np.ones(8)) @ direction - rhs
        assert np.linalg.norm(residual) <= 2e-2 * np.linalg.norm(rhs)
        assert system._sum.dtype == storage


def test_lagging_factors_save_columns(monkeypatch):
    """A small change of all factors adds no column; conjugate gradients still solve the new system."""
    monkeypatch.setattr(module, "_FEW", 0.0)
    rng = np.random.default_rng(1)
    columns = HeldColumns(RectangularStack(rng.normal(size=(2, 6, 6))))
    columns.extend(np.arange(12))
    on, system, added = EntryPenalty(MixedNorm(2, 1, 2), columns.entries, (6, 2)), NewtonSystem(columns, 6), []
    add = system._add_columns
    monkeypatch.setattr(system, "_add_columns", lambda chosen, change: (added.append(len(chosen)), add(chosen, change)))
    u, rhs = rng.normal(size=12), rng.normal(size=6)
    for scale in (1.0, 1.1):
        jacobian = on.jacobian(scale * u, on.prox(scale * u, 0.5), 0.5)
        direction = system.solve(jacobian, 1.0, np.ones(6), rhs, False)
        residual = dense(columns, jacobian, 1.0, np.ones(6)) @ direction - rhs
        assert np.linalg.norm(residual) <= 1e-2 * np.linalg.norm(rhs)
    assert added == [12, 0]
