"""Labels of any type as signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernelweave.estimators.samples import check_sample_weight
from kernelweave.gram.base import FloatArray, IntArray

__all__ = ["encode_classes", "encode_weighted_classes", "one_against_rest"]


def encode_classes(estimator: str, y: Any, n: int) -> tuple[npt.NDArray[Any], IntArray]:
    """Classes and the class number of each sample.

    Parameters
    ----------
    estimator : str
        Name, for messages.
    y : array-like of shape (n,)
        Labels: strings, bools, integers, anything sortable.
    n : int
        Number of samples.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,), dtype intp

    Raises
    ------
    ValueError
        For missing or continuous labels, another number than n, or one class only.
    """
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {n}, y has {len(labels)}.")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}); a classifier needs samples of at least two classes."
        )
    return classes, codes.astype(np.intp)


def encode_weighted_classes(
    estimator: str, y: Any, n: int, sample_weight: Any, class_weight: Any
) -> tuple[npt.NDArray[Any], IntArray, FloatArray]:
    """The same, and the weight of each sample: its own times that of its class.

    Parameters
    ----------
    estimator, y, n
        As for `encode_classes`.
    sample_weight : array-like of shape (n,) or None
        Weights of the samples.
    class_weight : dict, "balanced" or None
        Weights of the classes, as in scikit-learn.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,), dtype intp
    weight : ndarray of shape (n,)

    Raises
    ------
    ValueError
        Also for bad weights, and a class whose samples all have weight zero.
    """
    classes, codes = encode_classes(estimator, y, n)
    weight = check_sample_weight(sample_weight, n)
    if class_weight is not None:
        weight = weight * compute_class_weight(class_weight, classes=classes, y=classes[codes])[codes]
    missing = np.setdiff1d(np.arange(len(classes)), codes[weight > 0])
    if len(missing):
        raise ValueError(f"Every sample of class {classes[missing].tolist()[0]!r} has weight zero.")
    return classes, codes, weight


def one_against_rest(codes: IntArray, n_classes: int) -> FloatArray:
    """Signs -1/+1: one row for two classes (+1 = class 1), else a row for each class against the rest."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[None]
    return np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0)
