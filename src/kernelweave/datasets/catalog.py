"""What the loaders know."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kernelweave.datasets import counts, genes, ida, reuters, similarities, structured, uci, views
from kernelweave.datasets.entry import Entry
from kernelweave.datasets.storage import data_folder

__all__ = ["ENTRIES", "Listing", "available"]

# A new module of loaders is added here; nothing else finds it.
ENTRIES: tuple[Entry, ...] = (
    *uci.ENTRIES,
    *ida.ENTRIES,
    *reuters.ENTRIES,
    *counts.ENTRIES,
    *genes.ENTRIES,
    *views.ENTRIES,
    *similarities.ENTRIES,
    *structured.ENTRIES,
)


@dataclass(frozen=True)
class Listing:
    """One line of the list of data sets.

    Parameters
    ----------
    name : str
        Short name.
    loader : str
        The call that loads it, such as ``load_sonar()``.
    source : str
        Where it is public.
    samples : int
        Number of samples.
    features : tuple of int
        Number of features of each view; one number for a plain table, empty for texts.
    cached : bool
        Whether its file is in the data folder.
    """

    name: str
    loader: str
    source: str
    samples: int
    features: tuple[int, ...]
    cached: bool


def available(data_home: str | os.PathLike[str] | None = None) -> list[Listing]:
    """List the data sets that the loaders know, and which of them are at hand.

    Parameters
    ----------
    data_home : path-like, optional
        Folder to look in; see `data_folder` for the default.

    Returns
    -------
    list of Listing
        One entry a data set, in the order of the papers. Nothing is downloaded or read.

    Examples
    --------
    >>> from kernelweave.datasets import available
    >>> listing = available()[0]
    >>> listing.name, listing.samples, listing.features
    ('sonar', 208, (60,))
    """
    folder = data_folder(data_home)
    return [
        Listing(entry.name, entry.loader, entry.source, entry.samples, entry.features, (folder / entry.file).is_file())
        for entry in ENTRIES
    ]
