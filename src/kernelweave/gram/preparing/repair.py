"""Repair of the spectrum of an indefinite kernel, fitted on training samples and applied to new ones by one rule.

With ``K = V diag(l) V'`` over the training samples, "clip" sets negative eigenvalues to zero and "flip" takes their
absolute values; "shift" adds the size of the most negative one to the diagonal.

The first two are one formula. Let l' be the repaired eigenvalues (factor times l, with factor 0 or -1, where l is
negative) and r_x the row ``k(x, .)`` against the training samples. The repaired kernel is

    k'(x, z) = k(x, z) + r_x V diag((l' - l) / l^2) V' r_z'                 (over the negative eigenvalues)

for any two samples. Between training samples this is V diag(l') V', between a new one and training samples
r_x V diag(l' / l) V': the projection on the positive eigenvectors, or the reflection of the negative ones. A kernel
without negative eigenvalues stays exactly what it is.

For a new sample with itself, ``r_x V / l`` extends the eigenvectors to x. Where l is nearly zero that extension can be
anything; it is held to [-1, 1], which no entry of a unit vector leaves, so that a negative eigenvalue that is no more
than noise cannot blow up k'(x, x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from kernelweave.gram.base import FloatArray
from kernelweave.gram.preparing.checks import is_positive_semidefinite

__all__ = ["REPAIRS", "Repair", "fit_repair"]

REPAIRS = ("clip", "flip", "shift")

_FACTORS = {"clip": 0.0, "flip": -1.0}


@dataclass(frozen=True)
class Repair:
    """Fitted repair of one kernel.

    Parameters
    ----------
    kind : {"clip", "flip", "shift"}
        What is done.
    values : ndarray of shape (k,)
        The negative eigenvalues; for "shift" the most negative one alone.
    vectors : ndarray of shape (n, k)
        Their eigenvectors over the training samples; no columns for "shift".

    References
    ----------
    .. [1] Chen, Garcia, Gupta, Rahimi, Cazzanti, "Similarity-based classification: concepts and algorithms",
       JMLR 10, 2009.
    """

    kind: str
    values: FloatArray
    vectors: FloatArray

    @property
    def needs_all_columns(self) -> bool:
        """Whether the repaired value at one training sample depends on the values at all of them."""
        return self.kind != "shift"

    def of_training(self, matrix: npt.NDArray[np.floating]) -> FloatArray:
        """The repaired training matrix (n, n), a new float64 array."""
        repaired = matrix.astype(np.float64, copy=True)
        if self.kind == "shift":
            repaired[np.diag_indices_from(repaired)] -= self.values[0]
            return repaired
        # A product with its own transpose is exactly symmetric.
        root = self.vectors * np.sqrt((_FACTORS[self.kind] - 1.0) * self.values)
        repaired += root @ root.T
        return repaired

    def apply_to_new(self, block: FloatArray, diagonal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Repair kernel values of new samples, overwriting the first argument.

        Parameters
        ----------
        block : ndarray of shape (n_new, n)
            Kernel values against the training samples: all of them where `needs_all_columns`.
        diagonal : ndarray of shape (n_new,)
            ``k(x, x)`` of the new samples.

        Returns
        -------
        block : ndarray of shape (n_new, n)
            Repaired; unchanged by "shift", which concerns pairs of a sample with itself.
        diagonal : ndarray of shape (n_new,)
            Repaired, a new array.
        """
        if self.kind == "shift":
            return block, diagonal - self.values[0]
        change = _FACTORS[self.kind] - 1.0
        parts = block @ self.vectors
        block += (change * parts) @ self.vectors.T
        extended = np.minimum((parts / self.values) ** 2, 1.0)
        return block, diagonal + extended @ (change * self.values)


def fit_repair(matrix: npt.NDArray[np.floating], kind: str) -> Repair | None:
    """Look for negative eigenvalues of a training matrix, which is not changed.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric finite kernel values.
    kind : {"clip", "flip", "shift"}
        What to do about them.

    Returns
    -------
    Repair or None
        None when no eigenvalue is more negative than rounding makes it.

    Raises
    ------
    ValueError
        For another kind.

    Examples
    --------
    >>> import numpy as np
    >>> fit_repair(np.array([[1.0, 2.0], [2.0, 1.0]]), "shift").values
    array([-1.])
    >>> fit_repair(np.eye(2), "shift") is None
    True
    """
    if kind not in REPAIRS:
        raise ValueError(f"psd_repair must be one of {REPAIRS} or None; got {kind!r}.")
    precision = float(np.finfo(matrix.dtype).eps)
    symmetric = matrix.astype(np.float64)
    # Errors of computed eigenvalues, and of stored entries, are of this size.
    rounding = len(matrix) * precision * float(np.linalg.norm(symmetric))
    if is_positive_semidefinite(symmetric, tolerance=rounding):
        return None
    if kind == "shift":
        smallest = scipy.linalg.eigvalsh(symmetric, subset_by_index=[0, 0], overwrite_a=True, check_finite=False)
        return Repair(kind, smallest, np.zeros((len(matrix), 0))) if smallest[0] < -rounding else None
    values, vectors = scipy.linalg.eigh(
        symmetric, subset_by_value=(-np.inf, -rounding), overwrite_a=True, check_finite=False
    )
    return Repair(kind, values, np.ascontiguousarray(vectors)) if len(values) else None
