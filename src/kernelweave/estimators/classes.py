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

__all__ = ["encode_classes", "one_against_rest", "weigh_classes"]


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


def one_against_rest(codes: IntArray, n_classes: int) -> FloatArray:
    """Signs -1/+1: one row for two classes (+1 = class 1), else a row for each class against the rest."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[None]
    return np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0)


def weigh_classes(classes: npt.NDArray[Any], codes: IntArray, sample_weight: Any, class_weight: Any) -> FloatArray:
    """Weights of the samples, multiplied by those of their classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Labels.
    codes : ndarray of shape (n,), dtype intp
        Class number of each sample.
    sample_weight : array-like of shape (n,), float or None
        Weights, zero allowed; ones when None.
    class_weight : dict, "balanced" or None
        Weights of the classes, as in scikit-learn.

    Returns
    -------
    ndarray of shape (n,)
        Nonnegative.

    Raises
    ------
    ValueError
        For bad weights, or a class whose samples all weigh nothing.
    """
    weight = check_sample_weight(sample_weight, len(codes))
    if class_weight is not None:
        weight = weight * compute_class_weight(class_weight, classes=classes, y=classes[codes])[codes]
    present = np.unique(codes[weight > 0])
    if len(present) < len(classes):
        missing = np.setdiff1d(np.arange(len(classes)), present)
        raise ValueError(f"Every sample of class {classes[missing].tolist()[0]!r} has weight zero.")
    return weight
