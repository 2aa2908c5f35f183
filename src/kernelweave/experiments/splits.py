"""Finished splits on disk, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelweave.experiments.experiment import Experiment, Measurements, Settings

__all__ = ["Outcome", "SplitStore", "write_whole"]


@dataclass(frozen=True)
class Outcome:
    """What one split of one part gave.

    Parameters
    ----------
    part : str
        Part of the experiment.
    split : int
        Number of the split, from 0.
    values : mapping of (str, str, str) to float
        Measurements; nan where there is none.
    warnings : sequence of str
        What was warned of on the way.
    """

    part: str
    split: int
    values: Measurements
    warnings: Sequence[str] = ()


class SplitStore:
    """One file a finished split, in a folder; damaged files and those of other settings count as absent.

    Parameters
    ----------
    folder : Path
        Made when the first split is saved.
    experiment : Experiment
        Its name and revision have to fit.
    settings : Settings
        Its seed has to fit.
    """

    def __init__(self, folder: Path, experiment: Experiment, settings: Settings) -> None:
        self.folder = folder
        self._stamp = {"experiment": experiment.name, "revision": experiment.revision, "seed": settings.seed}

    def load(self, part: str, split: int) -> Outcome | None:
        """The saved outcome, or None."""
        try:
            saved = json.loads(self._path(part, split).read_text(encoding="utf-8"))
            if any(saved[key] != value for key, value in self._stamp.items()):
                return None
            values = {
                (str(table), str(row), str(column)): math.nan if value is None else float(value)
                for table, row, column, value in saved["values"]
            }
            return Outcome(part, split, values, tuple(map(str, saved["warnings"])))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, outcome: Outcome) -> None:
        """Write an outcome, whole or not at all."""
        path = self._path(outcome.part, outcome.split)
        values = [[*key, value if math.isfinite(value) else None] for key, value in outcome.values.items()]
        saved: dict[str, Any] = {**self._stamp, "values": values, "warnings": list(outcome.warnings)}
        write_whole(path, json.dumps(saved, allow_nan=False))

    def _path(self, part: str, split: int) -> Path:
        return self.folder / f"{part}-{split:03d}.json"


def write_whole(path: Path, text: str) -> None:
    """Write a file under a passing name and rename it when it is complete.

    Parameters
    ----------
    path : Path
        The final name; its folder is made if need be.
    text : str
        The content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        passing.write_text(text, encoding="utf-8")
        os.replace(passing, path)
    finally:
        passing.unlink(missing_ok=True)
