import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from kernelweave.kernels.containers import as_array, as_container, column_names, take_positions, width_of

VALUES = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("X", [VALUES, scipy.sparse.coo_matrix(VALUES), pd.DataFrame(VALUES), pl.DataFrame(VALUES)])
def test_containers_are_handed_on(X):
    assert as_container(X) is X
    assert width_of(X) == 3
    assert as_array(X) is X or np.array_equal(as_array(X), VALUES)


@pytest.mark.parametrize("X", [pd.Series([1, 2]), pl.Series([1, 2]), [1, 2], (1, 2), range(1, 3)])
def test_what_has_one_dimension_is_one_column(X):
    assert as_container(X).tolist() == [1, 2]
    assert width_of(as_container(X)) == 1
    assert take_positions(as_container(X), [0, 0]).tolist() == [[1, 1], [2, 2]]


def test_more_dimensions_have_no_columns():
    assert width_of(np.ones((2, 3, 4))) is None


def test_nested_lists_are_rows_and_other_samples_objects():
    assert as_container(VALUES.tolist()).shape == (2, 3)
    assert as_container([[1, 2], [3]]).shape == (2,)
    assert as_container([{1, 2}, {3}]).dtype == object
    assert as_container([]).shape == (0,)


def test_names():
    assert column_names(pd.DataFrame(VALUES, columns=list("abc"))) == {"a": 0, "b": 1, "c": 2}
    assert column_names(pl.DataFrame(VALUES, schema=list("abc"))) == {"a": 0, "b": 1, "c": 2}
    assert column_names(pd.DataFrame(VALUES)) is None
    assert column_names(pd.DataFrame(VALUES, columns=list("aab"))) is None
    assert column_names(VALUES) is None


def test_wide_frames_are_read_quickly():
    """Looking names up one by one in a list took seconds here."""
    frame = pd.DataFrame(np.zeros((2, 20000)), columns=[f"gene {i}" for i in range(20000)])
    assert len(column_names(frame)) == 20000
    assert take_positions(frame, list(range(20000))).shape == (2, 20000)
