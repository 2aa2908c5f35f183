"""A conformance suite for kernels, also for those written elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelweave.kernels.arrays import as_dense, is_sparse
from kernelweave.kernels.base import FloatArray, Kernel, n_samples
from kernelweave.testing.requirements import Requirements, protected

__all__ = ["check_kernel"]

# The tolerance that the Gram layer applies to the smallest eigenvalue (relative to the
# largest diagonal entry), and one for symmetry.
_PSD_TOLERANCE = 1e-8
_TOLERANCE = 1e-9


def check_kernel(kernel: Kernel, X: Any, Y: Any = None) -> None:
    """Check that a kernel keeps the contract of `kernelweave.kernels.Kernel`.

    Checked are: the parameters (``get_params``, ``set_params``, ``clone``, pickle); that
    ``freeze`` resolves everything once and leaves the kernel alone; shape, type and finiteness
    of the matrix; the promises (symmetric, positive semidefinite, unit diagonal); that
    ``diag``, blocks, new samples, ``features`` and shared distances agree with the matrix;
    that neither the samples nor earlier results are written into.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like or sparse matrix of at least four samples
        Training samples as the kernel takes them, without duplicates.
    Y : array-like or sparse matrix, optional
        New samples; the second half of X when None.

    Raises
    ------
    AssertionError
        Naming the kernel and what it breaks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF
    >>> from kernelweave.testing import check_kernel
    >>> check_kernel(RBF(gamma="median"), np.arange(10.0).reshape(5, 2))
    """
    if n_samples(X) < 4:
        raise ValueError(f"check_kernel needs at least four samples, got {n_samples(X)}")
    X = _protected(X)
    Y = X[n_samples(X) // 2 :] if Y is None else _protected(Y)
    require = Requirements(repr(kernel), "its samples")
    before = _content(X), _content(Y)
    frozen = _frozen(kernel, X, require)
    with require.nothing_raised("on training samples"):
        gram = frozen(X)
    _check_matrix(gram, X, require)
    with require.nothing_raised("when frozen again"):
        require.close(frozen.freeze(Y)(X), gram, "changes when it is frozen again on other samples")
    _check_promises(frozen, gram, require)
    _check_parameters(kernel, frozen, gram, X, require)
    _check_agreement(frozen, gram, X, Y, require)
    _check_sharing(frozen, gram, X, Y, require)
    require((_content(X), _content(Y)) == before, "writes into its samples")


def _protected(X: Any) -> Any:
    """A copy that cannot be written into unnoticed."""
    if is_sparse(X):
        copy = X.copy()
        for part in ("data", "indices", "indptr"):
            if hasattr(copy, part):
                getattr(copy, part).flags.writeable = False
        return copy
    return protected(X) if isinstance(X, np.ndarray) else pickle.loads(pickle.dumps(X))


def _content(X: Any) -> bytes:
    # A sparse matrix also remembers whether it was found sorted.
    return pickle.dumps((X.data, X.indices, X.indptr) if hasattr(X, "indptr") else X)


def _frozen(kernel: Kernel, X: Any, require: Requirements) -> Kernel:
    before = repr(kernel.get_params())
    with require.nothing_raised("when frozen"):
        frozen = kernel.freeze(X)
        require(isinstance(frozen, Kernel), "is not frozen to a Kernel")
        require(repr(kernel.get_params()) == before, "has other parameters after freeze")
    return frozen


def _check_matrix(gram: Any, X: Any, require: Requirements) -> None:
    n = n_samples(X)
    require(isinstance(gram, np.ndarray), f"returns {type(gram).__name__}, not an ndarray")
    require(gram.shape == (n, n), f"returns shape {gram.shape} for {n} samples")
    require(gram.dtype in (np.float64, np.float32), f"returns {gram.dtype}, not float64 (or float32)")
    require(np.isfinite(gram).all(), "returns NaN or infinity")
    if isinstance(X, np.ndarray) and gram.flags.writeable:
        require(not np.shares_memory(gram, X), "returns the memory of its samples as its own")


def _check_promises(kernel: Kernel, gram: FloatArray, require: Requirements) -> None:
    diagonal = np.diagonal(gram)
    scale = float(np.abs(gram).max())
    if kernel.symmetric:
        error = float(np.abs(gram - gram.T).max())
        require(error <= _TOLERANCE * scale, f"promises symmetry, but k(x, z) and k(z, x) differ by {error:.2g}")
    if kernel.positive_semidefinite:
        require(kernel.symmetric, "promises to be positive semidefinite but not symmetric")
        smallest = float(np.linalg.eigvalsh(np.asarray(gram, dtype=np.float64)).min())
        tolerance = _PSD_TOLERANCE if gram.dtype == np.float64 else len(gram) * np.finfo(np.float32).eps
        require(
            smallest >= -tolerance * max(float(diagonal.max()), 0.0),
            f"promises to be positive semidefinite, but its smallest eigenvalue is {smallest:.2g}",
        )
    if kernel.unit_diagonal:
        error = float(np.abs(diagonal - 1.0).max())
        require(error <= 1e-12, f"promises k(x, x) = 1, but the diagonal is off by {error:.2g}")


def _check_parameters(kernel: Kernel, frozen: Kernel, gram: FloatArray, X: Any, require: Requirements) -> None:
    parameters = kernel.get_params(deep=False)
    for name, value in parameters.items():
        require(getattr(kernel, name) is value, f"does not keep its parameter {name} as given")
    copies: dict[str, Callable[[], Kernel]] = {
        "clone": lambda: clone(kernel),
        "set_params": lambda: clone(kernel).set_params(**parameters),
        "pickle": lambda: pickle.loads(pickle.dumps(kernel)),
    }
    for how, copy in copies.items():
        with require.nothing_raised(f"under {how}"):
            require.close(copy().freeze(X)(X), gram, f"has other values after {how}")
    with require.nothing_raised("under pickle of the frozen kernel"):
        require.close(pickle.loads(pickle.dumps(frozen))(X), gram, "has other values after pickle of the frozen kernel")


def _check_agreement(kernel: Kernel, gram: FloatArray, X: Any, Y: Any, require: Requirements) -> None:
    n, rows = n_samples(X), slice(1, n_samples(X) // 2 + 1)
    with require.nothing_raised("on blocks and new samples"):
        require.close(kernel.diag(X), np.diagonal(gram).astype(np.float64), "has a diag(X) other than k(X)'s diagonal")
        require.close(kernel(X, X[rows]), gram[:, rows], "has other values on (X, part of X) than on X")
        require.close(kernel(X[rows]), gram[rows, rows], "has other values on a part of X than on X")
        cross = kernel(X, Y)
        require(np.shape(cross) == (n, n_samples(Y)), f"returns shape {np.shape(cross)} for {n} and {n_samples(Y)}")
        require(np.isfinite(cross).all(), "returns NaN or infinity on new samples")
        if kernel.symmetric:
            require.close(np.asarray(kernel(Y, X)).T, cross, "promises symmetry, but k(Y, X)' is not k(X, Y)")
        if hasattr(kernel, "features"):
            left, right = as_dense(kernel.features(X)), as_dense(kernel.features(Y))
            require.close(left @ right.T, cross, "has features whose products are not k(X, Y)")


def _check_sharing(kernel: Kernel, gram: FloatArray, X: Any, Y: Any, require: Requirements) -> None:
    kept = gram.copy()
    second = kernel(X)
    if second.flags.writeable:
        require(not np.shares_memory(second, gram), "returns the same memory twice, and writable")
    if kernel.distance is not None:
        _check_distances(kernel, X, Y, require)
    require(np.array_equal(gram, kept), "writes into an earlier result")


def _check_distances(kernel: Kernel, X: Any, Y: Any, require: Requirements) -> None:
    with require.nothing_raised("on shared distances"):
        for other in (None, Y):
            expected = kernel(X, other)
            distances = kernel.distances(X, other)
            kept = distances.copy()
            require.close(kernel.from_distances(distances), expected, "has other values from distances")
            require(np.array_equal(distances, kept), "writes into shared distances")
            result = kernel.from_distances(distances, distances)
            require(result is distances, "does not put values from distances where it is told to")
            require.close(result, expected, "has other values from distances in place")
