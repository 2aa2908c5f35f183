"""Benchmark sets with fixed splits from Raetsch's IDA repository, realisations 1 to 10."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, reading

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_ida", "load_titanic"]

_SOURCE = "github fernando2393/Relevance-Vector-Machine at 4692830, Classification/datasets"
_TERMS = "none stated by the source; given out for research as far as known"
_SHARED_FILE = "ida_five_sets_10splits.npz"
_SHARED_SHA256 = "fd508b8abdd0d42b30e539a196558e68eca9ae18cab641bd7b4aa396c66c80fc"

_TITANIC = Entry(
    name="titanic",
    title="survival on the Titanic from class, age and sex, standardised; 14 distinct rows ([K09])",
    loader="load_titanic()",
    file="ida_titanic.npz",
    sha256="38a10b8701d24ae10a4d7a69b5a18b05e91e94bcb1fe49a1143a275945aad736",
    samples=2201,
    features=(3,),
    classes={"-1": 1490, "+1": 711},
    source=f"{_SOURCE}/titanic",
    terms=_TERMS,
)


def _shared(name: str, title: str, features: int, negative: int, positive: int) -> Entry:
    return Entry(
        name=name,
        title=title,
        loader=f'load_ida("{name}")',
        file=_SHARED_FILE,
        sha256=_SHARED_SHA256,
        samples=negative + positive,
        features=(features,),
        classes={"-1": negative, "+1": positive},
        source=f"{_SOURCE}/{name}",
        terms=_TERMS,
    )


_SETS = {
    entry.name: entry
    for entry in (
        _shared("banana", "two interleaved shapes in the plane", 2, 2924, 2376),
        _shared("breast_cancer", "recurrence of breast cancer (Ljubljana)", 9, 196, 81),
        _shared("german", "credit risk (Statlog)", 20, 700, 300),
        _shared("image", "image segments in two groups (Statlog)", 18, 990, 1320),
        _shared("waveform", "two groups of noisy wave forms (Breiman)", 21, 3353, 1647),
    )
}
ENTRIES = (_TITANIC, *_SETS.values())


def load_titanic(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Titanic with the splits of the IDA repository ([K09] uses the first).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``ida_titanic.npz``: ``X`` (2201, 3), ``y`` in {-1, +1} and the row numbers
        ``train`` (10, 150), ``test`` (10, 2051). There is no download; the error says where the data
        are public.

    Returns
    -------
    Bunch
        ``data`` (2201, 3) float64; ``target`` (2201,) int64, 0 for -1 and 1 for +1; ``train``
        (10, 150) and ``test`` (10, 2051) int64, row numbers of each realisation; ``feature_names``;
        ``target_names``; ``DESCR``.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_titanic
    >>> load_titanic().train.shape  # doctest: +SKIP
    (10, 150)
    """
    return _load(_TITANIC, "", ["class", "age", "sex"], data_home)


def load_ida(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """One of five further sets of the IDA repository.

    Parameters
    ----------
    name : {"banana", "breast_cancer", "german", "image", "waveform"}
        Which one.
    data_home : path-like, optional
        Folder that holds ``ida_five_sets_10splits.npz``: ``NAME_X``, ``NAME_y``, ``NAME_train``,
        ``NAME_test`` for each set. There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        As in `load_titanic`.

    Raises
    ------
    ValueError
        When there is no set of that name.

    Examples
    --------
    >>> from kernelweave.datasets import load_ida
    >>> load_ida("banana").data.shape  # doctest: +SKIP
    (5300, 2)
    """
    if name not in _SETS:
        raise ValueError(f"There is no IDA set '{name}'; choose one of {', '.join(_SETS)} (or use load_titanic).")
    entry = _SETS[name]
    return _load(entry, f"{name}_", [f"x{i}" for i in range(1, entry.features[0] + 1)], data_home)


def _load(entry: Entry, prefix: str, names: list[str], data_home: str | os.PathLike[str] | None) -> Bunch:
    path = locate(entry, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data = arrays[f"{prefix}X"].astype(np.float64)
        target = (arrays[f"{prefix}y"] > 0).astype(np.int64)
        train, test = (arrays[f"{prefix}{part}"].astype(np.int64) for part in ("train", "test"))
    check(entry, [data.shape], target)
    return assemble(entry, data=data, target=target, train=train, test=test, feature_names=names)
