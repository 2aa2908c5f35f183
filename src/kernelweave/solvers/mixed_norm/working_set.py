"""Which entries of alpha join the working set.

At the slopes w of the loss, an entry at zero violates optimality by how far z = K'w passes what the
penalty holds against it: lam for single entries and for groups that come as a whole, lam ||alpha_g||_1
for the members of an elitist group. The worst violators join, about as many as are in use already.
"""

from __future__ import annotations

import numpy as np

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.problems.penalties import MixedNorm

__all__ = ["violators"]

_FIRST = 200  # entries to begin with
_FIRST_KERNELS = 2
_PER_SAMPLE = 2  # of the kernels of one sample
_PER_KERNEL = 20  # of the samples of one kernel, at least


def violators(
    penalty: MixedNorm, strength: float, alpha: FloatArray, z: FloatArray, inside: FloatArray | np.ndarray
) -> IntArray:
    """Entries to add, by their position in the row-major array.

    Parameters
    ----------
    penalty : MixedNorm
        p, q and r.
    strength : float
        lam.
    alpha, z : ndarray of shape (n_points, n_kernels)
        Coefficients, and inner products of all columns with the slopes.
    inside : ndarray of shape (n_points, n_kernels), dtype bool
        Entries that are in the set.

    Returns
    -------
    ndarray of intp
    """
    if penalty.separable:
        return _entries(np.abs(z), strength, inside, int((alpha != 0).sum()))
    if penalty.q == 1:
        return _groups(penalty, z, strength, inside, alpha)
    return _members(penalty, np.abs(z), strength, inside, alpha)


def _largest(scores: FloatArray, count: int) -> IntArray:
    count = min(count, len(scores))
    return np.argpartition(scores, len(scores) - count)[len(scores) - count :] if count else np.zeros(0, np.intp)


def _entries(magnitudes: FloatArray, strength: float, inside: np.ndarray, used: int) -> IntArray:
    scores = np.where(inside, 0.0, magnitudes).ravel()
    chosen = _largest(scores, max(_FIRST, 2 * used))
    return chosen[scores[chosen] > strength]


def _groups(penalty: MixedNorm, z: FloatArray, strength: float, inside: np.ndarray, alpha: FloatArray) -> IntArray:
    axis = 1 if penalty.r == 1 else 0
    norms = np.where(inside.any(axis=axis), 0.0, penalty.dual_norms(z))
    used = int((alpha != 0).any(axis=axis).sum())
    first = max(1, _FIRST // z.shape[1]) if penalty.r == 1 else _FIRST_KERNELS
    chosen = _largest(norms, max(first, 2 * used if penalty.r == 1 else used))
    chosen = chosen[norms[chosen] > strength]
    mask = np.zeros(z.shape, dtype=bool)
    if penalty.r == 1:
        mask[chosen] = True
    else:
        mask[:, chosen] = True
    return np.flatnonzero(mask)


def _members(
    penalty: MixedNorm, magnitudes: FloatArray, strength: float, inside: np.ndarray, alpha: FloatArray
) -> IntArray:
    axis = 1 if penalty.r == 1 else 0
    held = strength * np.abs(alpha).sum(axis=axis, keepdims=True)
    scores = np.where(inside | (magnitudes <= held), 0.0, magnitudes)
    per_group = _PER_SAMPLE if penalty.r == 1 else max(_PER_KERNEL, int((alpha != 0).sum(axis=0).max()))
    size = scores.shape[axis]
    if per_group < size:
        # Everything below the per_group-th largest of its group waits for a later round.
        kth = np.partition(scores, size - per_group, axis=axis)
        floor = np.take(kth, [size - per_group], axis=axis)
        scores = np.where(scores >= floor, scores, 0.0)
    return np.flatnonzero(scores)
