"""Kernels made from callables, metric names and Gaussian process kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from kernelweave.kernels.arrays import as_dense, as_gram, as_pair, is_sparse, read_only
from kernelweave.kernels.base import FloatArray, Kernel, n_samples

__all__ = ["FunctionKernel", "GaussianProcessKernel", "MetricKernel", "as_kernel"]

# scikit-learn's loops for these refuse read-only and sparse samples.
_WRITABLE_METRICS = frozenset({"additive_chi2", "chi2"})
_INDEFINITE_METRICS = frozenset({"additive_chi2", "sigmoid"})
_UNIT_DIAGONAL_METRICS = frozenset({"rbf", "laplacian", "chi2"})


def as_kernel(kernel: Any) -> Kernel:
    """Turn what users write into a kernel.

    Parameters
    ----------
    kernel : Kernel, callable, str or sklearn.gaussian_process kernel
        A kernel of this package; a callable ``k(X, Y) -> (len(X), len(Y))``; the name of a
        metric of ``sklearn.metrics.pairwise.pairwise_kernels``; a Gaussian process kernel.

    Returns
    -------
    Kernel
        The kernel (the same object if it already is one).

    Raises
    ------
    ValueError
        For an unknown name.
    TypeError
        For anything else.

    Examples
    --------
    >>> from kernelweave.kernels import as_kernel
    >>> as_kernel("rbf")
    MetricKernel(metric='rbf')
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type):
        raise TypeError(f"{kernel.__name__} is a class; give an instance: {kernel.__name__}(...)")
    if isinstance(kernel, str):
        _check_metric(kernel)
        return MetricKernel(kernel)
    if hasattr(kernel, "requires_vector_input") and hasattr(kernel, "diag"):
        return GaussianProcessKernel(kernel)
    if callable(kernel):
        return FunctionKernel(kernel)
    hint = "; wrap a matrix: Precomputed(K)" if hasattr(kernel, "shape") else ""
    raise TypeError(
        f"a kernel is one of kernelweave.kernels, a callable k(X, Y), a metric name or a Gaussian process kernel, "
        f"got {type(kernel).__name__}{hint}"
    )


class FunctionKernel(Kernel):
    """A kernel given as a callable.

    It counts as symmetric and positive semidefinite until a Gram matrix shows otherwise.

    Parameters
    ----------
    function : callable
        ``k(X, Y) -> (len(X), len(Y))``, always called with both. It gets what the columns
        hold: rows of numbers as a float64 matrix (CSR if the samples are sparse), else an
        array of objects, of shape (n_samples,) for one column.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import FunctionKernel
    >>> FunctionKernel(lambda X, Y: np.minimum(X, Y.T))(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    vector_input = None

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """The callable's matrix, read-only: it may be the callable's own memory."""
        other = X if Y is None else Y
        return read_only(as_gram(self.function(X, other), (n_samples(X), n_samples(other))))


class MetricKernel(Kernel):
    """A kernel named as in ``sklearn.metrics.pairwise.pairwise_kernels``.

    Parameters
    ----------
    metric : str
        "linear", "polynomial", "rbf", "laplacian", "cosine", "chi2", "additive_chi2" or
        "sigmoid".
    params : dict, optional
        Keyword arguments of the metric; scikit-learn's defaults otherwise.

    Examples
    --------
    >>> from kernelweave.kernels import MetricKernel
    >>> MetricKernel("rbf", {"gamma": 0.5})([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    def __init__(self, metric: str, params: Mapping[str, Any] | None = None) -> None:
        self.metric = metric
        self.params = params

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """What is known of the metric."""
        return self.metric not in _INDEFINITE_METRICS

    @property
    def unit_diagonal(self) -> bool:  # type: ignore[override]
        """What is known of the metric."""
        return self.metric in _UNIT_DIAGONAL_METRICS

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """``pairwise_kernels(X, Y, metric=metric, **params)``."""
        _check_metric(self.metric)
        left, right = as_pair(X, Y)
        if self.metric in _WRITABLE_METRICS:
            left, right = (np.array(matrix) for matrix in (as_dense(left), as_dense(right)))
        gram = np.asarray(
            pairwise_kernels(left, None if Y is None else right, metric=self.metric, **(self.params or {})),
            dtype=np.float64,
        )
        if Y is None and self.unit_diagonal:
            np.fill_diagonal(gram, 1.0)
        return gram


class GaussianProcessKernel(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, with its hyperparameters as they are.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel. White noise counts on the diagonal of a set of samples, not between sets.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> from kernelweave.kernels import GaussianProcessKernel
    >>> GaussianProcessKernel(Matern(nu=1.5))([[0.0], [2.0]]).round(3)
    array([[1.  , 0.14],
           [0.14, 1.  ]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def vector_input(self) -> bool:  # type: ignore[override]
        """What the kernel says."""
        return bool(self.kernel.requires_vector_input)

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """``kernel(X, Y)``."""
        samples = self._samples(X)
        return np.asarray(self.kernel(samples, None if Y is None else self._samples(Y)), dtype=np.float64)

    def diag(self, X: Any) -> FloatArray:
        """``kernel.diag(X)``."""
        return np.asarray(self.kernel.diag(self._samples(X)), dtype=np.float64)

    def _samples(self, X: Any) -> Any:
        if is_sparse(X):
            return X.toarray()
        return np.asarray(X, dtype=np.float64) if self.vector_input else X


def _check_metric(name: str) -> None:
    known = sorted(kernel_metrics())
    if name == "precomputed":
        raise ValueError("give the matrix itself: Precomputed(K), with row indices as samples")
    if name not in known:
        raise ValueError(f"unknown kernel name {name!r}; the names are {', '.join(known)}")
