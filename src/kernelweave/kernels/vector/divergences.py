"""Kernels of histograms as probability distributions: exponentials of their divergences."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from kernelweave.kernels.arrays import as_pair, is_sparse
from kernelweave.kernels.base import FloatArray
from kernelweave.kernels.vector import loops
from kernelweave.kernels.vector.distances import compare_rows, refuse_negative
from kernelweave.kernels.vector.exponential import ExponentialKernel

__all__ = ["JensenShannon", "KullbackLeibler"]


class KullbackLeibler(ExponentialKernel):
    """The exponential Kullback-Leibler kernel of histograms, ``k(x, z) = exp(-gamma KL(p_x || p_z))``.

    ``KL(p || q) = sum_j p_j log(p_j / q_j)`` of the histograms as shares, mixed with a little of the uniform
    distribution, because the divergence from a histogram with an empty bin is infinite. The kernel is neither
    symmetric nor positive semidefinite; with ``symmetrize`` it is symmetric, and still indefinite.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median divergence between distinct training samples (of at
        most 1000 of them, as for `RBF`), of two directions the mean.
    smoothing : float, default=0.01
        Share of the uniform distribution in each histogram, above 0 and below 1.
    symmetrize : bool, default=False
        Take ``KL(p || q) + KL(q || p)`` instead.

    References
    ----------
    .. [1] Moreno, Ho, Vasconcelos, "A Kullback-Leibler divergence based kernel for SVM classification in
       multimedia applications", NIPS 2003.

    Examples
    --------
    >>> from kernelweave.kernels import KullbackLeibler
    >>> KullbackLeibler(gamma=1.0)([[9.0, 1.0], [5.0, 5.0]]).round(3)
    array([[1.   , 0.698],
           [0.611, 1.   ]])
    """

    positive_semidefinite = False

    def __init__(self, gamma: float | str = "median", *, smoothing: float = 0.01, symmetrize: bool = False) -> None:
        self.gamma = gamma
        self.smoothing = smoothing
        self.symmetrize = symmetrize

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether both directions are added."""
        return bool(self.symmetrize)

    @property
    def distance(self) -> str:  # type: ignore[override]
        """The divergence with its settings."""
        return f"kullback-leibler({self.smoothing}, {bool(self.symmetrize)})"

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Divergences of the rows of X from the rows of Y, shape (n_x, n_y)."""
        if not 0 < self.smoothing < 1:
            raise ValueError(f"smoothing must lie between 0 and 1 (both excluded), got {self.smoothing!r}")
        left, right = as_pair(X, Y)
        first = _Smoothed(_shares(left), self.smoothing)
        second = first if right is left else _Smoothed(_shares(right), self.smoothing)
        result = first.divergences(second)
        if self.symmetrize:
            result += result.T.copy() if second is first else second.divergences(first).T
        np.maximum(result, 0.0, out=result)
        if second is first:
            np.fill_diagonal(result, 0.0)
        return result


class JensenShannon(ExponentialKernel):
    """The exponential Jensen-Shannon kernel of histograms, ``k(x, z) = exp(-gamma JS(p_x, p_z))``.

    ``JS(p, q) = (KL(p || m) + KL(q || m)) / 2`` with ``m = (p + q) / 2``, at most log 2, of the histograms as
    shares. Its square root is a distance of a Hilbert space, so this kernel, unlike those of the
    Kullback-Leibler divergence, is positive semidefinite.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median divergence between distinct training samples (of at
        most 1000 of them, as for `RBF`).

    References
    ----------
    .. [1] Fuglede, Topsoe, "Jensen-Shannon divergence and Hilbert space embedding", ISIT 2004.
    .. [2] Hein, Bousquet, "Hilbertian metrics and positive definite kernels on probability measures",
       AISTATS 2005.

    Examples
    --------
    >>> from kernelweave.kernels import JensenShannon
    >>> JensenShannon(gamma=1.0)([[1.0, 0.0], [0.0, 3.0]]).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    proven = True

    distance = "jensen-shannon"

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Divergences between the rows of X and the rows of Y, shape (n_x, n_y)."""
        left, right = as_pair(X, Y)
        first = _shares(left)
        second = first if right is left else _shares(right)
        result = compare_rows(loops.JENSEN_SHANNON, first, second)
        np.maximum(result, 0.0, out=result)
        if second is first:
            np.fill_diagonal(result, 0.0)
        return result


def _shares(matrix: Any) -> Any:
    """Rows divided by their sums."""
    refuse_negative(matrix)
    sizes = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    if (sizes <= 0).any():
        raise ValueError(f"sample {int(np.argmax(sizes <= 0))} is an empty histogram, which has no shares")
    if is_sparse(matrix):
        return scipy.sparse.csr_matrix(
            (matrix.data / np.repeat(sizes, np.diff(matrix.indptr)), matrix.indices, matrix.indptr), matrix.shape
        )
    return matrix / sizes[:, None]


class _Smoothed:
    """Shares mixed with the uniform distribution, without filling in a sparse matrix.

    With ``p = a + c``, a the shares times (1 - s) and ``c = s / d``, log p is log c plus ``logs``, which is zero
    where a is. The constants cancel in the divergence, because both distributions sum to one.
    """

    def __init__(self, shares: Any, smoothing: float) -> None:
        self.floor = smoothing / shares.shape[1]
        self.shares = shares * (1.0 - smoothing)
        self.logs = self.shares / self.floor
        if is_sparse(shares):
            self.logs.data = np.log1p(self.logs.data)
        else:
            np.log1p(self.logs, out=self.logs)
        self.log_sums = np.asarray(self.logs.sum(axis=1), dtype=np.float64).ravel()
        own = self.shares.multiply(self.logs) if is_sparse(shares) else self.shares * self.logs
        self.own = np.asarray(own.sum(axis=1), dtype=np.float64).ravel() + self.floor * self.log_sums

    def divergences(self, other: _Smoothed) -> FloatArray:
        """``KL(p || q)`` of these rows p and the other rows q."""
        product = self.shares @ other.logs.T
        result: FloatArray = product.toarray() if is_sparse(product) else np.array(product)
        np.subtract(self.own[:, None], result, out=result)
        result -= self.floor * other.log_sums
        return result
