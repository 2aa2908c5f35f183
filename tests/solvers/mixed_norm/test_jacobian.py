"""The derivative of the proximity operators against finite differences."""

import numpy as np
import pytest

from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm.jacobian import EntryPenalty

ALL = [MixedNorm(p, q, r) for p in (1, 2) for q in (1, 2) for r in (1, 2)]
SHAPE = (6, 4)
ENTRIES = np.random.default_rng(5).permutation(24)[:17]


def at_a_point(penalty, seed, lam=0.4):
    u = np.random.default_rng(seed).normal(size=len(ENTRIES))
    on = EntryPenalty(penalty, ENTRIES, SHAPE)
    x = on.prox(u, lam)
    return on, u, x, on.jacobian(u, x, lam)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_products_are_directional_derivatives(penalty, seed):
    on, u, _, jacobian = at_a_point(penalty, seed)
    direction, step = np.random.default_rng(seed + 10).normal(size=len(u)), 1e-7
    expected = (on.prox(u + step * direction, 0.4) - on.prox(u - step * direction, 0.4)) / (2 * step)
    product = np.zeros(len(u))
    product[jacobian.support] = jacobian.times(direction[jacobian.support])
    np.testing.assert_allclose(product, expected, atol=1e-6)


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_parts_make_up_the_matrix(penalty):
    _, _, x, jacobian = at_a_point(penalty, 1)
    size = len(jacobian.support)
    matrix = np.stack([jacobian.times(e) for e in np.eye(size)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-14)
    values = np.linalg.eigvalsh(matrix)
    assert values.min() > 0 and values.max() <= 1 + 1e-12
    np.testing.assert_array_equal(jacobian.support, np.flatnonzero(x))
    for g in range(len(jacobian.along)):
        members = jacobian.groups == g
        assert np.linalg.norm(jacobian.direction[members]) == pytest.approx(1.0)
        image = jacobian.times(np.where(members, jacobian.direction, 0.0))
        np.testing.assert_allclose(image[members], jacobian.along[g] * jacobian.direction[members], rtol=1e-12)
        assert jacobian.group_across()[g] == pytest.approx(jacobian.across[members][0])


def test_elitist_loners_stand_alone():
    on = EntryPenalty(MixedNorm(1, 2, 1), np.array([0, 5, 6]), (3, 3))  # rows 0, 1, 2
    u = np.array([3.0, 1.0, -2.0])
    jacobian = on.jacobian(u, on.prox(u, 0.5), 0.5)
    assert len(jacobian.along) == 0
    np.testing.assert_allclose(jacobian.across, 1 / 1.5)


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_value_of_some_entries(penalty):
    x = np.random.default_rng(2).normal(size=len(ENTRIES))
    full = np.zeros(24)
    full[ENTRIES] = x
    expected = penalty.value(full.reshape(SHAPE))
    assert EntryPenalty(penalty, ENTRIES, SHAPE).value(x) == pytest.approx(expected, rel=1e-13)
