"""Kernels that are decreasing functions of a distance, and the distances.

Kernels of several widths on the same columns share one distance computation: the
evaluation layer asks `pairwise_distances` once and each kernel's ``from_distances``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances

from kernelweave.kernels.arrays import as_dense, as_matrix, as_pair, is_sparse
from kernelweave.kernels.base import FloatArray, Kernel, n_samples
from kernelweave.kernels.vectors import squared_norms
from kernelweave.kernels.widths import checked_gamma, median_positive, median_subsample, refuse_two_sets, scale_gamma

__all__ = ["RBF", "ExponentialKernel", "Laplacian", "pairwise_distances"]

_ROW_BLOCK_BYTES = 2**20


def pairwise_distances(name: str, X: Any, Y: Any = None) -> FloatArray:
    """Distances by the name a kernel states in its attribute ``distance``.

    Parameters
    ----------
    name : {"sqeuclidean", "manhattan", "chi2"}
        ``||x - z||^2``, ``sum |x - z|``, or ``sum (x - z)^2 / (x + z)``.
    X, Y : array-like or sparse matrix of shape (n_x, n_features), (n_y, n_features)
        Samples; ``Y = X`` when None.

    Returns
    -------
    ndarray of shape (n_x, n_y), dtype float64
        A new array, nonnegative; symmetric with a zero diagonal when Y is None.
    """
    return _DISTANCES[name](*as_pair(X, Y))


def _squared_euclidean(left: Any, right: Any) -> FloatArray:
    if not (is_sparse(left) or is_sparse(right)):
        # Distances ignore a shift; without one, samples far from the origin cancel to noise.
        centre = left.mean(axis=0) if len(left) else 0.0
        same = right is left
        left = left - centre
        right = left if same else right - centre
    left_norms = squared_norms(left)
    right_norms = left_norms if right is left else squared_norms(right)
    product = left @ right.T
    result: FloatArray = product.toarray() if is_sparse(product) else product
    step = max(1, _ROW_BLOCK_BYTES // (8 * max(1, result.shape[1])))
    for first in range(0, result.shape[0], step):
        block = result[first : first + step]
        block *= -2.0
        # The two norms first: their sum is the same for (i, j) and (j, i), so symmetry is exact.
        block += left_norms[first : first + step, None] + right_norms
        np.maximum(block, 0.0, out=block)
    if right is left:
        np.fill_diagonal(result, 0.0)
    return result


def _manhattan(left: Any, right: Any) -> FloatArray:
    return manhattan_distances(left, right)


def _chi_squared(left: Any, right: Any) -> FloatArray:
    left_dense = as_dense(left)
    right_dense = left_dense if right is left else as_dense(right)
    result: FloatArray = additive_chi2_kernel(left_dense, right_dense)
    return np.negative(result, out=result)


_DISTANCES = {"sqeuclidean": _squared_euclidean, "manhattan": _manhattan, "chi2": _chi_squared}


class ExponentialKernel(Kernel):
    """``k(x, z) = exp(-gamma d(x, z))`` for a named distance d.

    Parameters
    ----------
    gamma : float or str
        Width factor, or the name of a rule in ``rules``.

    Attributes
    ----------
    rules : tuple of str
        Rules that find ``gamma`` from the training samples.
    """

    unit_diagonal = True
    distance: str
    rules: ClassVar[tuple[str, ...]] = ("median",)

    def __init__(self, gamma: float | str = "median") -> None:
        self.gamma = gamma

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Exponentials of the scaled distances."""
        left, right = as_pair(X, Y)
        if isinstance(self.gamma, str) and self.gamma in self.rules:
            refuse_two_sets(self.gamma, left, right)
            return self.freeze(left)(left)
        gamma = checked_gamma(self.gamma, self.rules)
        distances = pairwise_distances(self.distance, left, right)
        return _exponential(distances, gamma, out=distances)

    def diag(self, X: Any) -> FloatArray:
        """Ones."""
        return np.ones(n_samples(X))

    def from_distances(self, distances: FloatArray) -> FloatArray:
        """Exponentials of the scaled distances, in a new array."""
        return _exponential(distances, checked_gamma(self.gamma, ()), out=np.empty_like(distances))

    def freeze(self, X: Any) -> Kernel:
        """Turn the rule for ``gamma`` into a number.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.

        Returns
        -------
        Kernel
            This kernel when ``gamma`` is a number, else a new one.
        """
        if not isinstance(self.gamma, str):
            return self
        if self.gamma not in self.rules:
            checked_gamma(self.gamma, self.rules)
        matrix = as_matrix(X)
        return type(self)(scale_gamma(matrix) if self.gamma == "scale" else self._median_gamma(matrix))

    def _median_gamma(self, matrix: Any) -> float:
        middle = median_positive(pairwise_distances(self.distance, median_subsample(matrix)))
        return 1.0 if middle is None else 1.0 / middle


class RBF(ExponentialKernel):
    """The Gaussian kernel ``k(x, z) = exp(-gamma ||x - z||^2)``.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Width factor. "scale" is ``1 / (n_features * X.var())`` as in scikit-learn;
        "median" is ``1 / (2 M)`` with M the median of the squared distances between
        distinct training samples, so that sigma in ``exp(-d^2 / (2 sigma^2))`` is the
        median distance. Beyond 1000 samples the median is taken over 1000 of them, the
        same ones every time. If the median is zero, over the positive distances; if there
        are none, gamma is 1.

    Examples
    --------
    >>> from kernelweave.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    >>> RBF(gamma="median").freeze([[0.0], [2.0]])
    RBF(gamma=0.125)
    """

    distance = "sqeuclidean"
    rules = ("scale", "median")

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def _median_gamma(self, matrix: Any) -> float:
        middle = median_positive(pairwise_distances(self.distance, median_subsample(matrix)))
        return 1.0 if middle is None else 0.5 / middle


class Laplacian(ExponentialKernel):
    """The Laplacian kernel ``k(x, z) = exp(-gamma sum_j |x_j - z_j|)``.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median Manhattan distance between distinct
        training samples (of at most 1000 of them, as for `RBF`).

    Examples
    --------
    >>> from kernelweave.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    distance = "manhattan"


def _exponential(distances: FloatArray, gamma: float, out: FloatArray) -> FloatArray:
    # Blocks that stay in cache: one trip through memory instead of two.
    step = max(1, _ROW_BLOCK_BYTES // (8 * max(1, out.shape[1])))
    for first in range(0, out.shape[0], step):
        block = out[first : first + step]
        np.multiply(distances[first : first + step], -gamma, out=block)
        np.exp(block, out=block)
    return out
