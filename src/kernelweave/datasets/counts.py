"""Counts and intensities, on which transforms of single features pay: the real sets of [H07]."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.datasets.storage import locate, read_arrays, reading

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_corel", "load_faces", "load_webkb"]

_WEBKB = Entry(
    name="webkb",
    title="home pages at four universities and others, word counts ([H07])",
    loader="load_webkb()",
    file="webkb_bow.npz",
    sha256="ae8b3a908f583ce9f647fb226c8afe1b8a52cffa8005fa69cedf7bfbb71c435d",
    samples=4199,
    features=(40679,),
    classes={"student": 1641, "faculty": 1124, "course": 930, "project": 504},
    source="github JoshPF/WebKBUniPagePredictor at badf76b, webkb/CATEGORY/UNIVERSITY (the CMU four universities set)",
    terms="none stated by the source; collected by CMU for research as far as known",
)
_COREL = Entry(
    name="corel",
    title="photographs of four animals as RGB histograms of 16 x 16 x 16 bins; each row sums to 9600 ([H07])",
    loader="load_corel()",
    file="corel4_rgb_hist16.npz",
    sha256="48c64b9f167abdc217a338e8ab55a34e193a4d81fb0d595b797e1ac969296110",
    samples=400,
    features=(4096,),
    classes={"eagle": 100, "elephant": 100, "horse": 100, "tiger": 100},
    source="github satishrdd/Fast_image_retrieval at 20834a6, CorelDB/wl_{eagle,elephant,horse,tiger}/*.jpg",
    terms="the photographs are Corel's; only histograms are stored",
)
_FACES = Entry(
    name="faces",
    title="grey faces of 21 x 12 pixels, men and women; stands in for the FERET faces of [H07], which are not public",
    loader="load_faces()",
    file="faces_gender_lfw_21x12.npz",
    sha256="19f3291b56dc64dab38ce3517005651aab7f8cd624807644bacc163bd313111a",
    samples=1755,
    features=(252,),
    classes={"male": 1044, "female": 711},
    source="github laz08/Image-gender-classification at a0902ab, datasets/facesInTheWild (Labeled Faces in the Wild)",
    terms="given out for research as far as known; the photographs are the news agencies'",
)
ENTRIES = (_WEBKB, _COREL, _FACES)


def load_webkb(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Web pages of students, faculty, courses and projects as word counts ([H07]).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``webkb_bow.npz``: a CSR matrix as ``data, indices, indptr, shape``; ``vocab``,
        the words as UTF-8 bytes joined by line breaks; the codes ``category`` and ``university`` with
        ``category_names`` and ``university_names``. There is no download; the error says where the
        data are public.

    Returns
    -------
    Bunch
        ``data`` (4199, 40679) sparse CSR matrix of counts, float64; ``target`` (4199,) int64;
        ``groups`` (4199,) int64, the university of each page, named by ``group_names``;
        ``feature_names``; ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_webkb
    >>> load_webkb().data.shape  # doctest: +SKIP
    (4199, 40679)
    """
    path = locate(_WEBKB, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data = _counts(arrays)
        words = arrays["vocab"].tobytes().decode("utf-8").split("\n")
        target, groups = arrays["category"].astype(np.int64), arrays["university"].astype(np.int64)
        group_names = arrays["university_names"]
    check(_WEBKB, [data.shape], target)
    return assemble(_WEBKB, data=data, target=target, groups=groups, group_names=group_names, feature_names=words)


def load_corel(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Photographs of eagles, elephants, horses and tigers as colour histograms ([H07]).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``corel4_rgb_hist16.npz``: a CSR matrix as ``data, indices, indptr, shape``
        and ``y`` (0 to 3). There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (400, 4096) sparse CSR matrix of counts, float64, column 256 r + 16 g + b for the
        bins r, g, b; ``target`` (400,) int64; ``feature_names``; ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_corel
    >>> load_corel().data.shape  # doctest: +SKIP
    (400, 4096)
    """
    path = locate(_COREL, data_home)
    arrays = read_arrays(path)
    with reading(path):
        data, target = _counts(arrays), arrays["y"].astype(np.int64)
    check(_COREL, [data.shape], target)
    names = [f"r{r:02d}g{g:02d}b{b:02d}" for r in range(16) for g in range(16) for b in range(16)]
    return assemble(_COREL, data=data, target=target, feature_names=names)


def load_faces(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Faces of men and women, grey levels of 21 x 12 pixels (a stand-in for the faces of [H07]).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``faces_gender_lfw_21x12.npz``: ``X`` (1755, 21, 12) in 0 to 255 and ``y``
        (0 male, 1 female). There is no download; the error says where the data are public.

    Returns
    -------
    Bunch
        ``data`` (1755, 252) float64, the rows of each picture one after the other; ``images``
        (1755, 21, 12), the same; ``target`` (1755,) int64; ``feature_names``; ``target_names``; ``DESCR``.

    Examples
    --------
    >>> from kernelweave.datasets import load_faces
    >>> load_faces().images.shape  # doctest: +SKIP
    (1755, 21, 12)
    """
    path = locate(_FACES, data_home)
    arrays = read_arrays(path)
    with reading(path):
        images, target = arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)
        data = images.reshape(len(images), -1)
    check(_FACES, [data.shape], target)
    names = [f"row{i:02d}column{j:02d}" for i in range(images.shape[1]) for j in range(images.shape[2])]
    return assemble(_FACES, data=data, images=images, target=target, feature_names=names)


def _counts(arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """CSR matrix from its parts, with entries and indices of the usual types."""
    values, columns, starts = arrays["data"], arrays["indices"], arrays["indptr"]
    n_rows, n_columns = arrays["shape"].tolist()
    return scipy.sparse.csr_matrix(
        (values.astype(np.float64), columns.astype(np.int32), starts.astype(np.int32)), shape=(n_rows, n_columns)
    )
