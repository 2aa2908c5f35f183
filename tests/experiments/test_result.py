"""Means, errors and differences against numpy; what a missing value does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelweave.experiments import Cell, Settings
from kernelweave.experiments.result import summarise
from kernelweave.experiments.splits import Outcome


def test_statistics():
    values = (1.0, 2.5, 4.0, 4.5)
    cell = Cell("t", "r", "c", values, printed=2.0, printed_splits=30)
    assert cell.mean == pytest.approx(np.mean(values))
    assert cell.standard_error == pytest.approx(np.std(values, ddof=1) / 2)
    assert cell.difference == pytest.approx(1.0)
    assert cell.difference_error == pytest.approx(np.std(values, ddof=1) * math.sqrt(1 / 4 + 1 / 30))
    assert cell.deviation == pytest.approx(1.0 / cell.difference_error)


def test_the_error_of_a_difference_is_the_spread_of_such_differences():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(size=(2000, 8)), rng.normal(size=(2000, 5)).mean(axis=1)
    cells = [
        Cell("t", "r", "c", tuple(row), printed=mean, printed_splits=5) for row, mean in zip(ours, theirs, strict=True)
    ]
    assert np.std([cell.difference for cell in cells]) == pytest.approx(
        math.sqrt(np.mean([cell.difference_error**2 for cell in cells])), rel=0.05
    )


@pytest.mark.parametrize(("printed", "resolution"), [("0.40", 0.01), ("3", 1.0), ("1.18e7", 1e5), (0.4, 0.0)])
def test_rounding_of_the_printed_value(tiny, printed, resolution):
    key = ("t", "r", "c")
    outcomes = [Outcome("first", split, {key: 0.5}) for split in range(2)]
    (cell,) = summarise(tiny(printed={key: printed}), Settings(), 2, outcomes).cells
    assert (cell.printed, cell.resolution) == (float(printed), pytest.approx(resolution))
    assert cell.difference_error == pytest.approx(resolution / math.sqrt(12))


def test_given_splits_have_no_error_of_their_own():
    cell = Cell("t", "r", "c", (1.0, 3.0), printed=1.0)
    assert (cell.difference_error, cell.standard_error) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("values", [(), (2.0,), (2.0, 2.0), (2.0, 2.0 + 4e-16)])
def test_no_ratio_without_a_spread(values):
    cell = Cell("t", "r", "c", values, printed=1.0, printed_splits=30)
    assert cell.deviation is None
    assert cell.mean == (2.0 if values else None)


def test_missing_values_are_counted_and_left_out(tiny):
    key = ("t", "r", "c")
    outcomes = [Outcome("first", split, {key: value}) for split, value in enumerate((1.0, math.nan, math.inf, 3.0))]
    result = summarise(tiny(printed={key: 2.0}), Settings(), 4, outcomes)
    assert [(cell.values, cell.missing, cell.mean) for cell in result.cells] == [((1.0, 3.0), 2, 2.0)]


def test_conclusions_see_the_cells(tiny):
    experiment = tiny(conclude=lambda cells: [f"{len(cells)} cells"], printed={})
    result = summarise(experiment, Settings(), 1, [Outcome("first", 0, {("t", "r", "c"): 1.0})])
    assert result.notes == ("A remark.", "1 cells")
