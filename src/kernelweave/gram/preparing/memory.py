"""Refuse what would not fit before it is allocated."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import MemoryLimitError

__all__ = ["available_memory", "check_memory", "dense_bytes"]

# Beside the stack: the combined matrix, one matrix in the making, and its distances, all float64.
_WORKING_MATRICES = 3


def dense_bytes(n_samples: int, n_kernels: int, dtype: npt.DTypeLike) -> int:
    """Bytes that fitting on dense kernel matrices takes at its peak."""
    return n_samples**2 * (n_kernels * np.dtype(dtype).itemsize + _WORKING_MATRICES * 8)


def available_memory() -> int | None:
    """Bytes of memory that can still be had, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(n_samples: int, n_kernels: int, dtype: npt.DTypeLike) -> None:
    """Refuse a dense stack that would not fit.

    Parameters
    ----------
    n_samples, n_kernels : int
        Size of the stack.
    dtype : dtype
        Storage type.

    Raises
    ------
    MemoryLimitError
        With the estimate, what there is, and the ways on.
    """
    needed, available = dense_bytes(n_samples, n_kernels, dtype), available_memory()
    if available is None or needed <= available:
        return
    ways = "fit on fewer samples, leave kernels out, or use kernels with a feature map and storage='factor'"
    if np.dtype(dtype) == np.float64:
        halved = dense_bytes(n_samples, n_kernels, np.float32) / 2**30
        ways = f"use dtype='float32' ({halved:.1f} GiB), " + ways
    raise MemoryLimitError(
        f"{n_kernels} kernel matrices of {n_samples} samples need about {needed / 2**30:.1f} GiB of memory; "
        f"{available / 2**30:.1f} GiB are available. Ways on: {ways}."
    )
