"""Similarities that are given as a matrix, and are no inner products."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, reading

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_aural_sonar"]

_AURAL_SONAR = Entry(
    name="aural_sonar",
    title="how alike two sonar echoes sound to people, 0 to 1; 38 of the 100 eigenvalues are negative",
    loader="load_aural_sonar()",
    file="sim_aural_sonar.npz",
    sha256="e8fbd6272ccfe16694b500a7018e1425cd4d6202ba4dd37fd770df5a067f0537",
    samples=100,
    features=(100,),
    classes={"1": 50, "2": 50},
    source="github MaximilianMuench/MultiClassASKFSVM at 033c9c9, data/aural_sonar.mat (Chen et al. 2009)",
    terms="none stated by the source",
)
ENTRIES = (_AURAL_SONAR,)


def load_aural_sonar(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Human judgements of the likeness of sonar echoes (Philips et al. 2006), an indefinite kernel.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``sim_aural_sonar.npz``: ``S`` (100, 100) and ``y`` (1 or 2). There is no
        download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (100, 100) float64, symmetric, diagonal 1: a precomputed kernel; ``target`` (100,)
        int64, codes 0 and 1 for the classes "1" and "2"; ``target_names``; ``DESCR``.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_aural_sonar
    >>> load_aural_sonar().data.shape  # doctest: +SKIP
    (100, 100)
    """
    path = locate(_AURAL_SONAR, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data, target = arrays["S"].astype(np.float64), arrays["y"].astype(np.int64) - 1
    check(_AURAL_SONAR, [data.shape], target)
    return assemble(_AURAL_SONAR, data=data, target=target)
