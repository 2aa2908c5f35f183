"""Kernels that are functions of the inner product x'z."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelweave.kernels.arrays import as_matrix, as_pair, is_sparse
from kernelweave.kernels.base import FloatArray, Kernel
from kernelweave.kernels.vector.distances import squared_norms
from kernelweave.kernels.vector.widths import resolve_gamma

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]


class Linear(Kernel):
    """The inner product ``k(x, z) = x'z``.

    Examples
    --------
    >>> from kernelweave.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """

    proven = True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """``X Y'``."""
        left, right = as_pair(X, Y)
        return _inner(left, right)

    def diag(self, X: Any) -> FloatArray:
        """Squared norms."""
        return squared_norms(as_matrix(X))

    def features(self, X: Any) -> Any:
        """The factor Z with ``k(X) = Z Z'``: the samples themselves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features), dtype float64
            The samples (not a copy where none is needed: do not write into it).
        """
        return as_matrix(X)


class Cosine(Kernel):
    """The cosine of the angle, ``k(x, z) = x'z / (||x|| ||z||)``, and 0 where a sample is zero.

    Examples
    --------
    >>> from kernelweave.kernels import Cosine
    >>> Cosine()([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]])
    array([[1. , 0.6, 0. ],
           [0.6, 1. , 0. ],
           [0. , 0. , 0. ]])
    """

    proven = True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Inner products of the normalised samples."""
        left = self.features(X)
        right = left if Y is None or Y is X else self.features(Y)
        gram = _inner(left, right)
        if right is left:
            # Unit vectors have a unit product up to rounding only.
            np.fill_diagonal(gram, np.diagonal(gram) > 0)
        return gram

    def diag(self, X: Any) -> FloatArray:
        """One, or zero for a zero sample."""
        return (squared_norms(self.features(X)) > 0).astype(np.float64)

    def features(self, X: Any) -> Any:
        """The factor Z with ``k(X) = Z Z'``: the samples scaled to unit norm.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features), dtype float64
            The unit vectors.
        """
        matrix = as_matrix(X)
        # Dividing by the largest entry first keeps squares from over- and underflowing.
        matrix = _scale_rows(matrix, _largest(matrix))
        return _scale_rows(matrix, np.sqrt(squared_norms(matrix)))


class Polynomial(Kernel):
    """The polynomial kernel ``k(x, z) = (gamma x'z + coef0)^degree``.

    With the defaults it is ``(1 + x'z)^2``, K1 of the experiments of [L04].

    Parameters
    ----------
    degree : int, default=2
        Degree, at least 1.
    gamma : float or "scale", default=1.0
        Factor of the inner product; "scale" is ``1 / (n_features * X.var())``.
    coef0 : float, default=1.0
        Constant; a negative one is declared indefinite.

    Examples
    --------
    >>> from kernelweave.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    proven = True

    def __init__(self, degree: int = 2, *, gamma: float | str = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the constant is not negative."""
        return self.coef0 >= 0

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Powers of the shifted inner products."""
        left, right = as_pair(X, Y)
        return self._power(_inner(left, right), self._gamma(left, right))

    def diag(self, X: Any) -> FloatArray:
        """Powers of the shifted squared norms."""
        matrix = as_matrix(X)
        return self._power(squared_norms(matrix), self._gamma(matrix, matrix))

    def freeze(self, X: Any) -> Kernel:
        """Turn ``gamma="scale"`` into a number."""
        if not isinstance(self.gamma, str):
            return self
        return Polynomial(self.degree, gamma=resolve_gamma(self.gamma, as_matrix(X)), coef0=self.coef0)

    def _gamma(self, left: Any, right: Any) -> float:
        if not (isinstance(self.degree, int | np.integer) and self.degree >= 1):
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree!r}")
        return resolve_gamma(self.gamma, left, right)

    def _power(self, inner: FloatArray, gamma: float) -> FloatArray:
        inner *= gamma
        inner += self.coef0
        return _whole_power(inner, int(self.degree))


class Sigmoid(Kernel):
    """The sigmoid ``k(x, z) = tanh(gamma x'z + coef0)``, which is not positive semidefinite.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Factor of the inner product; "scale" is ``1 / (n_features * X.var())``.
    coef0 : float, default=0.0
        Constant.

    Examples
    --------
    >>> from kernelweave.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0], [2.0]]).round(3)
    array([[0.462, 0.762],
           [0.762, 0.964]])
    """

    positive_semidefinite = False

    def __init__(self, gamma: float | str = "scale", *, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Hyperbolic tangents of the shifted inner products."""
        left, right = as_pair(X, Y)
        return self._tanh(_inner(left, right), resolve_gamma(self.gamma, left, right))

    def diag(self, X: Any) -> FloatArray:
        """Hyperbolic tangents of the shifted squared norms."""
        matrix = as_matrix(X)
        return self._tanh(squared_norms(matrix), resolve_gamma(self.gamma, matrix))

    def freeze(self, X: Any) -> Kernel:
        """Turn ``gamma="scale"`` into a number."""
        if not isinstance(self.gamma, str):
            return self
        return Sigmoid(resolve_gamma(self.gamma, as_matrix(X)), coef0=self.coef0)

    def _tanh(self, inner: FloatArray, gamma: float) -> FloatArray:
        inner *= gamma
        inner += self.coef0
        return np.tanh(inner, out=inner)


def _inner(left: Any, right: Any) -> FloatArray:
    product = left @ right.T
    gram: FloatArray = product.toarray() if is_sparse(product) else product
    if right is left:
        # The same sums as `diag`, so that a normalised diagonal is exactly one.
        np.fill_diagonal(gram, squared_norms(left))
    return gram


def _whole_power(values: FloatArray, degree: int) -> FloatArray:
    """``values ** degree`` in place, by squaring: general powers cost some 20 times a product."""
    result = None
    while True:
        if degree & 1:
            result = values if result is None else np.multiply(result, values, out=result)
        degree >>= 1
        if not degree:
            return values if result is None else result
        # The values are still needed as they are when they are the result so far.
        values = np.multiply(values, values, out=None if result is values else values)


def _largest(matrix: Any) -> FloatArray:
    if is_sparse(matrix):
        return np.asarray(abs(matrix).max(axis=1).todense()).ravel()
    return np.abs(matrix).max(axis=1, initial=0.0)


def _scale_rows(matrix: Any, sizes: FloatArray) -> Any:
    divisors = np.where(sizes > 0, sizes, 1.0)
    if is_sparse(matrix):
        scaled = matrix.copy()
        scaled.data = matrix.data / np.repeat(divisors, np.diff(matrix.indptr))
        return scaled
    return matrix / divisors[:, None]
