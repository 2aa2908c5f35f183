"""Frames and enum members survive the change into plain data; the original is not touched."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelweave import MKLClassifier
from kernelweave.kernels import RBF, Linear, Precomputed
from kernelweave.persistence.storable import StoredFrame, StoredStatus, restored, storable
from kernelweave.solvers.driver import Status

FRAMES = {
    "floats": pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "mixed": pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"], "d": [True, False]}),
    "labelled": pd.DataFrame({"a": [1.0, 2.0]}, index=["first", "second"]),
    "repeated names": pd.DataFrame([[1.0, "x"], [2.0, "y"]], columns=["a", "a"]),
    "numbers as names": pd.DataFrame({0: [1.0, 2.0], 1: [3, 4]}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_pandas_frames_come_back(name):
    frame = FRAMES[name]
    stored = storable([frame])[0]
    assert isinstance(stored, StoredFrame)
    pd.testing.assert_frame_equal(restored([stored])[0], frame, check_dtype=False)
    numeric = [dtype.kind in "biuf" for dtype in frame.dtypes]
    assert list(restored([stored])[0].dtypes[numeric]) == list(frame.dtypes[numeric])


def test_nullable_numbers_come_back_as_floats():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.0, 2.0]})
    back = restored([storable([frame])[0]])[0]
    np.testing.assert_array_equal(back["a"].to_numpy(), [1.0, np.nan])


def test_polars_frames_come_back():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": ["x", "y"]})
    back = restored(storable([frame]))[0]
    assert isinstance(back, pl.DataFrame)
    assert back.columns == frame.columns
    for name in frame.columns:
        assert back[name].to_list() == frame[name].to_list()


@pytest.mark.parametrize("status", list(Status))
def test_statuses_come_back(status):
    assert storable([status]) == [StoredStatus(status.name)]
    assert restored([StoredStatus(status.name)])[0] is status


def test_the_original_is_not_changed(samples):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MKLClassifier([("k", Linear(), ["a", "b"])], verbose=lambda progress: None).fit(frame, y)
    before = dict(vars(model))
    copy = storable(model)
    assert vars(model) == before
    assert callable(model.verbose) and copy.verbose == 0
    assert isinstance(copy.status_, StoredStatus) and model.status_ is Status.OPTIMAL
    assert copy.dual_coef_ is model.dual_coef_


def test_only_columns_that_kernels_read_are_stored(samples):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd")).assign(secret="name")
    model = MKLClassifier([("k", Linear(), ["d", "a"]), ("l", RBF(), ["b"])]).fit(frame, y)
    copy = storable(model)
    assert copy._expansion.X.names == ["a", "b", "d"]
    assert list(model._expansion.X.columns) == [*"abcd", "secret"]


def test_positions_keep_every_column(samples):
    X, y = samples
    frame = pd.DataFrame(X, columns=[5, 6, 7, 8])
    model = MKLClassifier([("k", Linear(), [0, 2])]).fit(frame, y)
    assert len(storable(model)._expansion.X.names) == 4


def test_what_is_shared_stays_shared(samples):
    X, y = samples
    K = X @ X.T
    model = MKLClassifier([("k", Precomputed(K))]).fit(np.arange(40), y)
    copy = storable(model)
    assert copy._expansion.prepared.named[0].kernel is copy.kernels[0][1]
