"""What a kernel promises, and the algebra of kernels.

A kernel says what similarity is: parameters in the constructor, nothing learned. Settings
that depend on data (``gamma="scale"``) are resolved by `freeze`, which hands back a new kernel.

The algebra lives here because the operators of `Kernel` build its classes: sums and
products of positive semidefinite kernels are positive semidefinite (the product by
Schur's theorem), and so is a nonnegative multiple.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

__all__ = ["FloatArray", "Kernel", "Product", "Scaled", "Sum", "n_samples"]

FloatArray = npt.NDArray[np.float64]

_DIAGONAL_BLOCK = 32


def n_samples(X: Any) -> int:
    """Number of samples of an array, a sparse matrix, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class Kernel(BaseEstimator):
    """Base class of the kernels.

    A subclass implements ``__call__`` and states what it promises in the class attributes.
    ``a + b``, ``a * b`` and ``2.0 * a`` are kernels again.

    Attributes
    ----------
    symmetric : bool
        ``k(x, z) = k(z, x)``.
    positive_semidefinite : bool
        Every Gram matrix is positive semidefinite. True where it is the user's claim
        (a callable, a given matrix), which whoever relies on it has to check.
    proven : bool
        ``positive_semidefinite`` is a theorem for this kernel, not a claim, so nobody needs to check.
    unit_diagonal : bool
        ``k(x, x) = 1`` for every x.
    distance : str or None
        Name of the pairwise distance the kernel is a function of ("sqeuclidean",
        "manhattan", "chi2"). Kernels on the same columns with the same name share one
        computation, so a distance with parameters has them in its name.
    single_feature : bool
        ``k(x, z) = phi(x) phi(z)`` with numbers, of which a unit diagonal would leave the signs.
    vector_input : bool or None
        Samples are rows of a numeric matrix (False for sequences, indices, graphs; None:
        whatever the columns hold).

    Examples
    --------
    A kernel of one's own, here of strings (`kernelweave.testing.check_kernel` checks the rest
    of the contract):

    >>> import numpy as np
    >>> from kernelweave.kernels import Kernel
    >>> class SharedLetters(Kernel):
    ...     vector_input = False
    ...     def __call__(self, X, Y=None):
    ...         return np.array([[float(len(set(a) & set(b))) for b in (X if Y is None else Y)] for a in X])
    >>> (0.5 * SharedLetters())(["kernel", "weave"])
    array([[2.5, 0.5],
           [0.5, 2. ]])
    """

    symmetric: bool = True
    positive_semidefinite: bool = True
    proven: bool = False
    unit_diagonal: bool = False
    single_feature: bool = False
    distance: str | None = None
    vector_input: bool | None = True

    # numpy scalars then leave ``scalar * kernel`` to us instead of making object arrays.
    __array_ufunc__ = None

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Evaluate the kernel.

        Parameters
        ----------
        X, Y : array-like of shape (n_x, n_features), (n_y, n_features)
            Samples; ``Y = X`` when None.

        Returns
        -------
        ndarray of shape (n_x, n_y), dtype float64
            ``k(x_i, y_j)``; float32 where the kernel was given its values so. A new array the
            caller may write into, unless it is flagged read-only: then it is borrowed.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement __call__(X, Y=None)")

    def diag(self, X: Any) -> FloatArray:
        """``k(x, x)`` for every sample, shape (n_x,)."""
        n = n_samples(X)
        if self.unit_diagonal:
            return np.ones(n)
        # Blocks save calls on vectors; on structured samples a pair costs more than a call.
        step = 1 if self.vector_input is False else _DIAGONAL_BLOCK
        blocks = [np.diagonal(self(X[i : i + step])) for i in range(0, n, step)]
        return np.concatenate(blocks, dtype=np.float64) if blocks else np.zeros(0)

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

    def lends(self, X: Any) -> np.dtype[Any] | None:
        """Type of the matrix on X where it is memory that exists already (read-only), else None.

        Asked before anything is allocated, so it must cost next to nothing.
        """
        return None

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """The pairwise distances named by `distance`, a new array of shape (n_x, n_y)."""
        raise NotImplementedError(f"{type(self).__name__} is not a function of a distance")

    def from_distances(self, distances: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Kernel values from pairwise distances.

        Parameters
        ----------
        distances : ndarray of shape (n_x, n_y), dtype float64
            From `distances`; not changed unless it is also ``out``.
        out : ndarray of shape (n_x, n_y), dtype float64, optional
            Where to put the values, possibly ``distances`` itself; a new array when None.

        Returns
        -------
        ndarray of shape (n_x, n_y), dtype float64
            The values.
        """
        raise NotImplementedError(f"{type(self).__name__} is not a function of a distance")

    def __add__(self, other: Any) -> Sum:
        return Sum(self, _kernel(other, "add"))

    def __radd__(self, other: Any) -> Kernel:
        # What the built-in sum() starts from.
        return self if isinstance(other, int) and other == 0 else Sum(_kernel(other, "add"), self)

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return Scaled(self, float(other))
        return Product(self, _kernel(other, "multiply"))

    def __rmul__(self, other: Any) -> Kernel:
        return self * other


def _kernel(other: Any, verb: str) -> Kernel:
    # An error instead of NotImplemented: a GP kernel would otherwise swallow ours as a constant.
    if not isinstance(other, Kernel):
        raise TypeError(
            f"cannot {verb} a kernel and {type(other).__name__}; turn it into a kernel first: "
            "kernelweave.kernels.as_kernel(...)"
        )
    return other


class _Pair(Kernel):
    """Two kernels of the same samples, combined entry by entry."""

    _operation: np.ufunc

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether both kernels are."""
        return self.left.symmetric and self.right.symmetric

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether both kernels are."""
        return self.left.positive_semidefinite and self.right.positive_semidefinite

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """Whether it is a theorem for both."""
        return self.left.proven and self.right.proven

    @property
    def vector_input(self) -> bool | None:  # type: ignore[override]
        """What the two agree on."""
        wanted = {self.left.vector_input, self.right.vector_input} - {None}
        if len(wanted) > 1:
            raise ValueError(
                f"{self!r} joins a kernel of numeric vectors and one of structured samples; "
                "give each its own entry and columns instead"
            )
        return wanted.pop() if wanted else None

    @property
    def distance(self) -> str | None:  # type: ignore[override]
        """The distance that both kernels are functions of."""
        return self.left.distance if self.left.distance == self.right.distance else None

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """The two matrices combined."""
        return _joined(self._operation, self.left(X, Y), self.right(X, Y))

    def diag(self, X: Any) -> FloatArray:
        """The two diagonals combined."""
        return self._operation(self.left.diag(X), self.right.diag(X))

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """The distances that both kernels are functions of."""
        return self.left.distances(X, Y)

    def from_distances(self, distances: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """The two matrices from shared distances, combined."""
        left = self.left.from_distances(distances)
        # The right one last: it may overwrite the distances, and its memory then holds the result.
        return _joined(self._operation, self.right.from_distances(distances, out), left)

    def freeze(self, X: Any) -> Kernel:
        """Freeze both kernels on the training samples."""
        left, right = self.left.freeze(X), self.right.freeze(X)
        return self if left is self.left and right is self.right else type(self)(left, right)


class Sum(_Pair):
    """Sum of two kernels.

    Parameters
    ----------
    left, right : Kernel
        The kernels.

    Examples
    --------
    >>> from kernelweave.kernels import Linear, RBF
    >>> (Linear() + RBF(gamma=1.0))([[0.0], [2.0]]).round(3)
    array([[1.   , 0.018],
           [0.018, 5.   ]])
    """

    _operation = np.add

    @available_if(lambda self: hasattr(self.left, "features") and hasattr(self.right, "features"))
    def features(self, X: Any) -> Any:
        """The two factors side by side."""
        parts = [self.left.features(X), self.right.features(X)]
        return scipy.sparse.hstack(parts, format="csr") if any(map(scipy.sparse.issparse, parts)) else np.hstack(parts)


class Product(_Pair):
    """Entrywise product of two kernels.

    Parameters
    ----------
    left, right : Kernel
        The kernels.

    Examples
    --------
    >>> from kernelweave.kernels import Linear
    >>> (Linear() * Linear())([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    _operation = np.multiply

    @property
    def unit_diagonal(self) -> bool:  # type: ignore[override]
        """Whether both kernels have one."""
        return self.left.unit_diagonal and self.right.unit_diagonal


class Scaled(Kernel):
    """A multiple of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    scale : float
        The factor. A negative one is allowed, and declared indefinite.

    Examples
    --------
    >>> from kernelweave.kernels import Linear
    >>> (2.0 * Linear())([[1.0], [2.0]])
    array([[2., 4.],
           [4., 8.]])
    """

    def __init__(self, kernel: Kernel, scale: float = 1.0) -> None:
        self.kernel = kernel
        self.scale = scale

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether the kernel is."""
        return self.kernel.symmetric

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the kernel is, and the factor is not negative."""
        return self.kernel.positive_semidefinite and self.scale >= 0

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """Whether it is a theorem for the kernel."""
        return self.kernel.proven

    @property
    def unit_diagonal(self) -> bool:  # type: ignore[override]
        """Whether the kernel has one, and the factor is one."""
        return self.kernel.unit_diagonal and self.scale == 1

    @property
    def vector_input(self) -> bool | None:  # type: ignore[override]
        """As the kernel."""
        return self.kernel.vector_input

    @property
    def distance(self) -> str | None:  # type: ignore[override]
        """As the kernel."""
        return self.kernel.distance

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """``scale * kernel(X, Y)``."""
        return _joined(np.multiply, self.kernel(X, Y), np.float64(self.scale))

    def diag(self, X: Any) -> FloatArray:
        """Multiple of the diagonal."""
        return self.scale * self.kernel.diag(X)

    @available_if(lambda self: self.scale >= 0 and hasattr(self.kernel, "features"))
    def features(self, X: Any) -> Any:
        """The kernel's factor, times the root of the scale."""
        return self.kernel.features(X) * np.sqrt(self.scale)

    def freeze(self, X: Any) -> Kernel:
        """Freeze the kernel on the training samples."""
        kernel = self.kernel.freeze(X)
        return self if kernel is self.kernel else Scaled(kernel, self.scale)

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """The distances that the kernel is a function of."""
        return self.kernel.distances(X, Y)

    def from_distances(self, distances: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """``scale * kernel.from_distances(distances)``."""
        return _joined(np.multiply, self.kernel.from_distances(distances, out), np.float64(self.scale))


def _joined(operation: np.ufunc, left: FloatArray, right: FloatArray | np.float64) -> FloatArray:
    # Work in place where the left result is ours: Gram matrices are large.
    own = left.flags.writeable and left.dtype == np.float64
    return operation(left, right, out=left if own else None, dtype=np.float64)
