"""Samples in the containers users bring."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator

from kernelweave._compat import take_rows
from kernelweave.estimators.samples import check_sample_weight, check_samples, stack_samples

X = np.arange(12.0).reshape(4, 3)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
CONTAINERS = {
    "array": (X, lambda x: x),
    "csr": (scipy.sparse.csr_matrix(X), lambda x: x.toarray()),
    "csr array": (scipy.sparse.csr_array(X), lambda x: x.toarray()),
    "pandas": (FRAME, lambda x: x.to_numpy()),
    "polars": (pl.from_pandas(FRAME), lambda x: x.to_numpy()),
    "list": ([list(row) for row in X], np.asarray),
}


class Fitted(BaseEstimator):
    pass


@pytest.mark.parametrize("kind", CONTAINERS)
def test_rows_and_stacks(kind):
    samples, as_array = CONTAINERS[kind]
    part, rest = take_rows(samples, np.array([2, 0])), take_rows(samples, np.array([1]))
    assert as_array(part).tolist() == X[[2, 0]].tolist()
    assert as_array(stack_samples(part, rest)).tolist() == X[[2, 0, 1]].tolist()


def test_stacked_frames_have_an_index_of_their_own():
    assert stack_samples(FRAME[2:], FRAME[:1]).index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers_pass_with_their_features_recorded(kind):
    estimator = Fitted()
    samples, as_array = CONTAINERS[kind]
    checked = check_samples(estimator, samples, numeric=True, reset=True)
    assert as_array(checked).tolist() == X.tolist()
    assert estimator.n_features_in_ == 3
    assert hasattr(estimator, "feature_names_in_") == (kind in ("pandas", "polars"))
    check_samples(estimator, samples, numeric=True, reset=False)
    with pytest.raises(ValueError, match="feature"):
        check_samples(
            estimator, samples[["a", "b"]] if kind in ("pandas", "polars") else X[:, :2], numeric=True, reset=False
        )


@pytest.mark.parametrize("samples", [np.arange(4), ["p", "q", "r"], np.array(["p", "q"], dtype=object), [{"a": 1}]])
def test_indices_labels_and_objects_for_kernels_that_take_them(samples):
    estimator = Fitted()
    checked = check_samples(estimator, samples, numeric=False, reset=True)
    assert len(checked) == len(samples) and estimator.n_features_in_ == 1


def test_a_list_of_samples_is_copied():
    words = ["p", "q"]
    assert check_samples(Fitted(), words, numeric=False, reset=True) is not words


@pytest.mark.parametrize(
    ("samples", "numeric", "message"),
    [
        (np.arange(4.0), True, "Expected 2D array, got 1D array"),
        (np.ones((2, 2, 2)), True, "dim"),
        (np.empty((0, 3)), True, "0 sample"),
        (FRAME[:0], True, "0 sample"),
        (np.array([["a", "b"]]), True, "numeric|convert"),
        (np.array([[1j]]), True, "Complex data"),
        ([], False, "1D array|0 sample|empty"),
    ],
)
def test_samples_that_are_none(samples, numeric, message):
    with pytest.raises(ValueError, match=message):
        check_samples(Fitted(), samples, numeric=numeric, reset=True)


def test_what_is_not_finite_is_left_to_the_kernels():
    broken = X.copy()
    broken[1, 1] = np.nan
    assert np.isnan(check_samples(Fitted(), broken, numeric=True, reset=True)[1, 1])


@pytest.mark.parametrize(
    ("weight", "expected"),
    [(None, [1, 1, 1]), (2, [2, 2, 2]), ([1, 0, 3], [1, 0, 3]), (pd.Series([1, 2, 3]), [1, 2, 3])],
)
def test_sample_weights(weight, expected):
    checked = check_sample_weight(weight, 3)
    assert checked.tolist() == expected and checked.dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"sample_weight has shape \(2,\); expected \(3,\)"),
        (np.ones((3, 1)), r"shape \(3, 1\)"),
        ([1, -2, 1], "sample_weight has a negative value at sample 1"),
        ([0, 0, 0], "zero for every sample"),
        ([1, np.nan, 1], "sample_weight contains NaN"),
        ([1, np.inf, 1], "sample_weight contains infinity"),
        (-1.0, "negative value"),
    ],
)
def test_sample_weights_that_are_none(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, 3)
