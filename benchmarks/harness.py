"""Rows of a benchmark, and how a time is taken.

One thread, processor time, the smallest of several runs: a busy machine slows a run down but
never speeds it up. The unit is one fit of scikit-learn's SVC on the average kernel, taken in the same process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Row", "cpu_seconds", "print_rows", "svc_unit"]


@dataclass(frozen=True)
class Row:
    """One figure.

    Parameters
    ----------
    name : str
        What was measured.
    ours : float
        Our value.
    goal : float
        At most this.
    unit : str
        Unit of all values.
    baseline : str
        The baseline's value, and which baseline ("quoted" where it was not run here).
    note : str
        Anything else, such as the certified gap.
    """

    name: str
    ours: float
    goal: float
    unit: str
    baseline: str = ""
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.ours <= self.goal


def cpu_seconds(function: Callable[[], Any], repeats: int = 5, warm_up: int = 1) -> tuple[float, Any]:
    """Smallest processor time of several calls, and the last result."""
    result = None
    for _ in range(warm_up):
        result = function()
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        best = min(best, time.process_time() - began)
    return best, result


def svc_unit(average: np.ndarray, y: np.ndarray, repeats: int = 5) -> float:
    """Seconds of one ``SVC(kernel="precomputed", C=1, tol=1e-3).fit``."""
    from sklearn.svm import SVC

    return cpu_seconds(lambda: SVC(kernel="precomputed", C=1.0, tol=1e-3).fit(average, y), repeats)[0]


def print_rows(title: str, rows: list[Row]) -> None:
    """A table in plain text, goals missed marked."""
    print(f"\n{title}")
    width = max(len(row.name) for row in rows)
    for row in rows:
        mark = "ok  " if row.met else "MISS"
        line = f"  {mark} {row.name:<{width}}  {row.ours:8.3g} {row.unit} (goal {row.goal:g})"
        print(line + (f"  baseline: {row.baseline}" if row.baseline else "") + (f"  [{row.note}]" if row.note else ""))
