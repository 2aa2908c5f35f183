"""A tiny experiment whose right answer is known."""

from __future__ import annotations

import math
import warnings

import pytest

from kernelweave.experiments import Experiment


def tiny_experiment(**changes):
    """Two parts; split k measures k + 1 in one cell, and nothing on split 1 in another."""

    def run(part, split, settings):
        if part == "second" and split == 2:
            warnings.warn("stopped short, gap 0.5", UserWarning, stacklevel=1)
        return {
            (part, "size", "ours"): float(split + 1 + 10 * settings.seed),
            (part, "margin", "ours"): math.nan if split == 1 else 2.0,
        }

    given = {
        "name": "tiny", "title": "Tiny", "source": "nobody 1999, Table 0", "protocol": "Count.",
        "run": run, "n_splits": 3, "parts": ("first", "second"),
        "printed": {("first", "size", "ours"): 1.5, ("first", "lost", "ours"): 4.0},
        "printed_splits": 12, "notes": ("A remark.",),
    }  # fmt: skip
    return Experiment(**{**given, **changes})


@pytest.fixture
def tiny():
    """``tiny(revision=2)`` changes a field."""
    return tiny_experiment
