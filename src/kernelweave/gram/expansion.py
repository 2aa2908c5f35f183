"""From named kernels to the stack of an expansion: samples by expansion points, no property assumed.

Kernels may be indefinite, not symmetric, not square. Only finite entries are asked for. Computed
matrices are stored one after another (in memory or in a temporary file), given ones are borrowed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import InvalidKernelError
from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.build import PreparedKernels
from kernelweave.gram.lazy import LazyStack
from kernelweave.gram.preparing.memory import check_memory
from kernelweave.gram.preparing.preparation import Preparation, inverse_roots
from kernelweave.gram.rectangular import RectangularStack
from kernelweave.kernels.base import n_samples
from kernelweave.kernels.evaluate import NamedKernel, iter_diagonals, iter_grams, lent_types

__all__ = ["build_expansion"]

Scales = list[FloatArray | None]


def build_expansion(
    named: Sequence[NamedKernel],
    X: Any,
    points: Any,
    *,
    normalize: str | None = None,
    storage: str = "auto",
    dtype: npt.DTypeLike = np.float64,
    point_weights: FloatArray | None = None,
) -> tuple[GramStack, PreparedKernels]:
    """Evaluate kernels between samples and expansion points.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X : samples
        The n training samples.
    points : samples
        The expansion points; X itself where they are the same.
    normalize : {"cosine", "trace", "frobenius"} or None
        Unit diagonal, trace n, or entries of mean square one.
    storage : {"auto", "dense", "memmap", "lazy"}
        "auto" is in memory; "memmap" in a temporary file; "lazy" evaluates again at each pass.
    dtype : dtype
        float64 or float32 storage of what is computed.
    point_weights : ndarray of shape (n_points,), optional
        Factors of the columns in the stack, not in the preparation.

    Returns
    -------
    stack : GramStack
        n_samples x n_points.
    prepared : PreparedKernels
        What new samples need; its training samples are the points.

    Raises
    ------
    InvalidKernelError
        Naming the kernel that is not finite, or cannot be normalised.
    MemoryLimitError
        When the matrices would not fit into memory.
    """
    named = list(named)
    if storage == "lazy":
        matrices, rms = None, _root_mean_squares(named, X, points) if normalize == "frobenius" else None
    else:
        matrices = _evaluated(named, X, points, storage=storage, dtype=np.dtype(dtype))
        rms = [_root_mean_square(matrix) for matrix in matrices] if normalize == "frobenius" else None
    preparations = _preparations(named, points, normalize, rms)
    rows, columns = _scales(named, X, points, preparations, point_weights)
    prepared = PreparedKernels(named, preparations)
    if matrices is None:
        return LazyStack(named, X, points, rows, columns), prepared
    return RectangularStack(matrices, rows, columns), prepared


def _evaluated(
    named: list[NamedKernel], X: Any, points: Any, *, storage: str, dtype: np.dtype[Any]
) -> list[npt.NDArray[Any]]:
    same = points is X
    n, n_points = n_samples(X), n_samples(points)
    lent = lent_types(named, X) if same else [None] * len(named)
    target = None
    if storage == "memmap":
        # Unlinked at once, where the system allows: the file goes with the last reference to it.
        with tempfile.TemporaryFile(prefix="kernelweave-") as file:
            target = np.memmap(file, dtype=dtype, mode="w+", shape=(len(named), n, n_points))
    else:
        borrowed = [given is not None and (given == dtype or dtype == np.float64) for given in lent]
        check_memory(max(n, n_points), len(named) - sum(borrowed), dtype)
    matrices: list[Any] = [None] * len(named)
    for i, matrix, owned in iter_grams(named, X, None if same else points):
        if target is not None:
            target[i] = matrix
            matrices[i] = target[i]
        elif owned or matrix.dtype == np.float64 != dtype:
            matrices[i] = matrix.astype(dtype, copy=False)
        else:
            # Somebody else's memory, in float32 where they have it so.
            matrices[i] = matrix
    return matrices


def _root_mean_square(matrix: npt.NDArray[Any]) -> float:
    # Row by row: no copy of a float32 or mapped matrix.
    return float(np.sqrt(sum(float(np.einsum("j,j->", row, row, dtype=np.float64)) for row in matrix) / matrix.size))


def _root_mean_squares(named: list[NamedKernel], X: Any, points: Any) -> list[float]:
    stack = LazyStack(named, X, points)
    total = np.zeros(len(named))
    for rows in stack._blocks():
        total += np.einsum("krc,krc->k", *[stack.read(stack._all, rows)] * 2)
    return [float(root) for root in np.sqrt(total / (stack.shape[0] * stack.shape[1]))]


def _preparations(
    named: list[NamedKernel], points: Any, normalize: str | None, rms: list[float] | None
) -> list[Preparation]:
    n = n_samples(points)
    scales: Scales = [None] * len(named)
    if rms is not None:
        for i, root in enumerate(rms):
            if not root > 0:
                raise _zero(named[i])
            scales[i] = _constant(1.0 / np.sqrt(root), n)
    elif normalize is not None:
        for i, diagonal in iter_diagonals(named, points):
            name = named[i].name
            if (diagonal < 0).any():
                row = int(np.argmin(diagonal))
                raise InvalidKernelError(
                    f"Kernel '{name}' has k(x, x) = {diagonal[row]:.3g} at sample {row}, so {normalize} normalisation "
                    "makes no sense; use normalize='frobenius' or None."
                )
            if not diagonal.any():
                raise _zero(named[i])
            if normalize == "trace":
                scales[i] = _constant(np.sqrt(n / diagonal.sum()), n)
            elif not (diagonal == 1).all():
                scales[i] = inverse_roots(diagonal, name, "sample")
    # Of a kernel that need not be symmetric or square no trace is known, and none is asked for.
    return [
        Preparation(member.name, normalize, None, 0.0, scale, float("nan"))
        for member, scale in zip(named, scales, strict=True)
    ]


def _constant(value: float, n: int) -> FloatArray:
    return np.full(n, value)


def _zero(member: NamedKernel) -> InvalidKernelError:
    return InvalidKernelError(
        f"Kernel '{member.name}' is zero on the training samples, so it cannot be normalised. "
        "Leave it out, or check its columns and settings."
    )


def _scales(
    named: list[NamedKernel],
    X: Any,
    points: Any,
    preparations: list[Preparation],
    point_weights: FloatArray | None,
) -> tuple[Scales, Scales]:
    """Row and column scales that apply the preparations to raw matrices."""
    columns = [preparation.scale for preparation in preparations]
    rows: Scales = [None if scale is None else _constant(scale[0], n_samples(X)) for scale in columns]
    by_sample = [i for i, preparation in enumerate(preparations) if preparation.needs_diagonal]
    for position, diagonal in iter_diagonals([named[i] for i in by_sample], X):
        i = by_sample[position]
        rows[i] = columns[i] if points is X else inverse_roots(diagonal, named[i].name, "sample")
    if point_weights is not None:
        columns = [point_weights if scale is None else scale * point_weights for scale in columns]
    return rows, columns
