"""What a matrix must satisfy where a positive semidefinite kernel is assumed.

One fused pass finds non-finite entries, asymmetry and |K_ij|^2 > K_ii K_jj. Definiteness itself
costs a factorisation, so it is asked of a matrix only where there is reason to.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg
from numba import njit

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray

__all__ = [
    "check_diagonal",
    "check_kernel_matrix",
    "check_positive_semidefinite",
    "is_positive_semidefinite",
    "psd_tolerance",
    "refuse_asymmetric_kernel",
]

_FINE, _NOT_FINITE, _ASYMMETRIC, _NOT_DOMINATED = 0, 1, 2, 3
_WAYS_ON = (
    "Check how it was computed, use a kernel that is positive semidefinite, let the estimator repair it "
    "(psd_repair='clip', 'flip' or 'shift'), or use MixedNormClassifier, which takes any kernel."
)


@njit(cache=True)
def _first_fault(
    matrix: npt.NDArray[np.floating], roots: FloatArray, slack: float, definite: bool
) -> tuple[int, int, int]:
    """Kind and place of the first fault; entries may differ from their mirror by ``slack`` of the diagonal."""
    n, tile = matrix.shape[0], 32
    for r0 in range(0, n, tile):
        for c0 in range(0, r0 + 1, tile):
            for r in range(r0, min(r0 + tile, n)):
                for c in range(c0, min(c0 + tile, r + 1)):
                    a, b = float(matrix[r, c]), float(matrix[c, r])
                    if not np.isfinite(a):
                        return _NOT_FINITE, r, c
                    if not np.isfinite(b):
                        return _NOT_FINITE, c, r
                    bound = roots[r] * roots[c]
                    if abs(a - b) > slack * max(bound, abs(a), abs(b)):
                        return _ASYMMETRIC, r, c
                    if definite and abs(a) > bound * (1.0 + slack) + slack * 1e-300:
                        return _NOT_DOMINATED, r, c
    return _FINE, 0, 0


def check_diagonal(diagonal: FloatArray, name: str) -> None:
    """Refuse a negative ``k(x, x)``.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Diagonal of the kernel matrix.
    name : str
        Name of the kernel, for the message.

    Raises
    ------
    InvalidKernelError
        Naming the kernel and the row.
    """
    if (diagonal < 0).any():
        row = int(np.nanargmin(diagonal))
        raise InvalidKernelError(
            f"Kernel '{name}' has a negative diagonal entry ({diagonal[row]:.3g} at row {row}); "
            f"a positive semidefinite kernel cannot. {_WAYS_ON}"
        )


def refuse_asymmetric_kernel(symmetric: bool, name: str) -> None:
    """Refuse a kernel that says itself that it is not symmetric.

    Parameters
    ----------
    symmetric : bool
        What it says.
    name : str
        Name of the kernel, for the message.

    Raises
    ------
    InvalidKernelError
        Naming the kernel and the ways on.
    """
    if not symmetric:
        raise InvalidKernelError(
            f"Kernel '{name}' is not symmetric by its nature, and the weights of margins and alignments need symmetric "
            "ones. Use its symmetric form, where it has one (such as KullbackLeibler(symmetrize=True)), or "
            "MixedNormClassifier, which takes any kernel."
        )


def check_kernel_matrix(matrix: npt.NDArray[np.floating], name: str, *, definite: bool = True) -> None:
    """Refuse a matrix that is not finite, symmetric, and dominated by its diagonal.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), float64 or float32
        Kernel values, not changed.
    name : str
        Name of the kernel, for the message.
    definite : bool, default=True
        Whether it must be dominated by its diagonal, as a positive semidefinite one is.

    Raises
    ------
    InvalidKernelError
        Naming the kernel, the fault and its place.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidKernelError(f"Kernel '{name}' must be a square matrix; got shape {matrix.shape}.")
    diagonal = np.array(np.diagonal(matrix), dtype=np.float64)
    if definite:
        check_diagonal(diagonal, name)
    else:
        # The diagonal says nothing about the size of the other entries.
        diagonal = np.full(len(matrix), max(float(matrix.max(initial=0.0)), -float(matrix.min(initial=0.0))))
    slack = 1e-8 if matrix.dtype == np.float64 else len(matrix) * float(np.finfo(np.float32).eps)
    view = matrix.view()
    view.flags.writeable = False
    kind, row, col = _first_fault(view, np.sqrt(np.maximum(diagonal, 0.0)), slack, definite)
    if kind == _NOT_FINITE:
        raise InvalidKernelError(
            f"Kernel '{name}' has the value {matrix[row, col]} at row {row}, column {col}; every entry must be finite."
        )
    if kind == _ASYMMETRIC:
        raise InvalidKernelError(
            f"Kernel '{name}' is not symmetric: {matrix[row, col]:.6g} at ({row}, {col}) but {matrix[col, row]:.6g} "
            f"at ({col}, {row}){_smallest(0.5 * (matrix + matrix.T))}. Check how it was computed, take the mean of it "
            "and its transpose, (K + K.T) / 2, or use MixedNormClassifier, which takes any kernel."
        )
    if kind == _NOT_DOMINATED:
        raise InvalidKernelError(
            f"Kernel '{name}' is not positive semidefinite: its entry {matrix[row, col]:.6g} at ({row}, {col}) exceeds "
            f"the diagonal there ({diagonal[row]:.6g}, {diagonal[col]:.6g}){_smallest(matrix)}. {_WAYS_ON}"
        )


def _smallest(matrix: npt.NDArray[np.floating]) -> str:
    # Only reached on the way to an error, so the cost does not matter; huge matrices are spared.
    if len(matrix) > 3000 or not np.isfinite(matrix).all():
        return ""
    smallest = scipy.linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0]
    return f"; the smallest eigenvalue of its symmetric part is {smallest:.6g}"


def psd_tolerance(matrix: npt.NDArray[np.floating], storage: npt.DTypeLike = np.float64) -> float:
    """How negative an eigenvalue may be before a matrix counts as indefinite: rounding, not structure."""
    largest = float(np.max(np.diagonal(matrix)))
    return largest * (1e-8 if np.dtype(storage) == np.float64 else len(matrix) * float(np.finfo(np.float32).eps))


def is_positive_semidefinite(
    matrix: FloatArray, storage: npt.DTypeLike = np.float64, *, tolerance: float | None = None
) -> bool:
    """Whether a Cholesky factorisation succeeds after a shift by a tolerance, that of `psd_tolerance` when None."""
    shifted = matrix.astype(np.float64, copy=True)
    shifted[np.diag_indices_from(shifted)] += psd_tolerance(matrix, storage) if tolerance is None else tolerance
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def check_positive_semidefinite(matrix: FloatArray, name: str, storage: npt.DTypeLike = np.float64) -> None:
    """Refuse an indefinite matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric kernel values.
    name : str
        Name of the kernel, for the message.
    storage : dtype
        Precision the entries were stored in.

    Raises
    ------
    InvalidKernelError
        With the smallest eigenvalue.
    """
    if is_positive_semidefinite(matrix, storage):
        return
    smallest = scipy.linalg.eigvalsh(matrix.astype(np.float64), subset_by_index=[0, 0])[0]
    if smallest < -psd_tolerance(matrix, storage):
        raise InvalidKernelError(
            f"Kernel '{name}' is not positive semidefinite: its smallest eigenvalue is {smallest:.6g}. {_WAYS_ON}"
        )
