"""Kernels K_i = Z_i Z_i' that are never formed, whatever holds the Z_i.

Side by side the Z_i make one feature matrix Z; column c belongs to kernel ``kernel_of[c]``. A
representation says how to multiply with Z, with its transpose, and how to form Z'diag(s)Z;
products, quadratic forms and shifted systems (by the Woodbury identity) follow.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.gram.image import DenseImage, Image

__all__ = ["FeatureStack"]

_FLOOR = 1e-100
_EXACT = 1e-11  # residual, relative to the right-hand side, that needs no refinement


class FeatureStack(GramStack):
    """A stack of kernels given by features.

    Attributes
    ----------
    kernel_of : ndarray of shape (rank,), dtype intp
        Kernel of each column of Z.
    """

    kernel_of: IntArray

    @abstractmethod
    def forward(self, coefficients: FloatArray) -> FloatArray:
        """``Z c``: (rank,) -> (n,)."""

    @abstractmethod
    def backward(self, vector: FloatArray) -> FloatArray:
        """``Z'v``: (n,) -> (rank,)."""

    @abstractmethod
    def feature_gram(self, weights: FloatArray) -> FloatArray:
        """``Z' diag(weights) Z`` for nonnegative weights: (n,) -> a new array of shape (rank, rank)."""

    def forward_part(self, kernel: int, coefficients: FloatArray) -> FloatArray:
        """``Z_i c_i`` for the part of c that belongs to kernel i: (rank,) -> (n,)."""
        return self.forward(np.where(self.kernel_of == kernel, coefficients, 0.0))

    @property
    def rank(self) -> int:
        """Number of columns of Z."""
        return len(self.kernel_of)

    def sum_by_kernel(self, values: FloatArray) -> FloatArray:
        """Sum values of the columns within each kernel: (rank,) -> (m,)."""
        sums = np.bincount(self.kernel_of, weights=values, minlength=self.n_kernels)
        return sums.astype(np.float64, copy=False)

    def products(self, vector: FloatArray) -> FloatArray:
        coefficients = self.backward(vector)
        return np.stack([self.forward_part(k, coefficients) for k in range(self.n_kernels)])

    def support_products(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        coefficients = self.backward(vector)
        chosen = self._all if kernels is None else kernels
        result = np.zeros((len(chosen), self.shape[0]))
        for row, k in zip(result, chosen, strict=True):
            row[:] = self.forward_part(int(k), coefficients)
        result[:, vector == 0] = 0.0
        return result

    def matvec(self, weights: FloatArray, block: FloatArray) -> FloatArray:
        by_column = weights[self.kernel_of]
        if block.ndim == 1:
            return self.forward(by_column * self.backward(block))
        return np.stack([self.forward(by_column * self.backward(v)) for v in block.T], axis=1)

    def quadratic_forms(self, block: FloatArray) -> FloatArray:
        if block.ndim == 1:
            return self.sum_by_kernel(self.backward(block) ** 2)
        return np.stack([self.sum_by_kernel(self.backward(v) ** 2) for v in block.T], axis=1)

    def image(self, vector: FloatArray) -> Image:
        """The vectors ``K_i v`` through the coefficients ``Z'v``, without forming them."""
        return _FeatureImage(self, vector)

    def shifted_solve(self, weights: FloatArray, diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Solve with ``sum_i weights_i K_i + diag(diagonal)``: Woodbury where the rank is below n.

        The weights must be nonnegative. Woodbury subtracts nearly equal numbers where the shift is
        small, so each solution is refined once against the residual of the system itself.
        """
        if self.rank >= self.shape[0]:
            return super().shifted_solve(weights, diagonal)
        return _Woodbury(self, weights, diagonal)


class _Woodbury:
    """``(Z M Z' + diag(d))^{-1}`` through the Cholesky factor of ``I + M^{1/2} Z' diag(1/d) Z M^{1/2}``."""

    def __init__(self, stack: FeatureStack, weights: FloatArray, diagonal: FloatArray) -> None:
        self.stack, self.weights, self.diagonal = stack, weights, diagonal
        # A floor, so that kernels without weight need no case of their own in `schur`.
        self.root = np.maximum(np.sqrt(weights[stack.kernel_of]), _FLOOR)
        self.gram = stack.feature_gram(1.0 / diagonal)
        inner = self.gram * self.root
        inner *= self.root[:, None]
        inner[np.diag_indices_from(inner)] += 1.0
        self._factor = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def inner_solve(self, rhs: FloatArray) -> FloatArray:
        """Solve with the small matrix, (rank,) or (rank, k)."""
        return np.asarray(scipy.linalg.cho_solve(self._factor, rhs, check_finite=False))

    def _once(self, rhs: FloatArray) -> FloatArray:
        part = rhs / self.diagonal
        projected = self.inner_solve(self.root * self.stack.backward(part))
        return part - self.stack.forward(self.root * projected) / self.diagonal

    def __call__(self, rhs: FloatArray) -> FloatArray:
        if rhs.ndim == 2:
            return np.stack([self(column) for column in rhs.T], axis=1)
        solution = self._once(rhs)
        residual = rhs - (self.stack.matvec(self.weights, solution) + self.diagonal * solution)
        if np.abs(residual).max() <= _EXACT * np.abs(rhs).max():
            return solution
        return solution + self._once(residual)


class _FeatureImage(Image):
    """K_i v = Z_i w_i with the coefficients w = Z'v."""

    def __init__(self, stack: FeatureStack, vector: FloatArray) -> None:
        self._stack, self._vector = stack, vector
        self._coefficients = stack.backward(vector)
        self.forms = stack.sum_by_kernel(self._coefficients**2)

    def combine(self, weights: FloatArray) -> FloatArray:
        return self._stack.forward(weights[self._stack.kernel_of] * self._coefficients)

    def adjoint(self, vector: FloatArray) -> FloatArray:
        return self._stack.sum_by_kernel(self._coefficients * self._stack.backward(vector))

    def schur(self, solve: Callable[[FloatArray], FloatArray]) -> FloatArray:
        if not isinstance(solve, _Woodbury):
            return DenseImage(self._stack.products(self._vector), self._vector).schur(solve)
        # Z'A^{-1}Z = G M^{1/2} B^{-1} M^{-1/2}, G the weighted Gram matrix of the features and B the small
        # matrix: as a product, since as a difference it loses what a small shift makes large.
        columns = np.zeros((self._stack.rank, self._stack.n_kernels))
        columns[np.arange(self._stack.rank), self._stack.kernel_of] = self._coefficients
        inner = solve.root[:, None] * solve.inner_solve(columns / solve.root[:, None])
        schur = columns.T @ (solve.gram @ inner)
        return 0.5 * (schur + schur.T)
