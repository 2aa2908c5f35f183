"""Data sets whose samples are described in several ways: one view, one or several kernels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernelweave.datasets import openml
from kernelweave.datasets.entry import Entry, IntArray, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, reading
from kernelweave.exceptions import DatasetDamagedError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = [
    "ENTRIES",
    "join_views",
    "load_mfeat",
    "load_prokaryotic",
    "load_protein_fold",
    "load_tcga_breast",
    "load_three_sources",
]

_MFEAT = Entry(
    name="mfeat",
    title="handwritten digits from Dutch maps in six views: Fourier coefficients, profile correlations, "
    "Karhunen-Loeve coefficients, pixel averages, Zernike moments, morphology",
    loader="load_mfeat()",
    file="uci_mfeat.npz",
    sha256="3b8709b94f8f7639820007fb2fa260c6b4afcdfe9568a0e29fe4ee5379d8dd48",
    samples=2000,
    features=(76, 216, 64, 240, 47, 6),
    classes={str(digit): 200 for digit in range(10)},
    source="OpenML 14, 12, 16, 20, 22, 18 (mfeat-*); UCI, Multiple Features",
    terms="UCI Machine Learning Repository, CC BY 4.0 as far as known; check at the source",
)
# File keys, names for people, and numbers at OpenML.
_MFEAT_VIEWS = {
    "fou": ("fourier", 14),
    "fac": ("factors", 12),
    "kar": ("karhunen", 16),
    "pix": ("pixel", 20),
    "zer": ("zernike", 22),
    "mor": ("morphological", 18),
}
_TCGA = Entry(
    name="tcga_breast",
    title="subtypes of breast cancer from gene expression, micro-RNA and (training patients only) protein levels",
    loader="load_tcga_breast()",
    file="tcga_breast_3omics.npz",
    sha256="13b5572ce21b79f14448a1399b35c6e3e2eae6aefa114aec6d8a64112368f8b3",
    samples=150,
    features=(200, 184, 142),
    classes={"Basal": 45, "Her2": 30, "LumA": 75},
    source="github mixOmicsTeam/mixOmics at d732983, data/breast.TCGA.rda (70 more patients for testing)",
    terms="open TCGA data; the package it comes in is GPL >= 2",
)
_PROKARYOTIC = Entry(
    name="prokaryotic",
    title="phyla of 551 prokaryotes from texts about them, proteome composition and gene repertoire",
    loader="load_prokaryotic()",
    file="mv_prokaryotic_3views.npz",
    sha256="0100346d63addefdd6b95681fd657e625aaa1b39d6cee8a4c37c95df7d0acb07",
    samples=551,
    features=(438, 3, 393),
    classes={"1": 313, "2": 91, "3": 35, "4": 112},
    source="github YilinZhang107/Multi-view-Datasets at 2ebc3a4, prokaryotic.mat (Brbic et al. 2016)",
    terms="none stated by the source",
)
_THREE_SOURCES = Entry(
    name="three_sources",
    title="topics of 169 news stories that BBC, Guardian and Reuters all covered, word counts",
    loader="load_three_sources()",
    file="mv_3sources.npz",
    sha256="bdd0c9419e68bff77e8175a0da06a234174de25bec8ec895e3eb94e2a4877cf5",
    samples=169,
    features=(3560, 3631, 3068),
    classes={"1": 56, "2": 21, "3": 11, "4": 18, "5": 51, "6": 12},
    source="github YilinZhang107/Multi-view-Datasets at 2ebc3a4, 3sources.mat",
    terms="for research, not commercial, as far as known; check at the source",
)
_FOLD_SIZES = (
    *(19, 16, 32, 15, 18, 15, 74, 21, 29, 13, 16, 32, 12, 13, 16, 77),
    *(23, 24, 40, 22, 17, 22, 18, 15, 15, 40, 40),
)
_PROTEIN_FOLD = Entry(
    name="protein_fold",
    title="27 folds of proteins in 12 feature spaces, each reduced to 27 dimensions by the source (apparently "
    "principal components), which names neither views nor folds",
    loader="load_protein_fold()",
    file="protein_fold_12views_pca27.npz",
    sha256="fe29a5cd593e8408dccc80ca933e29da2adae9cf1ccb3d3bbb31f505542e181a",
    samples=694,
    features=(27,) * 12,
    classes={str(fold): size for fold, size in enumerate(_FOLD_SIZES, 1)},
    source="github YuFeng23/Incremental-Nystrom-based-Multiple-Kernel-Clustering at 973ec2a, dataset/proteinFold.mat",
    terms="none stated by the source; data of Ding and Dubchak 2001, Damoulas and Girolami 2008",
)
ENTRIES = (_MFEAT, _TCGA, _PROKARYOTIC, _THREE_SOURCES, _PROTEIN_FOLD)


def join_views(views: Mapping[str, npt.ArrayLike]) -> dict[str, Any]:
    """Lay views side by side.

    Parameters
    ----------
    views : dict of str to array-like of shape (n_samples, n_features)
        The views by name.

    Returns
    -------
    dict
        ``data`` (n_samples, sum of n_features) float64; ``columns``, the slice of each view in it by
        name; ``views``, the same numbers as a list of arrays (windows on ``data``); ``view_names``.

    Examples
    --------
    >>> joined = join_views({"shape": [[1.0, 2.0]], "colour": [[3.0]]})
    >>> joined["columns"]
    {'shape': slice(0, 2, None), 'colour': slice(2, 3, None)}
    """
    arrays = [np.asarray(view, dtype=np.float64) for view in views.values()]
    ends = np.cumsum([array.shape[1] for array in arrays]).tolist()
    data = np.concatenate(arrays, axis=1)
    columns = {name: slice(end - a.shape[1], end) for name, a, end in zip(views, arrays, ends, strict=True)}
    return {
        "data": data,
        "columns": columns,
        "views": [data[:, where] for where in columns.values()],
        "view_names": list(views),
    }


def _read(
    entry: Entry, path: Path, keys: Mapping[str, str], target: str, first: int
) -> tuple[dict[str, Any], IntArray]:
    """Joined views and class codes of a file; ``keys`` maps names of arrays to names of views."""
    arrays = read_arrays(path)
    with reading(path):
        joined = join_views({name: arrays[key] for key, name in keys.items()})
        codes = arrays[target].astype(np.int64) - first
    check(entry, [view.shape for view in joined["views"]], codes)
    return joined, codes


def _build_mfeat(path: Path) -> None:
    """Six tables of OpenML, with the classes "1" to "10" for the digits 0 to 9."""
    views: dict[str, Any] = {}
    labels: list[str] = []
    for key, (_, number) in _MFEAT_VIEWS.items():
        views[key], found = openml.fetch(_MFEAT, number)
        if labels and found != labels:
            raise DatasetDamagedError(f"OpenML's table {number} of 'mfeat' has its rows in another order.")
        labels = found
    if not set(labels) <= {str(number) for number in range(1, 11)}:
        raise DatasetDamagedError("OpenML's tables of 'mfeat' have other classes than '1' to '10'.")
    with open(path, "wb") as file:
        np.savez_compressed(file, **views, y=np.array(labels, dtype=np.int64) - 1)
    _read(_MFEAT, path, {key: key for key in _MFEAT_VIEWS}, "y", 0)  # what fails the checks is not kept


def load_mfeat(*, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True) -> Bunch:
    """Handwritten digits in six views (UCI, Multiple Features).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_mfeat.npz`` (arrays ``fou, fac, kar, pix, zer, mor`` and ``y``,
        the digits) or is to hold it; see `kernelweave.datasets.data_folder` for the default.
    download_if_missing : bool, default=True
        Whether to fetch the views from OpenML when the file is not there.

    Returns
    -------
    Bunch
        ``views``, six arrays (2000, 76), (2000, 216), (2000, 64), (2000, 240), (2000, 47) and
        (2000, 6), float64, named by ``view_names``; ``data`` (2000, 649), the same side by side, with
        ``columns`` (name to slice); ``target`` (2000,) int64, the digits; ``target_names``; ``DESCR``.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there and cannot be had.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_mfeat
    >>> [view.shape[1] for view in load_mfeat().views]  # doctest: +SKIP
    [76, 216, 64, 240, 47, 6]
    """
    path = locate(_MFEAT, data_home, download_if_missing=download_if_missing, build=_build_mfeat)
    joined, target = _read(_MFEAT, path, {key: name for key, (name, _) in _MFEAT_VIEWS.items()}, "y", 0)
    return assemble(_MFEAT, **joined, target=target)


def load_tcga_breast(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Subtypes of breast cancer from three kinds of measurement (TCGA).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``tcga_breast_3omics.npz``: arrays ``mrna_train, mirna_train,
        protein_train, mrna_test, mirna_test``, class codes ``y_train, y_test`` (0 Basal, 1 Her2,
        2 LumA). There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        As in `load_mfeat` for the 150 training patients: views ``mrna`` (200), ``mirna`` (184),
        ``protein`` (142). ``data_test`` (70, 384) and ``target_test`` are further patients, of whom
        the first two views are known.

    Examples
    --------
    >>> from kernelweave.datasets import load_tcga_breast
    >>> load_tcga_breast().view_names  # doctest: +SKIP
    ['mrna', 'mirna', 'protein']
    """
    path = locate(_TCGA, data_home)
    names = {"mrna_train": "mrna", "mirna_train": "mirna", "protein_train": "protein"}
    joined, target = _read(_TCGA, path, names, "y_train", 0)
    arrays = read_arrays(path)
    with reading(path):
        data_test = join_views({key: arrays[key] for key in ("mrna_test", "mirna_test")})["data"]
        target_test = arrays["y_test"].astype(np.int64)
    return assemble(_TCGA, **joined, target=target, data_test=data_test, target_test=target_test)


def load_prokaryotic(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Phyla of prokaryotes in three views (Brbic et al. 2016).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``mv_prokaryotic_3views.npz``: arrays ``text, proteome_comp, gene_repert``
        and ``y`` (1 to 4). There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        As in `load_mfeat`, 551 samples; class codes 0 to 3 for the classes "1" to "4".

    Examples
    --------
    >>> from kernelweave.datasets import load_prokaryotic
    >>> load_prokaryotic().data.shape  # doctest: +SKIP
    (551, 834)
    """
    keys = {"text": "text", "proteome_comp": "proteome", "gene_repert": "genes"}
    joined, target = _read(_PROKARYOTIC, locate(_PROKARYOTIC, data_home), keys, "y", 1)
    return assemble(_PROKARYOTIC, **joined, target=target)


def load_three_sources(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """News stories as three newspapers told them, word counts.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``mv_3sources.npz``: arrays ``bbc, guardian, reuters`` and ``y`` (1 to 6).
        There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        As in `load_mfeat`, 169 samples; class codes 0 to 5 for the topics "1" to "6".

    Examples
    --------
    >>> from kernelweave.datasets import load_three_sources
    >>> load_three_sources().data.shape  # doctest: +SKIP
    (169, 10259)
    """
    keys = {name: name for name in ("bbc", "guardian", "reuters")}
    joined, target = _read(_THREE_SOURCES, locate(_THREE_SOURCES, data_home), keys, "y", 1)
    return assemble(_THREE_SOURCES, **joined, target=target)


def load_protein_fold(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Folds of proteins in twelve feature spaces (Ding and Dubchak 2001, Damoulas and Girolami 2008).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``protein_fold_12views_pca27.npz``: arrays ``V`` (12, 694, 27) and ``y``
        (1 to 27). There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        As in `load_mfeat`, 694 samples, views "view1" to "view12"; class codes 0 to 26 for the
        classes "1" to "27". The views are not the original features: see ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_protein_fold
    >>> load_protein_fold().data.shape  # doctest: +SKIP
    (694, 324)
    """
    path = locate(_PROTEIN_FOLD, data_home)
    arrays = read_arrays(path)
    with reading(path):
        joined = join_views({f"view{number}": view for number, view in enumerate(arrays["V"], 1)})
        target = arrays["y"].astype(np.int64) - 1
    check(_PROTEIN_FOLD, [view.shape for view in joined["views"]], target)
    return assemble(_PROTEIN_FOLD, **joined, target=target)
