"""Shared parameters: what passes, what is refused and how; margins as boxes and ridges."""

import numpy as np
import pytest

from kernelweave.estimators.limits import box_and_ridge, check_choice, check_limits


def test_choices_compare_by_value_or_identity():
    check_choice("a", "x", ("x", None))
    check_choice("a", None, ("x", None))
    for value in ("y", 1, np.array(["x", "x"])):
        with pytest.raises(ValueError, match=r"a must be one of \('x', None\)"):
            check_choice("a", value, ("x", None))


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ((0.0, None, None), "tol"),
        (("1", None, None), "tol"),
        ((1e-3, 0, None), "max_iter"),
        ((1e-3, 1.5, None), "max_iter"),
        ((1e-3, None, -1.0), "time_limit"),
    ],
)
def test_limits_that_make_no_sense(limits, name):
    check_limits(1e-3, 5, 0.0)
    with pytest.raises(ValueError, match=f"{name} must be"):
        check_limits(*limits)


def test_margins():
    s = np.array([1.0, 2.0])
    expected = {"l1": ([3.0, 6.0], [0, 0]), "l2": ([np.inf] * 2, [1 / 3, 1 / 6]), "hard": ([np.inf] * 2, [0, 0])}
    for margin, parts in expected.items():
        for got, wanted in zip(box_and_ridge(margin, 3.0, s), parts, strict=True):
            np.testing.assert_allclose(got, wanted)
