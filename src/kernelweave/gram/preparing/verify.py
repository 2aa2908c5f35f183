"""Definiteness after the fit, where looking at every kernel beforehand would cost more than the fit.

The certificate of a fit assumes that the combined kernel is positive semidefinite; one
factorisation tells. Only when it fails are the spectra of single kernels computed, to name one.
"""

from __future__ import annotations

import numpy as np

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.build import PreparedKernels
from kernelweave.gram.preparing.checks import check_positive_semidefinite, is_positive_semidefinite

__all__ = ["verify_combined_kernel"]


def verify_combined_kernel(stack: GramStack, prepared: PreparedKernels, weights: FloatArray) -> None:
    """Refuse weights on kernels that are not what they claim to be.

    Parameters
    ----------
    stack : GramStack
        The prepared kernels, n x n.
    prepared : PreparedKernels
        Their names, and which of them rest on a claim that nobody has looked at.
    weights : ndarray of shape (m,)
        Nonnegative kernel weights.

    Raises
    ------
    InvalidKernelError
        Naming the indefinite kernel, with its smallest eigenvalue.
    """
    doubtful = [i for i in prepared.unverified if weights[i] > 0]
    if not doubtful or is_positive_semidefinite(stack.combine(weights), stack.dtype):
        return
    rows = np.arange(stack.shape[0], dtype=np.intp)
    for i in doubtful:
        matrix = stack.read(np.array([i], dtype=np.intp), rows)[0]
        check_positive_semidefinite(matrix, prepared.named[i].name, stack.dtype)
