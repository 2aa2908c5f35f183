"""Kernels of Gaussian distributions: a sample is a mean and a covariance.

With ``covariance="diagonal"`` a sample is a row of d means and d variances, with "full" a row of d means
and the d x d covariance matrix, row by row. `gaussian_rows` makes such rows from bags of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelweave.kernels.arrays import as_dense, as_pair
from kernelweave.kernels.base import FloatArray
from kernelweave.kernels.vector.exponential import ExponentialKernel

__all__ = ["GaussianJensenShannon", "GaussianKullbackLeibler", "gaussian_rows"]

_KINDS = ("diagonal", "full")


class _GaussianDivergence(ExponentialKernel):
    """Exponential of a divergence between Gaussians, given row by row of X."""

    positive_semidefinite = False
    covariance: str

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Divergences of the Gaussians X from the Gaussians Y, shape (n_x, n_y)."""
        left, right = as_pair(X, Y)
        first = _gaussians(left, self.covariance)
        second = first if right is left else _gaussians(right, self.covariance)
        result = self._divergences(first, second)
        np.maximum(result, 0.0, out=result)
        if second is first:
            np.fill_diagonal(result, 0.0)
        return result

    def _divergences(self, first: _Diagonal | _Full, second: _Diagonal | _Full) -> FloatArray:
        raise NotImplementedError


class GaussianKullbackLeibler(_GaussianDivergence):
    """The exponential Kullback-Leibler kernel of Gaussians, ``k(x, z) = exp(-gamma KL(N_x || N_z))``.

    ``KL(N_x || N_z) = (tr(S_z^-1 S_x) + (m_z - m_x)' S_z^-1 (m_z - m_x) - d + log(|S_z| / |S_x|)) / 2``. Neither
    symmetric nor positive semidefinite; with ``symmetrize`` symmetric, and still indefinite.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median divergence between distinct training samples (of at
        most 1000 of them, as for `RBF`), of two directions the mean.
    covariance : {"diagonal", "full"}, default="diagonal"
        What a sample holds: d means and d variances, or d means and d x d covariances row by row.
    symmetrize : bool, default=False
        Take ``KL(N_x || N_z) + KL(N_z || N_x)`` instead.

    References
    ----------
    .. [1] Moreno, Ho, Vasconcelos, "A Kullback-Leibler divergence based kernel for SVM classification in
       multimedia applications", NIPS 2003.

    Examples
    --------
    Mean 0 with variance 1, and mean 1 with variance 4:

    >>> from kernelweave.kernels import GaussianKullbackLeibler
    >>> GaussianKullbackLeibler(gamma=1.0)([[0.0, 1.0], [1.0, 4.0]]).round(3)
    array([[1.   , 0.642],
           [0.271, 1.   ]])
    """

    def __init__(
        self, gamma: float | str = "median", *, covariance: str = "diagonal", symmetrize: bool = False
    ) -> None:
        self.gamma = gamma
        self.covariance = covariance
        self.symmetrize = symmetrize

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether both directions are added."""
        return bool(self.symmetrize)

    @property
    def distance(self) -> str:  # type: ignore[override]
        """The divergence with its settings."""
        return f"gaussian kullback-leibler({self.covariance}, {bool(self.symmetrize)})"

    def _divergences(self, first: Any, second: Any) -> FloatArray:
        result: FloatArray = first.kullback_leibler(second)
        if self.symmetrize:
            result = result + (result.T if second is first else second.kullback_leibler(first).T)
        return result


class GaussianJensenShannon(_GaussianDivergence):
    """A Jensen-Shannon kernel of Gaussians, ``k(x, z) = exp(-gamma JS(N_x, N_z))``.

    The divergence of Gaussians has no closed form, because their mixture is no Gaussian. As usual the mixture is
    replaced by the Gaussian with its mean and covariance ``S = (S_x + S_z) / 2 + (m_x - m_z)(m_x - m_z)' / 4``:
    ``JS = (2 log|S| - log|S_x| - log|S_z|) / 4``, an upper bound that, unlike the divergence itself, can exceed
    log 2. The kernel is ``|S|^(-gamma/2)`` up to factors of one sample: positive semidefinite for whole
    gamma and for every gamma from d - 1 on, and indefinite in general for other values.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median divergence between distinct training samples (of at
        most 1000 of them, as for `RBF`).
    covariance : {"diagonal", "full"}, default="diagonal"
        What a sample holds: d means and d variances, or d means and d x d covariances row by row.

    References
    ----------
    .. [1] Chan, Vasconcelos, Moreno, "A family of probabilistic kernels based on information divergence",
       UCSD technical report SVCL-TR 2004/01.
    .. [2] Cuturi, Fukumizu, Vert, "Semigroup kernels on measures", JMLR 6, 2005 (powers of determinants).

    Examples
    --------
    >>> from kernelweave.kernels import GaussianJensenShannon
    >>> GaussianJensenShannon(gamma=1.0)([[0.0, 1.0], [1.0, 4.0]]).round(3)
    array([[1.   , 0.853],
           [0.853, 1.   ]])
    """

    def __init__(self, gamma: float | str = "median", *, covariance: str = "diagonal") -> None:
        self.gamma = gamma
        self.covariance = covariance

    @property
    def distance(self) -> str:  # type: ignore[override]
        """The divergence with its setting."""
        return f"gaussian jensen-shannon({self.covariance})"

    def _divergences(self, first: Any, second: Any) -> FloatArray:
        return first.jensen_shannon(second)


class _Diagonal:
    """Gaussians with diagonal covariances."""

    def __init__(self, means: FloatArray, variances: FloatArray) -> None:
        if (variances <= 0).any():
            row, column = np.argwhere(variances <= 0)[0]
            raise ValueError(f"variance {column} of sample {row} is {variances[row, column]:.3g}, not positive")
        self.means, self.variances = means, variances
        self.log_determinants = np.log(variances).sum(axis=1)

    def kullback_leibler(self, other: _Diagonal) -> FloatArray:
        result = np.empty((len(self.means), len(other.means)))
        for j, (mean, variance) in enumerate(zip(other.means, other.variances, strict=True)):
            excess = (self.variances - variance + (self.means - mean) ** 2) / variance
            result[:, j] = excess.sum(axis=1) + other.log_determinants[j] - self.log_determinants
        return 0.5 * result

    def jensen_shannon(self, other: _Diagonal) -> FloatArray:
        result = np.empty((len(self.means), len(other.means)))
        for j, (mean, variance) in enumerate(zip(other.means, other.variances, strict=True)):
            between = 0.5 * (self.variances + variance)
            apart = 0.25 * ((self.means - mean) ** 2 / between).sum(axis=1)
            # |D + v v'| = |D| (1 + v' D^-1 v)
            result[:, j] = np.log(between).sum(axis=1) + np.log1p(apart)
        return 0.5 * result - 0.25 * (self.log_determinants[:, None] + other.log_determinants)


class _Full:
    """Gaussians with full covariances."""

    def __init__(self, means: FloatArray, covariances: FloatArray) -> None:
        self.means, self.covariances = means, covariances
        self.log_determinants = np.empty(len(means))
        self.inverses = np.empty_like(covariances)
        for i, covariance in enumerate(covariances):
            scale = float(np.abs(covariance).max(initial=0.0))
            if (np.abs(covariance - covariance.T) > 1e-8 * scale).any():
                raise ValueError(f"the covariance of sample {i} is not symmetric")
            try:
                root = np.linalg.cholesky(covariance)
            except np.linalg.LinAlgError:
                raise ValueError(f"the covariance of sample {i} is not positive definite") from None
            self.log_determinants[i] = 2.0 * np.log(np.diagonal(root)).sum()
            self.inverses[i] = np.linalg.inv(covariance)

    def kullback_leibler(self, other: _Full) -> FloatArray:
        n, m, d = len(self.means), len(other.means), self.means.shape[1]
        result = self.covariances.reshape(n, -1) @ other.inverses.reshape(m, -1).T - d
        for j, (mean, inverse) in enumerate(zip(other.means, other.inverses, strict=True)):
            apart = self.means - mean
            result[:, j] += np.einsum("id,de,ie->i", apart, inverse, apart)
        return 0.5 * (result + other.log_determinants - self.log_determinants[:, None])

    def jensen_shannon(self, other: _Full) -> FloatArray:
        result = np.empty((len(self.means), len(other.means)))
        for j, (mean, covariance) in enumerate(zip(other.means, other.covariances, strict=True)):
            apart = self.means - mean
            joint = 0.5 * (self.covariances + covariance) + 0.25 * apart[:, :, None] * apart[:, None, :]
            result[:, j] = np.linalg.slogdet(joint)[1]
        return 0.5 * result - 0.25 * (self.log_determinants[:, None] + other.log_determinants)


def _gaussians(matrix: Any, covariance: str) -> _Diagonal | _Full:
    if covariance not in _KINDS:
        raise ValueError(f"covariance must be one of {_KINDS}, got {covariance!r}")
    rows = as_dense(matrix)
    width = rows.shape[1]
    d = width // 2 if covariance == "diagonal" else int(np.sqrt(width))
    if width != (2 * d if covariance == "diagonal" else d + d * d) or d == 0:
        layout = "d means and d variances" if covariance == "diagonal" else "d means and d x d covariances"
        raise ValueError(f"a sample must hold {layout}, but it has {width} numbers")
    if covariance == "diagonal":
        return _Diagonal(rows[:, :d], rows[:, d:])
    return _Full(rows[:, :d], rows[:, d:].reshape(len(rows), d, d))


def gaussian_rows(bags: Sequence[Any], *, covariance: str = "diagonal", shrinkage: float = 0.1) -> FloatArray:
    """Fit a Gaussian to each bag of points, as samples of the kernels of Gaussians.

    Parameters
    ----------
    bags : sequence of array-like of shape (n_points, d)
        One bag a sample; the numbers of points may differ.
    covariance : {"diagonal", "full"}, default="diagonal"
        Layout of the rows.
    shrinkage : float, default=0.1
        Share s of a spherical covariance: ``(1 - s) S + s tr(S)/d I`` with S that of the bag, so that few points
        give no singular covariance. From 0 to 1.

    Returns
    -------
    ndarray of shape (n_bags, 2 d) or (n_bags, d + d^2), dtype float64
        Means, then variances or covariances.

    Raises
    ------
    ValueError
        For a bag without spread or of another width, or a bad setting.

    Examples
    --------
    >>> from kernelweave.kernels import gaussian_rows
    >>> gaussian_rows([[[0.0, 0.0], [2.0, 4.0]]], shrinkage=0.0)
    array([[1., 2., 1., 4.]])
    """
    if covariance not in _KINDS:
        raise ValueError(f"covariance must be one of {_KINDS}, got {covariance!r}")
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, got {shrinkage!r}")
    clouds = [np.asarray(bag, dtype=np.float64) for bag in bags]
    for i, points in enumerate(clouds):
        if points.ndim != 2 or not points.size or points.shape[1] != clouds[0].shape[1]:
            raise ValueError(
                f"bag {i} has shape {points.shape}, expected (n_points, d) with at least one point and one d for all"
            )
    rows = [_fitted(points, covariance, shrinkage) for points in clouds]
    flat = [i for i, row in enumerate(rows) if not np.isfinite(row).all()]
    if flat:
        raise ValueError(f"bag {flat[0]} has no spread: all its points are the same")
    return np.array(rows)


def _fitted(points: FloatArray, covariance: str, shrinkage: float) -> FloatArray:
    """Mean and covariance of one bag as a row; NaN where all points are the same."""
    mean, d = points.mean(axis=0), points.shape[1]
    spread = (points - mean).T @ (points - mean) / len(points)
    size = np.trace(spread) / d
    spread = (1.0 - shrinkage) * spread + shrinkage * (size if size > 0 else np.nan) * np.eye(d)
    return np.concatenate([mean, np.diagonal(spread) if covariance == "diagonal" else spread.ravel()])
