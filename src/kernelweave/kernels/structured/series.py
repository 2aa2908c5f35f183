"""Kernels of time series."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.kernels.arrays import as_dense, read_only
from kernelweave.kernels.base import FloatArray
from kernelweave.kernels.structured import sequence_loops
from kernelweave.kernels.structured.substitution import DistanceSubstitution

__all__ = ["DynamicTimeWarping"]

_COSTS = ("squared", "absolute")


class DynamicTimeWarping(DistanceSubstitution):
    """Similarity of time series up to local changes of speed.

    The distance D of two series is the smallest sum of costs over all ways to run through both together,
    each step moving on in one of them or in both. It breaks the triangle inequality, and kernels made from it are
    indefinite. With the defaults the kernel is ``exp(-gamma D)`` of squared differences.

    Parameters
    ----------
    gamma : float or "median", default="median"
        Width factor; "median" is one over the median of ``D^power`` between distinct training samples (of at
        most 1000 of them, as for `RBF`).
    band : int or None, default=None
        How many positions apart two matched values may lie (Sakoe and Chiba); at least the difference of the
        lengths is always allowed. None for any, 0 with equal lengths for none.
    cost : {"squared", "absolute"}, default="squared"
        A match of two values costs their squared distance, or the sum of absolute differences.
    form : {"exponential", "negative"}, default="exponential"
        ``exp(-gamma D^power)`` or ``-gamma D^power``.
    power : float, default=1.0
        With "squared", 0.5 gives the root of the sum, which some packages call the distance.

    References
    ----------
    .. [1] Sakoe, Chiba, "Dynamic programming algorithm optimization for spoken word recognition", IEEE
       Transactions on Acoustics, Speech and Signal Processing 26, 1978.
    .. [2] Bahlmann, Haasdonk, Burkhardt, "On-line handwriting recognition with support vector machines: a
       kernel approach", IWFHR 2002.

    Examples
    --------
    Series of equal length are the rows of a matrix; others a list (or an array of objects) of arrays of shape
    (length,) or (length, d):

    >>> from kernelweave.kernels import DynamicTimeWarping
    >>> DynamicTimeWarping(gamma=1.0)([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]]).round(3)
    array([[1.   , 1.   , 0.368],
           [1.   , 1.   , 0.135],
           [0.368, 0.135, 1.   ]])
    """

    vector_input = None

    def __init__(
        self,
        gamma: float | str = "median",
        *,
        band: int | None = None,
        cost: str = "squared",
        form: str = "exponential",
        power: float = 1.0,
    ) -> None:
        self.gamma = gamma
        self.band = band
        self.cost = cost
        self.form = form
        self.power = power

    @property
    def distance(self) -> str:  # type: ignore[override]
        """The distance with its settings."""
        return f"dynamic time warping({self.band}, {self.cost})"

    def distances(self, X: Any, Y: Any = None) -> FloatArray:
        """Sums of costs along the best paths, shape (n_x, n_y)."""
        if self.cost not in _COSTS:
            raise ValueError(f"cost must be one of {_COSTS}, got {self.cost!r}")
        if self.band is not None and not (isinstance(self.band, int | np.integer) and self.band >= 0):
            raise ValueError(f"band must be a whole number of at least 0 or None, got {self.band!r}")
        same = Y is None or Y is X
        left = _joined(X)
        right = left if same else _joined(Y)
        if left[0].shape[1] != right[0].shape[1]:
            raise ValueError(f"the series have {left[0].shape[1]} and {right[0].shape[1]} values at each time")
        out = np.empty((len(left[1]) - 1, len(right[1]) - 1))
        band = -1 if self.band is None else int(self.band)
        sequence_loops.warp(*left, *right, band, self.cost == "squared", same, out)
        return out


def _joined(X: Any) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """All values one after another, shape (total, d), and where each series begins."""
    X = as_dense(X)
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim in (2, 3):
        n, length = X.shape[:2]
        starts = np.arange(n + 1, dtype=np.int64) * length
        values = np.ascontiguousarray(X, dtype=np.float64).reshape(n * length, -1 if X.ndim == 3 else 1)
    else:
        parts = [_one_series(series, i) for i, series in enumerate(X)]
        widths = {part.shape[1] for part in parts}
        if len(widths) > 1:
            raise ValueError(f"the series have different numbers of values at each time: {sorted(widths)}")
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        values = np.concatenate(parts) if parts else np.zeros((0, 1))
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(f"series {int(np.searchsorted(starts, place, side='right')) - 1} holds NaN or infinity")
    if (np.diff(starts) == 0).any():
        raise ValueError(f"series {int(np.argmin(np.diff(starts)))} is empty")
    return read_only(values), read_only(starts)


def _one_series(series: Any, number: int) -> FloatArray:
    values = np.asarray(series, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise ValueError(f"series {number} has shape {values.shape}, expected (length,) or (length, d)")
    return np.ascontiguousarray(values.reshape(len(values), -1 if values.size else 1))
