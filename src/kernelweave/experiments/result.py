"""From the measurements on splits to a table beside the printed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from kernelweave.experiments.experiment import Experiment, Key, Settings
from kernelweave.experiments.splits import Outcome

__all__ = ["Cell", "Result", "summarise"]

_ROUNDING = 1e-10


@dataclass(frozen=True)
class Cell:
    """One number of a table.

    Parameters
    ----------
    table, row, column : str
        Where it stands.
    values : tuple of float
        Ours on each split that has one.
    missing : int
        Number of splits that have none.
    printed : float or None
        The paper's value.
    printed_splits : int or None
        Over how many splits the printed value is a mean; see `Experiment`.
    resolution : float
        Size of the last printed digit; 0 where it is not known.
    """

    table: str
    row: str
    column: str
    values: tuple[float, ...]
    missing: int = 0
    printed: float | None = None
    printed_splits: int | None = None
    resolution: float = 0.0

    @property
    def key(self) -> Key:
        """Table, row, column."""
        return self.table, self.row, self.column

    @property
    def mean(self) -> float | None:
        """Ours: mean over the splits."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over the splits; None for fewer than two."""
        if self.mean is None or len(self.values) < 2:
            return None
        spread = math.sqrt(math.fsum((value - self.mean) ** 2 for value in self.values) / (len(self.values) - 1))
        # Sums that are the same by construction differ by rounding.
        return spread if spread > _ROUNDING * abs(self.mean) else 0.0

    @property
    def standard_error(self) -> float | None:
        """Standard error of our mean."""
        return None if self.spread is None else self.spread / math.sqrt(len(self.values))

    @property
    def difference(self) -> float | None:
        """Ours minus printed."""
        return None if self.mean is None or self.printed is None else self.mean - self.printed

    @property
    def difference_error(self) -> float | None:
        """Standard error of the difference.

        The printed mean varies as a mean over as many of our splits would, and was rounded.
        """
        if self.difference is None or self.spread is None:
            return None
        splits = 1 / len(self.values) + (1 / self.printed_splits if self.printed_splits else 0.0)
        return math.sqrt(self.spread**2 * splits + self.resolution**2 / 12)

    @property
    def deviation(self) -> float | None:
        """Difference divided by its standard error; None where that is zero or unknown."""
        if self.difference is None or not self.difference_error:
            return None
        return self.difference / self.difference_error


@dataclass(frozen=True)
class Result:
    """What an experiment gave.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    settings : Settings
        How.
    n_splits : int
        Splits of each part.
    cells : tuple of Cell
        The tables, in the order in which the first split filled them.
    notes : tuple of str
        The experiment's notes, what it concludes from the figures, and the warnings.
    """

    experiment: Experiment
    settings: Settings
    n_splits: int
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def summarise(experiment: Experiment, settings: Settings, n_splits: int, outcomes: Sequence[Outcome]) -> Result:
    """Gather the splits.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    settings : Settings
        How.
    n_splits : int
        Splits of each part.
    outcomes : sequence of Outcome
        In the order of parts and splits.

    Returns
    -------
    Result
        Printed values that nothing was measured for have a cell without values.
    """
    found: dict[Key, list[float]] = {}
    for outcome in outcomes:
        for key, value in outcome.values.items():
            found.setdefault(key, []).append(value)
    for key in experiment.printed:
        found.setdefault(key, [])
    cells = []
    for key, values in found.items():
        kept = tuple(value for value in values if math.isfinite(value))
        printed, resolution = _read(experiment.printed.get(key))
        cells.append(Cell(*key, kept, len(values) - len(kept), printed, experiment.printed_splits, resolution))
    notes = [*experiment.notes, *(experiment.conclude(cells) if experiment.conclude else ())]
    warned = [f"{outcome.part}, split {outcome.split}: {text}" for outcome in outcomes for text in outcome.warnings]
    if warned:
        notes.append(f"{len(warned)} warnings, the first: {warned[0]}")
    return Result(experiment, settings, n_splits, tuple(cells), tuple(notes))


def _read(printed: float | str | None) -> tuple[float | None, float]:
    """A printed value and the size of its last digit."""
    if not isinstance(printed, str):
        return printed, 0.0
    return float(printed), 10.0 ** int(Decimal(printed).as_tuple().exponent)
