"""What an experiment is: measurements on random splits, and the values that a paper printed for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelweave.experiments.result import Cell

__all__ = ["Experiment", "Key", "Measurements", "Settings"]

# Table, row, column.
Key = tuple[str, str, str]
Measurements = Mapping[Key, float]


@dataclass(frozen=True)
class Settings:
    """What the one who runs an experiment may choose.

    Parameters
    ----------
    data_home : Path or None, default=None
        Folder of the data sets; None for that of `kernelweave.datasets.data_folder`.
    seed : int, default=0
        Of everything random; split k of a seed is the same whatever the number of splits.
    """

    data_home: Path | None = None
    seed: int = 0


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Parameters
    ----------
    name : str
        As typed after ``kernelweave reproduce``.
    title : str
        Heading of its page.
    source : str
        Paper, table or figure.
    protocol : str
        What is done, as Markdown: data, preparation, kernels, settings.
    run : callable
        ``run(part, split, settings)`` does one split of one part and returns a number for each
        (table, row, column); nan where there is none (a hard margin that does not exist). It has
        to depend on its arguments only: splits run in any order and in several processes.
    n_splits : int
        Number of splits unless the user says otherwise.
    parts : tuple of str
        What is run on its own: data sets, usually.
    printed : mapping of (str, str, str) to float or str
        The paper's values; as text ("0.40") they are known to be rounded to their last digit.
    printed_splits : int or None
        Over how many random splits the paper's values are means; they then have a standard error of
        their own, taken to be that of as many of our splits. None for values on a given split.
    notes : tuple of str
        What a reader has to know about the figures.
    conclude : callable or None
        ``conclude(cells)`` gives further notes that depend on the figures.
    revision : int
        To be raised when ``run`` changes what it measures: saved splits of another revision are not used.
    """

    name: str
    title: str
    source: str
    protocol: str
    run: Callable[[str, int, Settings], Measurements]
    n_splits: int
    parts: tuple[str, ...] = ("all",)
    printed: Mapping[Key, float | str] = field(default_factory=dict)
    printed_splits: int | None = None
    notes: tuple[str, ...] = ()
    conclude: Callable[[Sequence[Cell]], Sequence[str]] | None = None
    revision: int = 1
