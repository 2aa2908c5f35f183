"""Sharing, knots and directions as users give them."""

import numpy as np
import pytest
import scipy.sparse

from kernelweave.estimators.monotone.ramp_setting import (
    feature_position,
    resolve_directions,
    resolve_groups,
    resolve_ramps,
)

X = np.array([[0.0, 5.0, 1.0], [1.0, 6.0, 2.0], [2.0, 9.0, 3.0], [3.0, 8.0, 4.0]])
ONE = np.zeros(3, dtype=np.intp)


def test_groups():
    np.testing.assert_array_equal(resolve_groups("all", 3), [0, 0, 0])
    np.testing.assert_array_equal(resolve_groups("feature", 3), [0, 1, 2])
    np.testing.assert_array_equal(resolve_groups(["b", "a", "b"], 3), [1, 0, 1])
    for share in ("each", [0, 1], None):
        with pytest.raises(ValueError, match="share must be 'all', 'feature' or a label"):
            resolve_groups(share, 3)


def test_knots_from_quantiles_or_given():
    ramps = resolve_ramps(X, np.array([0, 1, 0]), 3, None, None)
    np.testing.assert_array_equal(ramps.knots[0], [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(ramps.knots[1], [5.0, 6.0, 9.0])
    weighted = resolve_ramps(X, ONE, 2, None, np.array([1.0, 0.5, 1.0, 1.0]))
    np.testing.assert_array_equal(weighted.knots[0], [0.0, 9.0])
    same = resolve_ramps(X, np.arange(3), 99, [0, 1, 4], None)
    assert [list(knots) for knots in same.knots] == [[0.0, 1.0, 4.0]] * 3
    each = resolve_ramps(X, np.array([0, 1, 0]), 99, [[0, 1], np.array([5, 6, 9])], None)
    assert [len(knots) for knots in each.knots] == [2, 3]


def test_sparse_samples_are_anchored_only_where_zeros_would_be_lost():
    rows = scipy.sparse.csr_matrix(X)
    assert not resolve_ramps(rows, ONE, 3, None, None).anchored
    assert resolve_ramps(scipy.sparse.csr_matrix(X - 3), ONE, 3, None, None).anchored
    assert not resolve_ramps(X - 3, ONE, 3, None, None).anchored
    # Zero need not be a quantile, but has to be a knot.
    mixed = resolve_ramps(scipy.sparse.csr_matrix(X - 3.5), ONE, 3, None, None)
    assert mixed.anchored and list(mixed.knots[0]) == [-3.5, -0.5, 0.0, 5.5]


@pytest.mark.parametrize(
    ("n_knots", "knots", "message"),
    [
        (1, None, "n_knots must be a whole number of at least 2"),
        (2.5, None, "n_knots must be a whole number"),
        (9, [3, 1], "knots must increase strictly"),
        (9, [[0, 1]], "one for each of the 2 transforms; got 1"),
        (9, [[0, 1], [2]], r"knots\[1\] must be a list of at least two"),
        (9, [], "knots must be a list of at least two"),
    ],
)
def test_bad_knots(n_knots, knots, message):
    with pytest.raises(ValueError, match=message):
        resolve_ramps(X, np.array([0, 1, 0]), n_knots, knots, None)


def test_directions():
    names = np.array(["a", "b", "c"], dtype=object)
    assert resolve_directions(None, 3, None) is None
    assert resolve_directions([0, 0, 0], 3, None) is None
    np.testing.assert_array_equal(resolve_directions([1, 0, -1], 3, None), [1, 0, -1])
    np.testing.assert_array_equal(resolve_directions({"c": 1, "a": -1}, 3, names), [-1, 0, 1])
    np.testing.assert_array_equal(resolve_directions({2: 1}, 3, None), [0, 0, 1])
    for given, message in [
        ([1, 0], "for each of 3 features"),
        ([1, 0, 2], r"1 \(increasing\)"),
        (["up", 0, 1], r"1 \(increasing\)"),
        ({"d": 1}, "no feature called 'd'; there are a, b, c"),
    ]:
        with pytest.raises(ValueError, match=message):
            resolve_directions(given, 3, names)


def test_positions():
    names = np.array(["a", "b"], dtype=object)
    assert feature_position("b", 2, names) == 1 and feature_position(np.int64(1), 2, None) == 1
    for feature, known, message in [("b", None, "have no names"), (2, names, "0 to 1"), (-1, names, "no feature -1")]:
        with pytest.raises(ValueError, match=message):
            feature_position(feature, 2, known)
