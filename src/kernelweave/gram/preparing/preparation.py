"""Centring and normalisation of one kernel, fitted on training samples and applied to new ones.

Order: the kernel, then the repair of its spectrum where one is asked for, then centring (subtract the training
means in feature space), then normalisation ("cosine": unit diagonal; "trace": trace n). With u = m - g/2, m the row
means over the training samples and g their mean, the centred kernel is K - u 1' - 1 u'.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray
from kernelweave.gram.preparing.checks import check_diagonal
from kernelweave.gram.preparing.repair import Repair

__all__ = ["Preparation", "fit_preparation", "inverse_roots", "preparation_from"]


@dataclass(frozen=True)
class Preparation:
    """Fitted preparation of one kernel.

    Parameters
    ----------
    name : str
        Name of the kernel, for messages.
    normalize : {"cosine", "trace"} or None
        Kind of normalisation.
    shift : ndarray of shape (n,) or None
        u of the training samples; None without centring.
    grand_mean : float
        g, zero without centring.
    scale : ndarray of shape (n,) or None
        Factor of each training sample, applied on both sides; None when all are one.
    trace : float
        Trace of the prepared matrix over all training samples.
    repair : Repair or None
        Repair of the spectrum, before all else; None where nothing is to be done.
    """

    name: str
    normalize: str | None
    shift: FloatArray | None
    grand_mean: float
    scale: FloatArray | None
    trace: float
    repair: Repair | None = None

    @property
    def needs_all_columns(self) -> bool:
        """Whether new samples must be compared with every training sample, not just some."""
        return self.shift is not None or (self.repair is not None and self.repair.needs_all_columns)

    @property
    def needs_diagonal(self) -> bool:
        """Whether new samples are prepared with the help of their ``k(x, x)``."""
        return self.shift is not None or (self.normalize == "cosine" and self.scale is not None)

    def apply_in_place(self, matrix: FloatArray) -> FloatArray:
        """Prepare the training matrix (n, n), repaired already, overwriting it."""
        if self.shift is not None:
            matrix -= self.shift[:, None]
            matrix -= self.shift
        if self.scale is not None:
            matrix *= self.scale[:, None]
            matrix *= self.scale
        return matrix

    def apply_to_new(self, block: FloatArray, diagonal: FloatArray, columns: npt.NDArray[np.intp]) -> FloatArray:
        """Prepare kernel values of new samples against training samples, overwriting them.

        Parameters
        ----------
        block : ndarray of shape (n_new, len(columns))
            Kernel values against the training samples in ``columns``: all of them where `needs_all_columns`.
        diagonal : ndarray of shape (n_new,)
            ``k(x, x)`` of the new samples; not read unless `needs_diagonal`.
        columns : ndarray of intp
            Which training samples the columns are.
        """
        if self.repair is not None:
            block, diagonal = self.repair.apply_to_new(block, diagonal)
        if self.shift is not None:
            means = block.mean(axis=1)
            block -= (means - 0.5 * self.grand_mean)[:, None]
            block -= self.shift[columns]
            diagonal = diagonal - 2.0 * means + self.grand_mean
        if self.scale is not None:
            block *= self.scale[columns]
            if self.normalize == "cosine":
                block *= inverse_roots(diagonal, self.name, "new sample")[:, None]
            else:
                block *= self.scale[0]
        return block


def fit_preparation(
    matrix: npt.NDArray[np.floating], name: str, *, normalize: str | None, center: bool, repair: Repair | None = None
) -> Preparation:
    """Learn the preparation of a kernel from its training matrix, which is not changed.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric kernel values, repaired already.
    name : str
        Name of the kernel, for messages.
    normalize : {"cosine", "trace"} or None
        "cosine" for a unit diagonal, "trace" for trace n.
    center : bool
        Centre in feature space.
    repair : Repair or None, default=None
        The repair that was applied.

    Returns
    -------
    Preparation

    Raises
    ------
    InvalidKernelError
        For a negative diagonal entry, or a kernel that is zero (after centring).
    """
    diagonal = np.array(np.diagonal(matrix), dtype=np.float64)
    means = matrix.mean(axis=1, dtype=np.float64) if center else None
    return replace(preparation_from(diagonal, means, name, normalize=normalize), repair=repair)


def preparation_from(
    diagonal: FloatArray, means: FloatArray | None, name: str, *, normalize: str | None
) -> Preparation:
    """The same from the diagonal and (with centring) the row means alone: all a factor can tell cheaply."""
    n = len(diagonal)
    scale_of_raw = float(np.abs(diagonal).max())
    grand_mean, shift = 0.0, None
    check_diagonal(diagonal, name)
    if means is not None:
        grand_mean = float(means.mean())
        shift = means - 0.5 * grand_mean
        diagonal = diagonal - 2.0 * means + grand_mean
        # What is left of a constant feature is rounding, not signal.
        diagonal = np.where(diagonal > 4 * n * np.finfo(float).eps * scale_of_raw, diagonal, 0.0)
    trace = float(diagonal.sum())
    if trace <= 0:
        raise InvalidKernelError(
            f"Kernel '{name}' is zero on the training samples{' after centring' if means is not None else ''} "
            "(its trace is 0), so it cannot be weighed. Leave it out, or check its columns and settings."
        )
    scale = None
    if normalize == "cosine":
        scale = inverse_roots(diagonal, name, "row")
        trace = float(np.count_nonzero(scale))
        if np.array_equal(scale, np.ones(n)):
            scale = None
    elif normalize == "trace":
        scale = np.full(n, np.sqrt(n / trace))
        trace = float(n)
    return Preparation(name, normalize, shift, grand_mean, scale, trace)


def inverse_roots(diagonal: FloatArray, name: str, what: str) -> FloatArray:
    """``1 / sqrt(diagonal)``, with zero (and one warning) where the diagonal is zero."""
    zero = diagonal <= 0
    if zero.any():
        warnings.warn(
            f"Kernel '{name}' has k(x, x) = 0 at {what} {int(np.argmax(zero))}"
            + (f" and {int(zero.sum()) - 1} more" if zero.sum() > 1 else "")
            + "; such rows stay zero under cosine normalisation.",
            UserWarning,
            stacklevel=2,
        )
    return np.where(zero, 0.0, 1.0 / np.sqrt(np.where(zero, 1.0, diagonal)))
