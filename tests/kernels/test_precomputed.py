import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from kernelweave.kernels import Precomputed

RNG = np.random.default_rng(8)
K = RNG.normal(size=(6, 6))
K = K @ K.T
K.flags.writeable = False
NAMES = ["a", "b", "c", "d", "e", "f"]
ALL = np.arange(6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("samples", [ALL, ALL[:, None], ALL * 1.0, ALL.astype(object), list(range(6))])
def test_all_rows_in_order_borrow_the_matrix(dtype, samples):
    matrix = K.astype(dtype)
    result = Precomputed(matrix)(samples)
    assert np.shares_memory(result, matrix)
    assert result.dtype == dtype
    assert not result.flags.writeable
    assert matrix.flags.writeable
    assert np.shares_memory(Precomputed(matrix)(samples, ALL), matrix)


@pytest.mark.parametrize("matrix", [K, np.asfortranarray(K), K[::-1][::-1], K.astype(np.float32), K.tolist()])
def test_other_rows_are_copied(matrix):
    kernel, rows, cols = Precomputed(matrix), np.array([4, 0, 4]), np.array([[1.0], [5.0]])
    expected = np.asarray(matrix)[np.ix_([4, 0, 4], [1, 5])]
    result = kernel(rows, cols)
    np.testing.assert_array_equal(result, expected)
    assert result.flags.writeable
    assert not np.shares_memory(result, np.asarray(matrix))
    np.testing.assert_array_equal(kernel(rows), np.asarray(matrix)[np.ix_(rows, rows)])
    np.testing.assert_array_equal(kernel.diag(rows), np.diagonal(np.asarray(matrix))[rows])
    assert kernel.diag(rows).dtype == np.float64


def test_not_symmetric_matrices_keep_rows_and_columns():
    matrix = np.arange(9.0).reshape(3, 3)
    assert Precomputed(matrix)([0, 2], [1]).tolist() == [[1.0], [7.0]]


def test_clones_and_parameters_share_the_matrix():
    kernel = Precomputed(K, NAMES)
    copy = clone(kernel)
    assert copy.K is K
    assert copy.labels is NAMES
    assert clone([("name", kernel)], safe=False)[0][1].K is K
    assert Precomputed(K).freeze(ALL).K is K
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(NAMES), K)


@pytest.mark.parametrize("samples", [["f", "a"], np.array(["f", "a"]), np.array([["f"], ["a"]], dtype=object)])
def test_labels(samples):
    np.testing.assert_array_equal(Precomputed(K, NAMES)(samples, NAMES), K[[5, 0]])


def test_whole_number_labels_are_found_among_floats():
    kernel = Precomputed(K, labels=[10, 20, 30, 40, 50, 60])
    np.testing.assert_array_equal(kernel(np.array([[20.0], [10.0]])), K[np.ix_([1, 0], [1, 0])])


def test_frames_bring_their_labels():
    frame = pd.DataFrame(K, index=NAMES, columns=NAMES)
    for kernel in (Precomputed(frame), Precomputed(frame).freeze(["a"]), Precomputed(pd.DataFrame(K, index=NAMES))):
        np.testing.assert_array_equal(kernel(["c", "b"]), K[np.ix_([2, 1], [2, 1])])
    np.testing.assert_array_equal(Precomputed(pd.DataFrame(K))(ALL), K)
    assert isinstance(Precomputed(frame).freeze(["a"]).K, np.ndarray)
    assert Precomputed(frame).get_params()["K"] is frame
    with pytest.raises(ValueError, match="same labels"):
        Precomputed(frame[NAMES[::-1]])(["a"])


def test_other_types_are_converted_once():
    whole = np.eye(3, dtype=int)
    frozen = Precomputed(whole).freeze([0])
    assert frozen.K.dtype == np.float64
    assert frozen.freeze([0]) is frozen


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([0, 6], "row index 6 of sample 1 is outside the precomputed matrix with 6 rows"),
        ([-1], "row index -1 of sample 0 is outside"),
        ([0.0, 1.5], "row index 1.5 of sample 1 is not a whole number"),
        ([np.nan], "nan of sample 0 is not a whole number"),
        ([1e300], "not a whole number"),
        ([np.inf], "not a whole number"),
        (["a"], "labels="),
        (np.array([None]), "whole number|labels="),
        ([True, False], "labels="),
        (np.zeros((2, 2), dtype=int), "one column"),
        (3, "one column"),
    ],
)
def test_impossible_rows(samples, message):
    for use in (Precomputed(K), Precomputed(K).diag):
        with pytest.raises(ValueError, match=message):
            use(samples)


def test_unknown_labels():
    with pytest.raises(ValueError, match=r"label 'z' of sample 1 is not among .* \(1 of 2 samples"):
        Precomputed(K, NAMES)(["a", "z"])
    with pytest.raises(ValueError, match="is not among"):
        Precomputed(K, NAMES)(np.array([["x"]], dtype=object)[0:1].tolist())


@pytest.mark.parametrize(
    ("matrix", "labels", "message"),
    [
        (np.ones((2, 3)), None, r"square, got shape \(2, 3\)"),
        (np.ones((2, 3)), ["a", "b"], r"square, got shape \(2, 3\)"),
        (np.ones(4), None, "two dimensions"),
        (np.eye(2) * 1j, None, "real numbers"),
        (np.eye(3), ["a", "b"], "3 rows but 2 labels"),
        (np.eye(3), ["a", "b", "a"], "label 'a' names more than one row"),
    ],
)
def test_impossible_matrices(matrix, labels, message):
    with pytest.raises(ValueError, match=message):
        Precomputed(matrix, labels)([0] if labels is None else ["b"])


def test_the_matrix_is_lent_where_it_needs_no_copy():
    K = np.eye(3, dtype=np.float32)
    assert Precomputed(K).lends([0, 1, 2]) == np.float32
    assert Precomputed(K, labels=["a", "b", "c"]).lends(["a", "b", "c"]) == np.float32
    for rows in ([0, 1], [2, 1, 0], [0, 1, 1]):
        assert Precomputed(K).lends(rows) is None
    # A list is converted first, and a frame may be.
    assert Precomputed(K.tolist()).lends([0, 1, 2]) is None
    assert Precomputed(K.tolist()).freeze([0]).lends([0, 1, 2]) == np.float64


def test_a_rectangular_matrix_compares_samples_with_points():
    K = np.arange(12.0).reshape(4, 3)
    kernel = Precomputed(K)
    np.testing.assert_array_equal(kernel([3, 1], [2, 0]), K[np.ix_([3, 1], [2, 0])])
    assert np.shares_memory(kernel(np.arange(4), np.arange(3)), K)
    with pytest.raises(ValueError, match="column index 3 of sample 1 is outside the precomputed matrix with 3 columns"):
        kernel([3, 1], [2, 3])
    for ask in (lambda: kernel([0, 1]), lambda: kernel.diag([0])):
        with pytest.raises(ValueError, match=r"square, got shape \(4, 3\)"):
            ask()
