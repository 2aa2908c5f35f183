"""Gene expression on the scale of the scanner, where a logarithm is the custom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, reading

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_colon", "load_leukemia"]

_COLON = Entry(
    name="colon",
    title="colon tissue, normal and tumour, raw intensities of 2000 genes (Alon et al. 1999)",
    loader="load_colon()",
    file="gene_colon_alon.npz",
    sha256="a6c3e84f3bca0d419243f94bd5205ac7fec9b6d95fe269659807474917ebd912",
    samples=62,
    features=(2000,),
    classes={"normal": 22, "tumour": 40},
    source="github cran/plsgenomics at 8c770da (version 1.5-3), data/Colon.rda",
    terms="the package is GPL 2 or later; data of Alon et al. 1999",
)
_LEUKEMIA = Entry(
    name="leukemia",
    title="acute leukemia of two kinds, raw intensities of 7129 probes, some of them negative (Golub et al. 1999)",
    loader="load_leukemia()",
    file="gene_leukemia_golub.npz",
    sha256="fb7097de9f6812dc6f4e5c6637239ad0039ee9bec5904d5ad86cb00fb09d851f",
    samples=72,
    features=(7129,),
    classes={"ALL": 47, "AML": 25},
    source="github oliviaradcliffe/genomic-cancer-classification at 152c093, data/data_set_ALL_AML_*.csv",
    terms="none stated by the source; data of Golub et al. 1999",
)
ENTRIES = (_COLON, _LEUKEMIA)


def load_colon(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Colon tissue, normal and tumour: raw intensities of 2000 genes.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``gene_colon_alon.npz``: ``X`` (62, 2000), ``y`` (1 normal, 2 tumour) and ``gene``, the
        names as UTF-8 bytes joined by line breaks. There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (62, 2000) float64, all positive; ``target`` (62,) int64; ``feature_names`` (not all distinct);
        ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_colon
    >>> load_colon().data.shape  # doctest: +SKIP
    (62, 2000)
    """
    path = locate(_COLON, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data, target = arrays["X"].astype(np.float64), arrays["y"].astype(np.int64) - 1
        names = arrays["gene"].tobytes().decode("utf-8").split("\n")
    check(_COLON, [data.shape], target)
    return assemble(_COLON, data=data, target=target, feature_names=names)


def load_leukemia(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Acute leukemia of two kinds: raw intensities of 7129 probes.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``gene_leukemia_golub.npz``: ``X`` (72, 7129), ``y`` ("ALL", "AML"), ``is_test`` (the 34
        samples of the original test set) and ``accession``, the probes as UTF-8 bytes joined by line breaks. There is
        no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (72, 7129) float64; ``target`` (72,) int64; ``is_test`` (72,) bool; ``feature_names``;
        ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_leukemia
    >>> load_leukemia().data.shape  # doctest: +SKIP
    (72, 7129)
    """
    path = locate(_LEUKEMIA, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data = arrays["X"].astype(np.float64)
        target = (arrays["y"] == "AML").astype(np.int64)
        is_test = arrays["is_test"].astype(bool)
        names = arrays["accession"].tobytes().decode("utf-8").split("\n")
    check(_LEUKEMIA, [data.shape], target)
    return assemble(_LEUKEMIA, data=data, target=target, is_test=is_test, feature_names=names)
