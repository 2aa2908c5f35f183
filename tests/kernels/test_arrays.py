import numpy as np
import pytest
import scipy.sparse

from kernelweave.kernels.arrays import as_dense, as_gram, as_matrix, as_pair, read_only


def test_float64_arrays_are_not_copied():
    X = np.ones((3, 2))
    assert as_matrix(X) is X
    rows = scipy.sparse.csr_array(X)
    assert as_matrix(rows).data is rows.data


@pytest.mark.parametrize("X", [[[1, 2]], np.array([[True, False]]), np.ones((1, 2), dtype=np.float32)])
def test_numbers_become_float64(X):
    assert as_matrix(X).dtype == np.float64
    assert as_matrix(X).shape == (1, 2)


@pytest.mark.parametrize("X", [[1.0, 2.0], np.ones((2, 2, 2)), 3.0])
def test_samples_must_be_rows(X):
    with pytest.raises(ValueError, match="reshape"):
        as_matrix(X)


def test_complex_samples_are_refused():
    with pytest.raises(ValueError, match="complex"):
        as_matrix(np.array([[1j]]))


def test_duplicates_are_summed_in_a_copy():
    X = scipy.sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert as_matrix(X).toarray().tolist() == [[0.0, 3.0, 0.0]]
    assert X.data.tolist() == [1.0, 2.0]


def test_the_same_samples_stay_the_same_object():
    X = np.ones((3, 2))
    left, right = as_pair(X, None)
    assert left is right
    left, right = as_pair(X, X.tolist())
    assert left is not right


def test_numbers_of_features_must_agree():
    with pytest.raises(ValueError, match="X has 2 features and Y has 3"):
        as_pair(np.ones((1, 2)), np.ones((1, 3)))


def test_gram_matrices_of_the_right_kind_are_handed_on():
    K = np.ones((2, 3), dtype=np.float32)
    assert as_gram(K, (2, 3)) is K
    assert as_gram(scipy.sparse.csr_matrix(np.eye(2)), (2, 2)).tolist() == [[1, 0], [0, 1]]
    assert as_gram([[1, 2]], (1, 2)).dtype == np.float64


@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 1), (6,)])
def test_gram_matrices_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"expected \(2, 3\)"):
        as_gram(np.ones(shape), (2, 3))


def test_complex_gram_matrices_are_refused():
    with pytest.raises(ValueError, match="complex128"):
        as_gram(np.eye(2) * 1j, (2, 2))


def test_read_only_leaves_the_array_writable():
    X = np.ones(2)
    assert not read_only(X).flags.writeable
    assert X.flags.writeable


def test_as_dense():
    X = np.eye(2)
    assert as_dense(X) is X
    assert as_dense(scipy.sparse.csr_array(X)).tolist() == X.tolist()
