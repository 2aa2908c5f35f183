"""What a kernel promises.

A kernel says what similarity is: parameters in the constructor, nothing learned. Settings
that depend on data (``gamma="scale"``) are resolved by `freeze`, which hands back a new kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

__all__ = ["FloatArray", "Kernel"]

FloatArray = npt.NDArray[np.float64]


class Kernel(BaseEstimator):
    """Base class of the kernels.

    A subclass implements ``__call__`` and states what it promises in the class attributes.

    Attributes
    ----------
    symmetric : bool
        ``k(x, z) = k(z, x)``.
    positive_semidefinite : bool
        Every Gram matrix is positive semidefinite.
    unit_diagonal : bool
        ``k(x, x) = 1`` for every x.
    distance : str or None
        Name of the pairwise distance the kernel is a function of ("sqeuclidean",
        "manhattan"); kernels on the same columns with the same name share one computation.
    vector_input : bool
        Samples are rows of a numeric matrix (False for sequences, indices, graphs).
    """

    symmetric: bool = True
    positive_semidefinite: bool = True
    unit_diagonal: bool = False
    distance: str | None = None
    vector_input: bool = True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Evaluate the kernel.

        Parameters
        ----------
        X, Y : array-like of shape (n_x, n_features), (n_y, n_features)
            Samples; ``Y = X`` when None.

        Returns
        -------
        ndarray of shape (n_x, n_y), dtype float64
            ``k(x_i, y_j)``, an array the caller may write into.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement __call__(X, Y=None)")

    def diag(self, X: Any) -> FloatArray:
        """``k(x, x)`` for every sample, shape (n_x,)."""
        if self.unit_diagonal:
            return np.ones(_n_samples(X))
        return np.array([self(X[i : i + 1])[0, 0] for i in range(_n_samples(X))])

    def freeze(self, X: Any) -> Kernel:
        """Resolve settings that depend on data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.

        Returns
        -------
        Kernel
            A kernel whose settings are numbers; the same object when there is nothing to resolve.
        """
        return self

    def from_distances(self, distances: FloatArray) -> FloatArray:
        """Kernel values from the pairwise distances named by `distance` (which are not changed)."""
        raise NotImplementedError(f"{type(self).__name__} is not a function of a distance")


def _n_samples(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
