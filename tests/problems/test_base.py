"""Candidates and certificates."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from kernelweave.problems.base import Candidate, Certificate

INF = float("inf")


@pytest.mark.parametrize(
    ("primal", "dual", "gap", "relative"),
    [
        (2.0, 1.5, 0.5, 0.25),
        (-2.0, -3.0, 1.0, 0.5),
        (2.0, 2.0, 0.0, 0.0),
        (INF, 1.0, INF, INF),
        (1.0, -INF, INF, INF),
        (INF, INF, INF, INF),  # an unbounded dual and no primal: nothing is proved about a gap
        (INF, -INF, INF, INF),
        (math.nan, 1.0, INF, INF),
        (1.0, math.nan, INF, INF),
        (0.0, 0.0, 0.0, 0.0),
    ],
)
def test_gaps(primal, dual, gap, relative):
    certificate = Certificate(primal, dual)
    assert (certificate.gap, certificate.relative_gap) == (gap, relative)


def test_a_gap_at_value_zero_is_huge_not_an_error():
    assert Certificate(0.0, -1e-3).relative_gap > 1e300


def test_best_of_joins_the_better_bounds():
    one, two = Certificate(3.0, 1.0, 1e-9), Certificate(4.0, 2.0, 1e-3)
    assert one.best_of(two) == two.best_of(one) == Certificate(3.0, 2.0, 1e-9)
    nothing = Certificate(INF, -INF, INF)
    assert nothing.best_of(one) == one


def test_records_are_frozen_and_empty_by_default():
    candidate = Candidate()
    assert candidate.gap == INF and candidate.weights is None and candidate.ray is None
    with pytest.raises(FrozenInstanceError):
        candidate.weights = np.ones(2)
    with pytest.raises(FrozenInstanceError):
        Certificate(1.0, 0.0).primal = 0.0
    assert Candidate().extras is not Candidate().extras


@pytest.mark.parametrize("broken", [math.nan, INF, -INF])
def test_what_overflowed_bounds_nothing(broken):
    assert Certificate.sound(broken, 1.0, 0.0) == Certificate(INF, 1.0, 0.0)
    assert Certificate.sound(2.0, broken, 0.0) == Certificate(2.0, -INF, 0.0)
    assert Certificate.sound(2.0, 1.0, math.nan) == Certificate(2.0, 1.0, INF)
    assert Certificate.sound(2.0, 1.0, 0.5) == Certificate(2.0, 1.0, 0.5)
