"""Knots are quantiles that occur, with ties merged and zeros counted wherever they are stored."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.kernels.monotone.knots import check_knots, group_knots, quantile_knots

RNG = np.random.default_rng(0)
DENSE = RNG.gamma(2.0, size=(40, 5))
DENSE.flags.writeable = False
COUNTS = scipy.sparse.random(50, 30, 0.1, format="csr", random_state=1, data_rvs=lambda k: RNG.poisson(3.0, k) + 1.0)
ONE_GROUP = np.zeros(30, dtype=np.intp)


def test_quantiles_of_dense_values_are_values_at_equal_ranks():
    knots = quantile_knots(DENSE, 6)
    assert len(knots) == 6 and np.isin(knots, DENSE).all()
    assert knots[0] == DENSE.min() and knots[-1] == DENSE.max()
    below = [np.mean(z >= DENSE) for z in knots[1:]]
    np.testing.assert_allclose(below, [0.2, 0.4, 0.6, 0.8, 1.0], atol=1e-12)


def test_ties_are_merged():
    np.testing.assert_array_equal(quantile_knots(np.array([3.0] * 10 + [5.0] * 2), 8), [3.0, 5.0])
    np.testing.assert_array_equal(quantile_knots(np.full(4, 7.0), 5), [7.0])
    np.testing.assert_array_equal(quantile_knots(np.empty(0), 5, n_zeros=4), [0.0])


def test_many_zeros_take_one_knot_and_leave_the_rest_to_the_others():
    values = np.arange(1.0, 101.0)
    np.testing.assert_array_equal(quantile_knots(values, 5, n_zeros=900), [0, 25, 50, 75, 100])
    # With negative values the lowest stays a knot as well.
    signed = np.concatenate([-values, values])
    knots = quantile_knots(signed, 6, n_zeros=900)
    assert knots[0] == -100 and knots[-1] == 100 and 0 in knots and len(knots) == 6


def test_few_zeros_are_values_like_others():
    values = np.arange(1.0, 99.0)
    np.testing.assert_array_equal(quantile_knots(values, 5, n_zeros=2), [0, 23, 48, 73, 98])


@pytest.mark.parametrize("n_knots", [2, 3, 6, 11])
def test_sparse_and_dense_storage_agree(n_knots):
    for groups in (ONE_GROUP, np.arange(30) % 3, np.arange(30)):
        sparse, dense = (group_knots(X, groups, n_knots) for X in (COUNTS, COUNTS.toarray()))
        assert len(sparse) == len(dense) == groups.max() + 1
        for a, b in zip(sparse, dense, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("X", [DENSE, COUNTS], ids=["dense", "sparse"])
def test_a_weight_counts_as_copies(X):
    weight = RNG.integers(1, 4, X.shape[0]).astype(float)
    copies = X[np.repeat(np.arange(X.shape[0]), weight.astype(int))]
    groups = np.arange(X.shape[1], dtype=np.intp) % 2
    for a, b in zip(group_knots(X, groups, 7, weight), group_knots(copies, groups, 7), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_constant_group_gets_one_idle_ramp_but_not_all_may_be_constant():
    X = np.array([[1.0, 2.0], [1.0, 3.0]])
    first, second = group_knots(X, np.arange(2), 4)
    np.testing.assert_array_equal(first, [1.0, 2.0])
    np.testing.assert_array_equal(second, [2.0, 3.0])
    with pytest.raises(ValueError, match="constant"):
        group_knots(X[:, :1], np.zeros(1, dtype=np.intp), 4)


@pytest.mark.parametrize(
    ("knots", "message"),
    [
        ([1.0], "at least two"),
        ([[1.0, 2.0]], "shape"),
        ([1.0, np.nan], "finite"),
        ([1.0, 3.0, 3.0], "3 is followed by 3"),
        (["a", "b"], "must be numbers"),
        (scipy.sparse.eye(2), "sparse"),
    ],
)
def test_bad_knots_are_named(knots, message):
    with pytest.raises(ValueError, match=f"^knots.*{message}"):
        check_knots(knots, "knots")


def test_good_knots_are_copied():
    mine = np.array([0, 1, 2])
    checked = check_knots(mine, "knots")
    assert checked.dtype == np.float64 and not np.shares_memory(checked, mine)
