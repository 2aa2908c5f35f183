"""Alignment of a kernel with labels or with another kernel, as plain functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from kernelweave.estimators.classes import encode_classes
from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["alignment", "centered_alignment", "target_columns"]


def alignment(K: npt.ArrayLike, y: Any) -> float:
    """Alignment ``<K, T> / (|K| |T|)`` of a kernel with labels, or with another kernel.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix.
    y : array-like of shape (n,), or of shape (n, n)
        Labels, for which T is 1 within a class and ``-1 / (n_classes - 1)`` between classes (yy' for two), or
        another kernel matrix T.

    Returns
    -------
    float
        Between -1 and 1; 0 when a matrix is zero.

    Raises
    ------
    ValueError
        When K is not square, or shapes disagree.

    References
    ----------
    .. [L04] Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, "Learning the kernel matrix with
       semidefinite programming", JMLR 5, 2004, section 4.7.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, -1, -1])
    >>> alignment(np.outer(y, y), y)
    1.0
    >>> alignment(np.eye(4), ["a", "a", "b", "b"])
    0.5
    """
    matrix, target = _matrix_and_target(K, y)
    return _cosine(matrix, target)


def centered_alignment(K: npt.ArrayLike, y: Any) -> float:
    """Alignment of the centred matrices, which does not change when a constant is added to a kernel.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix.
    y : array-like of shape (n,), or of shape (n, n)
        Labels or another kernel matrix, as for `alignment`.

    Returns
    -------
    float
        Between -1 and 1; 0 when a centred matrix is zero.

    Raises
    ------
    ValueError
        When K is not square, or shapes disagree.

    References
    ----------
    .. [1] Cortes, Mohri, Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
       JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, -1, -1])
    >>> round(centered_alignment(np.outer(y, y) + 100.0, y), 12)
    1.0
    """
    matrix, target = _matrix_and_target(K, y)
    return _cosine(_centred(matrix), _centred(target))


def target_columns(codes: IntArray, n_classes: int) -> FloatArray:
    """Columns U whose ``UU'`` is the target: 1 within a class, ``-1 / (n_classes - 1)`` between classes.

    Parameters
    ----------
    codes : ndarray of shape (n,), dtype intp
        Class of each sample.
    n_classes : int
        Number of classes, at least two.

    Returns
    -------
    ndarray of shape (n, n_classes), or (n, 1) with the labels -1 and +1 for two classes
    """
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.sqrt(n_classes / (n_classes - 1.0)) * ((codes[:, None] == np.arange(n_classes)) - 1.0 / n_classes)


def _matrix_and_target(K: npt.ArrayLike, y: Any) -> tuple[FloatArray, FloatArray]:
    matrix: FloatArray = check_array(K, dtype=np.float64, input_name="K")
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"K must be a square kernel matrix; got shape {matrix.shape}.")
    if np.ndim(y) == 2:
        target: FloatArray = check_array(y, dtype=np.float64, input_name="y")
        if target.shape != matrix.shape:
            raise ValueError(f"The two kernel matrices have shapes {matrix.shape} and {target.shape}.")
        return matrix, target
    classes, codes = encode_classes("alignment", y, n)
    columns = target_columns(codes, len(classes))
    return matrix, columns @ columns.T


def _centred(matrix: FloatArray) -> FloatArray:
    centred = matrix - matrix.mean(axis=0)
    return centred - centred.mean(axis=1)[:, None]


def _cosine(left: FloatArray, right: FloatArray) -> float:
    size = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(np.clip(np.vdot(left, right) / size, -1.0, 1.0)) if size > 0 else 0.0
