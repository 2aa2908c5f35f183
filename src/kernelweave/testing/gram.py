"""A conformance suite for Gram stacks, also for representations written elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.gram.base import FloatArray, GramStack, IntArray
from kernelweave.testing.requirements import Requirements, protected

__all__ = ["check_gram_stack"]

# Most negative eigenvalue, relative to the largest, of a kernel that counts as semidefinite here.
_DEFINITE = 1e-6


def check_gram_stack(stack: GramStack, reference: npt.NDArray[Any], *, rtol: float = 1e-9) -> None:
    """Check that a Gram stack keeps the contract of `kernelweave.gram.base.GramStack`.

    Every method is compared with the same operation on dense matrices: reading blocks, combining
    (with weights of either sign, and none), products with vectors and blocks, inner products of the
    matrices, ``apply`` and ``adjoint``, restricted stacks. Where the reference is symmetric: products at a
    support, quadratic forms, traces, diagonals; where it is positive semidefinite too, shifted solves.
    All results must be float64, whatever the storage, and nothing may be written but ``out``.

    Parameters
    ----------
    stack : GramStack
        The stack. Give it read-only memory to see that it does not write into what it borrows.
    reference : ndarray of shape (n_kernels, n_rows, n_cols)
        The matrices it stands for, of at least four rows and columns (of at least two kernels).
    rtol : float, default=1e-9
        Error allowed, relative to the largest value of each result. Storage in float32 is no excuse:
        give the reference the rounded values.

    Raises
    ------
    AssertionError
        Naming the stack and what it breaks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.gram.dense import DenseStack
    >>> from kernelweave.testing import check_gram_stack
    >>> matrices = np.stack([np.eye(5), np.ones((5, 5))])
    >>> check_gram_stack(DenseStack(matrices), matrices)
    """
    reference = protected(np.asarray(reference, dtype=np.float64))
    if reference.ndim != 3 or min(reference.shape[1:]) < 4 or len(reference) < 2:
        raise ValueError(f"check_gram_stack needs at least two kernels on four samples, got shape {reference.shape}")
    whole = _Suite(stack, reference, type(stack).__name__, rtol)
    whole.check()
    if _symmetric(reference):
        for name, rows in _choices_of_rows(reference.shape[1]).items():
            _check_restricted(whole, name, rows)
    _check_rectangle(whole)
    whole.check_read()


def _choices_of_rows(n: int) -> dict[str, IntArray]:
    return {
        "leading rows": np.arange(n // 2 + 1, dtype=np.intp),
        "scattered rows": np.random.default_rng(n).permutation(n)[: n // 2 + 1].astype(np.intp),
    }


def _check_restricted(whole: _Suite, name: str, rows: IntArray) -> None:
    with whole.require.nothing_raised(f"when restricted to {name}"):
        part = whole.stack.restrict(protected(rows))
    block = whole.reference[:, rows][:, :, rows]
    suite = _Suite(part, block, f"{whole.require.part}, restricted to {name},", whole.rtol)
    suite.check()
    again = np.array([2, 0], dtype=np.intp)
    with suite.require.nothing_raised("when restricted again"):
        twice = part.restrict(again).combine(suite.weights)
    suite.equal(twice, np.tensordot(suite.weights, block[:, again][:, :, again], 1), "is wrong when restricted again")


def _check_rectangle(whole: _Suite) -> None:
    """A rectangular block is right, or refused by those who only hold symmetric matrices."""
    n_rows, n_cols = whole.reference.shape[1:]
    rows, cols = np.arange(n_rows - 1, dtype=np.intp)[::-1], np.arange(1, n_cols, 2, dtype=np.intp)
    try:
        part = whole.stack.restrict(rows, cols)
    except ValueError as error:
        whole.require("symmetric" in str(error), f"refuses a rectangular block without saying why: {error}")
        return
    expected = np.tensordot(whole.weights, whole.reference[:, rows][:, :, cols], axes=1)
    whole.equal(part.combine(whole.weights), expected, "has a wrong rectangular block")


def _symmetric(reference: FloatArray) -> bool:
    return reference.shape[1] == reference.shape[2] and np.allclose(reference, reference.transpose(0, 2, 1))


class _Suite:
    """One stack beside its dense reference."""

    def __init__(self, stack: GramStack, reference: FloatArray, name: str, rtol: float) -> None:
        self.stack, self.reference, self.rtol = stack, reference, rtol
        self.require = Requirements(name, "what it was given")
        m, n_rows, n_cols = reference.shape
        rng = np.random.default_rng(n_rows)
        self.kernels = np.arange(m, dtype=np.intp)
        signed = rng.normal(size=m) / np.abs(reference).max(axis=(1, 2))
        signed[-1] = 0.0
        self.weights = protected(signed)
        self.vector, self.block = protected(rng.normal(size=n_cols)), protected(rng.normal(size=(n_cols, 3)))
        self.left = protected(rng.normal(size=n_rows))
        self.sparse = protected(np.where(rng.random(n_cols) < 0.4, rng.normal(size=n_cols), 0.0))

    def equal(self, values: Any, expected: FloatArray, message: str) -> None:
        self.require(isinstance(values, np.ndarray), f"{message}: {type(values).__name__}, not an ndarray")
        self.require(values.dtype == np.float64, f"{message}: {values.dtype}, not float64")
        self.require.close(values, expected, message, self.rtol)

    def by_kernel(self, values: Any, expected: FloatArray, message: str) -> None:
        """The same for results with one row a kernel, whose scales may differ by orders of magnitude."""
        self.require(np.shape(values) == expected.shape, f"{message}: shape {np.shape(values)}, not {expected.shape}")
        for i, row in enumerate(expected):
            self.equal(np.asarray(values[i]), row, f"{message} (kernel {i})")

    def check(self) -> None:
        require, stack = self.require, self.stack
        require(stack.n_kernels == len(self.reference), f"has n_kernels {stack.n_kernels}, not {len(self.reference)}")
        require(tuple(stack.shape) == self.reference.shape[1:], f"has shape {stack.shape}")
        require(stack.dtype in (np.float64, np.float32), f"has dtype {stack.dtype}")
        with require.nothing_raised("when compared with dense matrices"):
            self.check_read()
            self._check_combine()
            self._check_products()
            if _symmetric(self.reference):
                self._check_symmetric()
                sizes = np.abs(self.reference).max(axis=(1, 2), keepdims=True)
                if np.linalg.eigvalsh(self.reference / sizes).min() > -_DEFINITE:
                    self._check_solve()

    def check_read(self) -> None:
        n_rows, n_cols = self.reference.shape[1:]
        kernels, rows = protected(self.kernels[::-1]), protected(np.array([n_rows - 1, 0], dtype=np.intp))
        cols = protected(np.array([1, n_cols - 1, 2], dtype=np.intp))
        everything = self.stack.read(self.kernels, np.arange(n_rows, dtype=np.intp))
        self.by_kernel(everything, self.reference, "reads wrong entries")
        block = self.stack.read(kernels, rows, cols)
        self.by_kernel(block, self.reference[kernels][:, rows][:, :, cols], "reads a wrong block")
        self.require(everything.flags.writeable, "reads into memory that is not new")
        everything[...] = np.nan
        self.by_kernel(self.stack.read(kernels[:1], rows), self.reference[kernels[:1]][:, rows], "reads no new array")
        nothing = self.stack.read(self.kernels[:0], rows)
        self.equal(nothing, np.empty((0, 2, n_cols)), "reads no kernels wrongly")

    def _check_combine(self) -> None:
        expected = np.tensordot(self.weights, self.reference, axes=1)
        self.equal(self.stack.combine(self.weights), expected, "has a wrong weighted sum")
        out = np.full(expected.shape, np.nan)
        self.require(self.stack.combine(self.weights, out=out) is out, "does not combine into `out`")
        self.equal(out, expected, "has a wrong weighted sum in `out`")
        zero = self.stack.combine(np.zeros(len(self.kernels)))
        self.require(zero.shape == expected.shape and not zero.any(), "has a non-zero sum without weights")

    def _check_products(self) -> None:
        stack, K, expected = self.stack, self.reference, np.tensordot(self.weights, self.reference, axes=1)
        self.by_kernel(stack.products(self.vector), K @ self.vector, "has wrong products")
        self.by_kernel(stack.products(self.sparse), K @ self.sparse, "has wrong products with a sparse vector")
        self.equal(stack.matvec(self.weights, self.vector), expected @ self.vector, "has a wrong matvec of a vector")
        self.equal(stack.matvec(self.weights, self.block), expected @ self.block, "has a wrong matvec of a block")
        turned = np.asfortranarray(self.block)
        self.equal(stack.matvec(self.weights, turned), expected @ turned, "has a wrong matvec of a column-wise block")
        none = stack.matvec(np.zeros(len(K)), self.block)
        self.equal(none, np.zeros((K.shape[1], 3)), "has a non-zero matvec without weights")
        size = np.abs(K).max(axis=(1, 2))
        coefficients = np.outer(self.vector, 1.0 / size)
        coefficients[:, 0] = 0.0
        applied = np.einsum("trc,ct->r", K, coefficients)
        self.equal(stack.apply(protected(coefficients)), applied, "has a wrong apply")
        self.equal(stack.apply(0.0 * coefficients), 0.0 * applied, "has a non-zero apply without coefficients")
        adjoint = stack.adjoint(self.left)
        self.require(np.shape(adjoint) == coefficients.shape, f"has an adjoint of shape {np.shape(adjoint)}")
        self.by_kernel(adjoint.T, self.left @ K, "has a wrong adjoint")
        self.by_kernel(stack.block_products(self.block), K @ self.block, "has wrong products with a block")
        inner = np.tensordot(K, K, axes=((1, 2), (1, 2)))
        self.by_kernel(stack.frobenius_products(), inner, "has wrong inner products")

    def _check_symmetric(self) -> None:
        stack, K, v = self.stack, self.reference, self.sparse
        expected = (K @ v) * (v != 0)
        self.by_kernel(stack.support_products(v), expected, "has wrong products at the support")
        some = protected(self.kernels[::-1][:2])
        self.by_kernel(stack.support_products(v, some), expected[some], "has wrong support products of some kernels")
        self.by_kernel(stack.support_products(v, kernels=some[:0]), expected[:0], "has support products of no kernel")
        forms = np.einsum("ak,tab,bk->tk", self.block, K, self.block)
        self.by_kernel(stack.quadratic_forms(self.block), forms, "has wrong quadratic forms of a block")
        self.by_kernel(stack.quadratic_forms(v)[:, None], (K @ v @ v)[:, None], "has wrong quadratic forms")
        self.by_kernel(stack.traces()[:, None], np.trace(K, axis1=1, axis2=2)[:, None], "has wrong traces")
        self.by_kernel(stack.diagonals(), np.diagonal(K, axis1=1, axis2=2), "has wrong diagonals")

    def _check_solve(self) -> None:
        weights = np.abs(self.weights)
        for what, mu in (("", weights), (" without weights", np.zeros_like(weights))):
            matrix = np.tensordot(mu, self.reference, axes=1)
            shift = 0.1 + np.arange(len(matrix)) / len(matrix)
            solve = self.stack.shifted_solve(protected(mu), protected(shift))
            shifted = matrix + np.diag(shift)
            for rhs in (self.vector, self.block):
                kept = rhs.copy()
                solution = solve(rhs)
                self.require(np.array_equal(rhs, kept), "writes into a right-hand side")
                self.equal(solution, np.linalg.solve(shifted, rhs), f"solves a shifted system{what} wrongly")
