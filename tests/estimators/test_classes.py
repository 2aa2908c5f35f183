"""Labels of any type as signs."""

import numpy as np
import pandas as pd
import pytest

from kernelweave.estimators.classes import encode_classes, one_against_rest


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        ([True, False, True], [False, True], [1, 0, 1]),
        ([3, -1, 7], [-1, 3, 7], [1, 0, 2]),
        ([1.0, 2.0, 1.0], [1.0, 2.0], [0, 1, 0]),
        (pd.Series(["x", "y", "x"], index=[5, 6, 7]), ["x", "y"], [0, 1, 0]),
        (pd.Series(pd.Categorical(["x", "y", "x"])), ["x", "y"], [0, 1, 0]),
        (np.array(["a", "b", "a"], dtype=object), ["a", "b"], [0, 1, 0]),
    ],
    ids=["strings", "bools", "integers", "whole floats", "series", "categorical", "objects"],
)
def test_labels_of_any_type(y, classes, codes):
    found, numbers = encode_classes("Model", y, 3)
    assert found.tolist() == classes and numbers.tolist() == codes and numbers.dtype == np.intp


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "Model requires y to be passed, but the target y is None"),
        ([1, 1, 1], r"y has one class only \(.*1.*\); a classifier needs samples of at least two classes"),
        (["a"] * 3, "one class only"),
        ([1, 2], "inconsistent numbers of samples: X has 3, y has 2"),
        ([0.1, 0.2, 0.7], "Unknown label type"),
        ([0.0, np.nan, 1.0], "NaN"),
        ([0.0, np.inf, 1.0], "infinity"),
        (np.ones((3, 2)), "1d array"),
    ],
)
def test_labels_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        encode_classes("Model", y, 3)


def test_two_classes_are_one_column_and_more_are_one_each():
    assert one_against_rest(np.array([0, 1, 1]), 2).tolist() == [[-1, 1, 1]]
    assert one_against_rest(np.array([0, 2, 1]), 3).tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
