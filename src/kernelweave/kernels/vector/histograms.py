"""Kernels of histograms: rows of nonnegative counts or shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.arrays import as_matrix, as_pair
from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.vector import loops
from kernelweave.kernels.vector.distances import compare_rows, refuse_negative
from kernelweave.kernels.vector.exponential import ExponentialKernel

__all__ = ["ChiSquared", "HistogramIntersection"]


class ChiSquared(ExponentialKernel):
    """The exponential chi-squared kernel ``k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j))``.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median chi-squared distance between distinct
        training samples (of at most 1000 of them, as for `RBF`).

    References
    ----------
    .. [1] Zhang, Marszalek, Lazebnik, Schmid, "Local features and kernels for classification of
       texture and object categories: a comprehensive study", IJCV 73, 2007.

    Examples
    --------
    >>> from kernelweave.kernels import ChiSquared
    >>> ChiSquared(gamma=0.5)([[2.0, 0.0], [0.0, 2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    proven = True

    distance = "chi2"


class HistogramIntersection(Kernel):
    """What two histograms have in common, ``k(x, z) = sum_j min(x_j, z_j)``.

    Positive semidefinite because ``min(a, b)`` is the inner product of the indicators of
    ``[0, a]`` and ``[0, b]``.

    References
    ----------
    .. [1] Swain, Ballard, "Color indexing", IJCV 7, 1991.
    .. [2] Odone, Barla, Verri, "Building kernels from binary strings for image matching", IEEE
       Transactions on Image Processing 14, 2005.

    Examples
    --------
    >>> from kernelweave.kernels import HistogramIntersection
    >>> HistogramIntersection()([[2.0, 1.0], [1.0, 3.0]])
    array([[3., 2.],
           [2., 4.]])
    """

    proven = True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Sums of the smaller counts."""
        left, right = as_pair(X, Y)
        refuse_negative(left, right)
        gram = compare_rows(loops.INTERSECTION, left, right)
        if right is left:
            # The same sums as `diag`, so that a normalised diagonal is exactly one.
            np.fill_diagonal(gram, _sizes(left))
        return gram

    def diag(self, X: Any) -> FloatArray:
        """Sizes of the histograms."""
        matrix = as_matrix(X)
        refuse_negative(matrix)
        return _sizes(matrix)


def _sizes(matrix: Any) -> FloatArray:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
