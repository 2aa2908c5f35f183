"""Kernels that are exponentials of a distance: RBF, Laplacian, and the base of others."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kernelweave.kernels.arrays import as_matrix
from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.vector import loops
from kernelweave.kernels.vector.distances import pairwise_distances
from kernelweave.kernels.vector.widths import (
    checked_gamma,
    median_positive,
    median_subsample,
    refuse_two_sets,
    scale_gamma,
)

__all__ = ["RBF", "ExponentialKernel", "Laplacian"]


class ExponentialKernel(Kernel):
    """``k(x, z) = exp(-gamma d(x, z))`` for a distance d with ``d(x, x) = 0``.

    A subclass names its distance in ``distance``, and overrides `distances` if it is a new one.

    Parameters
    ----------
    gamma : float or str, default="median"
        Width factor, or the name of a rule in ``rules``.

    Attributes
    ----------
    rules : tuple of str
        Rules that find ``gamma`` from the training samples: "median" is one over the median
        distance, "scale" is ``1 / (n_features * X.var())``.
    """

    unit_diagonal = True
    rules: ClassVar[tuple[str, ...]] = ("median",)
    _median_multiple: ClassVar[float] = 1.0

    def __init__(self, gamma: float | str = "median") -> None:
        self.gamma = gamma

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Exponentials of the scaled distances."""
        if isinstance(self.gamma, str) and self.gamma in self.rules:
            refuse_two_sets(self.gamma, X, Y)
            return self.freeze(X)(X)
        checked_gamma(self.gamma, self.rules)
        distances = self.distances(X, Y)
        return self.from_distances(distances, out=distances)

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Pairwise distances, a new array of shape (n_x, n_y)."""
        return pairwise_distances(str(self.distance), X, Y)

    def from_distances(self, distances: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Exponentials of the scaled distances."""
        gamma = checked_gamma(self.gamma, ())
        result = out if out is not None and out.flags.c_contiguous else np.empty(distances.shape)
        loops.exponential(np.ascontiguousarray(distances, dtype=np.float64), gamma, result)
        if out is None or out is result:
            return result
        out[...] = result
        return out

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
        if not (isinstance(self.gamma, str) and self.gamma in self.rules):
            checked_gamma(self.gamma, self.rules)
            return self
        gamma = scale_gamma(as_matrix(X)) if self.gamma == "scale" else self._median_gamma(X)
        return type(self)(**{**self.get_params(deep=False), "gamma": gamma})

    def _median_gamma(self, X: Any) -> float:
        samples = as_matrix(X) if self.vector_input else X
        distances = self.distances(median_subsample(samples))
        # Of a pair with two distances the mean counts, so that the order of the samples does not.
        middle = median_positive(distances if self.symmetric else 0.5 * (distances + distances.T))
        return 1.0 if middle is None else self._median_multiple / middle


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

    proven = True

    distance = "sqeuclidean"
    rules = ("scale", "median")
    _median_multiple = 0.5

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma


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

    proven = True

    distance = "manhattan"
