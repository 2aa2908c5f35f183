"""What is known about a data set, and the checks and the description that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import DatasetDamagedError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["Entry", "FloatArray", "IntArray", "assemble", "check"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Entry:
    """Facts about one data set.

    Parameters
    ----------
    name : str
        Short name.
    title : str
        What the samples and the classes are, in one sentence.
    loader : str
        The call that loads it.
    file : str
        File that holds it in the data folder.
    sha256 : str
        Checksum of that file as a mirror hands it out.
    samples : int
        Number of samples.
    features : tuple of int
        Number of features of each view; one number for a plain table, empty for texts.
    source : str
        Where it is public.
    terms : str
        What is known about the conditions of use.
    classes : dict of str to int
        Number of samples of each class, in the order of the codes; empty where samples carry several labels.
    """

    name: str
    title: str
    loader: str
    file: str
    sha256: str
    samples: int
    features: tuple[int, ...]
    source: str
    terms: str
    classes: Mapping[str, int] = field(default_factory=dict)

    def describe(self) -> str:
        """The text of ``DESCR``."""
        sizes = f"{self.samples} samples"
        if self.features:
            sizes += f", {' + '.join(map(str, self.features))} features"
        if self.classes:
            sizes += "; " + ", ".join(f"{name} {count}" for name, count in self.classes.items())
        return f"{self.name}: {self.title}\n\n{sizes}.\nSource: {self.source}.\nTerms: {self.terms}.\n"


def check(entry: Entry, shapes: Sequence[tuple[int, ...]], target: IntArray) -> None:
    """Compare sizes and class counts with what the data set is known to have.

    Parameters
    ----------
    entry : Entry
        The facts.
    shapes : sequence of tuple of int
        Shape of each view as read.
    target : ndarray of shape (n_samples,), dtype int64
        Class codes as read.

    Raises
    ------
    DatasetDamagedError
        When they differ.
    """
    expected = [(entry.samples, features) for features in entry.features]
    counts = [int(np.count_nonzero(target == code)) for code in range(len(entry.classes))]
    if list(shapes) != expected or len(target) != entry.samples or counts != list(entry.classes.values()):
        raise DatasetDamagedError(
            f"This is not the data set '{entry.name}': shapes {list(shapes)} and class counts {counts}, "
            f"expected {expected} and {list(entry.classes.values())}. "
            f"Delete {entry.file} from the data folder and load again."
        )


def assemble(entry: Entry, **fields: Any) -> Bunch:
    """Join arrays and facts into what a loader returns.

    Parameters
    ----------
    entry : Entry
        The facts.
    **fields : dict
        Arrays and lists by name.

    Returns
    -------
    Bunch
        The fields, ``target_names`` (the classes in the order of their codes) and ``DESCR``.
    """
    from sklearn.utils import Bunch  # slow to import, and not needed to list what there is

    fields.setdefault("target_names", np.array(list(entry.classes)))
    return Bunch(**fields, DESCR=entry.describe())
