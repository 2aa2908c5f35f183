"""The rank-one kernels of a kernel's eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from kernelweave.kernels.base import FloatArray, Kernel, n_samples
from kernelweave.kernels.families import KernelFamily

__all__ = ["EigenComponent", "EigenFamily"]


class EigenComponent(Kernel):
    """``k(x, z) = phi(x) phi(z)`` for one combination ``phi`` of kernel functions; made by `EigenFamily`.

    Parameters
    ----------
    kernel : Kernel
        k_0, frozen.
    landmarks : samples
        Samples x_j as ``kernel`` takes them.
    coefficients : array-like of shape (n_landmarks,)
        c of ``phi(x) = sum_j c_j k_0(x, x_j)``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import EigenComponent, Linear
    >>> EigenComponent(Linear(), np.eye(2), [1.0, 2.0])([[1.0, 1.0], [0.0, 1.0]])
    array([[9., 6.],
           [6., 4.]])
    """

    proven = True
    single_feature = True

    def __init__(self, kernel: Kernel, landmarks: Any, coefficients: Any) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.coefficients = coefficients

    @property
    def vector_input(self) -> bool | None:  # type: ignore[override]
        """That of ``kernel``."""
        return self.kernel.vector_input

    def features(self, X: Any) -> FloatArray:
        """``phi(x)`` for every sample, shape (n_samples, 1)."""
        return self.kernel(X, self.landmarks) @ np.asarray(self.coefficients, dtype=np.float64)[:, None]

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Evaluate the kernel."""
        left = self.features(X)
        return left @ (left if Y is None else self.features(Y)).T

    def diag(self, X: Any) -> FloatArray:
        """``phi(x)^2`` for every sample."""
        return self.features(X)[:, 0] ** 2


class EigenFamily(KernelFamily):
    """One rank-one kernel ``v_i v_i'`` for each leading eigenvector of a kernel matrix.

    Learned weights then replace the spectrum of ``kernel`` ([L04], section 4.6 with the programs (32), (37),
    (42) and (46)): a combination is positive semidefinite exactly when all weights are nonnegative, so nothing is
    lost by nonnegative weights. Eigenvectors run over labelled and unlabelled samples; new samples get
    ``v_i(x) = sum_j k(x, x_j) v_ij / lambda_i``.

    Cosine normalisation would leave only the signs of a rank-one kernel: estimators scale these to trace n instead.

    Parameters
    ----------
    kernel : Kernel
        The kernel whose spectrum is to be learned, positive semidefinite.
    n_components : int or None, default=None
        Number of eigenvectors, those of the largest eigenvalues; None for all that are not rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave import MKLClassifier
    >>> from kernelweave.kernels import RBF, EigenFamily
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = MKLClassifier([("shape", EigenFamily(RBF(), n_components=5))]).fit(X, X[:, 0] > 0)
    >>> model.kernel_names_.tolist()
    ['shape[1]', 'shape[2]', 'shape[3]', 'shape[4]', 'shape[5]']
    """

    over_all_samples = True

    def __init__(self, kernel: Kernel, n_components: int | None = None) -> None:
        self.kernel = kernel
        self.n_components = n_components

    @property
    def vector_input(self) -> bool | None:  # type: ignore[override]
        """That of ``kernel``."""
        return getattr(self.kernel, "vector_input", True)

    def members(self, X: Any) -> list[tuple[str, Kernel]]:
        """The rank-one kernels, labelled 1, 2, ... by falling eigenvalue."""
        count = self._count(n_samples(X))
        frozen = self.kernel.freeze(X)
        K = np.asarray(frozen(X), dtype=np.float64)
        if not np.isfinite(K).all():
            raise ValueError("a family of eigenvectors needs finite kernel values")
        n = len(K)
        values, vectors = scipy.linalg.eigh(0.5 * (K + K.T), subset_by_index=(n - count, n - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
        # Below, a component is made of rounding errors, and dividing by its eigenvalue would blow them up.
        kept = values > n * np.finfo(float).eps * max(float(values[0]), 0.0)
        if not kept.any():
            raise ValueError("a family of eigenvectors needs a kernel that is positive somewhere")
        pairs = zip(values[kept], vectors.T[kept], strict=True)
        return [(str(i), EigenComponent(frozen, X, vector / value)) for i, (value, vector) in enumerate(pairs, 1)]

    def _count(self, n: int) -> int:
        if not isinstance(self.kernel, Kernel) or not (self.kernel.symmetric and self.kernel.positive_semidefinite):
            raise ValueError(f"a family of eigenvectors needs a positive semidefinite kernel, got {self.kernel!r}")
        if self.n_components is None:
            return n
        if isinstance(self.n_components, bool) or self.n_components != int(self.n_components) or self.n_components < 1:
            raise ValueError(f"n_components must be a positive whole number or None, got {self.n_components!r}")
        return min(int(self.n_components), n)
