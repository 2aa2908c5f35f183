"""Named kernels, frozen on training samples and evaluated one matrix at a time.

Kernels on the same columns share the selection of the columns; those that are functions
of the same distance share its computation. Peak memory beyond the caller's: the selected
columns, one matrix of distances, one Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelweave.exceptions import InvalidKernelError, KernelweaveError
from kernelweave.kernels.arrays import as_gram
from kernelweave.kernels.base import FloatArray, Kernel, n_samples
from kernelweave.kernels.columns import Columns, resolve_columns, select_columns
from kernelweave.kernels.entries import Entry
from kernelweave.kernels.families import KernelFamily

__all__ = ["NamedKernel", "features_of", "freeze_kernels", "has_features", "iter_diagonals", "iter_grams", "lent_types"]


@dataclass(frozen=True)
class NamedKernel:
    """A kernel ready for training and new samples.

    Parameters
    ----------
    name : str
        Its name; members of a family are called ``family[label]``.
    kernel : Kernel
        Frozen: it depends on no training samples any more.
    columns : Columns
        The columns it reads.
    """

    name: str
    kernel: Kernel
    columns: Columns


def freeze_kernels(entries: Sequence[Entry], X: Any, y: Any = None, everything: Any = None) -> list[NamedKernel]:
    """Resolve columns, families and data-dependent settings on training samples.

    Parameters
    ----------
    entries : sequence of Entry
        From `resolve_entries`.
    X : array, sparse matrix, pandas or polars frame, or list
        Training samples.
    y : array-like of shape (n_samples,), optional
        Their classes, for kernels that learn from labels (method ``learn_from``).
    everything : like X, optional
        The training samples with the unlabelled ones after them, for families that are made of both.

    Returns
    -------
    list of NamedKernel
        In the order of the entries; a family gives several.

    Raises
    ------
    InvalidKernelError
        Naming the kernel: missing columns, columns that do not hold finite numbers, settings
        that make no sense.
    """
    named: list[NamedKernel] = []
    for entry in entries:
        with _naming(entry.name):
            columns = resolve_columns(entry.columns, X)
            samples = select_columns(X, columns, entry.kernel.vector_input)
            told = entry.kernel if y is None else _told(entry.kernel, samples, y)
            if everything is not None and getattr(told, "over_all_samples", False):
                samples = select_columns(everything, columns, entry.kernel.vector_input)
            if isinstance(told, KernelFamily):
                members = [(f"{entry.name}[{label}]", kernel) for label, kernel in told.members(samples)]
            else:
                members = [(entry.name, told.freeze(samples))]
        named += [NamedKernel(name, kernel, columns) for name, kernel in members]
    names = [member.name for member in named]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidKernelError(f"kernel '{repeated}': the name is used twice; names must be distinct")
    return named


def _told(kernel: Any, samples: Any, y: Any) -> Any:
    """The kernel (or family) with the labels told to whatever part of it learns from them."""
    if hasattr(kernel, "learn_from"):
        return kernel.learn_from(samples, y)
    parameters = kernel.get_params(deep=False)
    told = {name: _told(part, samples, y) for name, part in parameters.items() if isinstance(part, Kernel)}
    if all(part is parameters[name] for name, part in told.items()):
        return kernel
    return type(kernel)(**{**parameters, **told})


def iter_grams(
    named: Sequence[NamedKernel], X: Any, Y: Any = None, *, check_finite: bool = True
) -> Iterator[tuple[int, FloatArray, bool]]:
    """Evaluate kernels one after another, sharing what they share.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X, Y : array, sparse matrix, pandas or polars frame, or list
        Samples; ``Y = X`` when None.
    check_finite : bool, default=True
        Refuse results with NaN or infinity (one pass over each).

    Yields
    ------
    index : int
        Position in ``named``. The order is by shared columns and distances.
    K : ndarray of shape (n_x, n_y), dtype float64
        The matrix; float32 where the kernel gives that (a `Precomputed` float32 matrix).
    owned : bool
        Whether the caller may write into it. If not, it is somebody's memory, read-only.

    Raises
    ------
    InvalidKernelError
        Naming the kernel, and the place where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.kernels import RBF, Linear, freeze_kernels, iter_grams, resolve_entries
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> named = freeze_kernels(resolve_entries([("all", RBF("median")), ("second", Linear(), [1])]), X)
    >>> for index, K, owned in iter_grams(named, X):
    ...     print(named[index].name, K.round(2).tolist())
    all [[1.0, 0.61], [0.61, 1.0]]
    second [[1.0, 3.0], [3.0, 9.0]]
    """
    shape = (n_samples(X), n_samples(X if Y is None else Y))
    for group in _groups(named):
        samples = _select(named[group[0]], X)
        others = None if Y is None else _select(named[group[0]], Y)
        for index, gram in _group_grams(named, group, samples, others):
            with _naming(named[index].name):
                gram = as_gram(gram, shape)
                if check_finite:
                    _check_finite(gram)
            yield index, gram, bool(gram.flags.writeable)
            del gram


def iter_diagonals(named: Sequence[NamedKernel], X: Any) -> Iterator[tuple[int, FloatArray]]:
    """Diagonals ``k(x, x)`` of the kernels.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X : array, sparse matrix, pandas or polars frame, or list
        Samples.

    Yields
    ------
    index : int
        Position in ``named``. The order is by shared columns.
    diagonal : ndarray of shape (n_samples,), dtype float64
        The diagonal.

    Raises
    ------
    InvalidKernelError
        Naming the kernel, and the place where there is one.
    """
    n = n_samples(X)
    for group in _groups(named):
        samples = _select(named[group[0]], X)
        for index in group:
            with _naming(named[index].name):
                diagonal = np.asarray(named[index].kernel.diag(samples), dtype=np.float64)
                if diagonal.shape != (n,):
                    raise ValueError(f"diag returned shape {diagonal.shape} for {n} samples")
                _check_finite(diagonal)
            yield index, diagonal


def has_features(member: NamedKernel) -> bool:
    """Whether a kernel offers its feature map, ``k(x, z) = phi(x)'phi(z)``."""
    return callable(getattr(member.kernel, "features", None))


def features_of(member: NamedKernel, X: Any) -> Any:
    """Feature map of a kernel that offers one.

    Parameters
    ----------
    member : NamedKernel
        A frozen kernel for which `has_features` is true.
    X : array, sparse matrix, pandas or polars frame, or list
        Samples.

    Returns
    -------
    ndarray or sparse matrix of shape (n_samples, rank)
        ``phi(x)`` as rows.

    Raises
    ------
    InvalidKernelError
        Naming the kernel.
    """
    samples = _select(member, X)
    with _naming(member.name):
        return member.kernel.features(samples)


def lent_types(named: Sequence[NamedKernel], X: Any) -> list[np.dtype[Any] | None]:
    """Types of the matrices that need no memory of their own, because they exist already.

    Parameters
    ----------
    named : sequence of NamedKernel
        Frozen kernels.
    X : array, sparse matrix, pandas or polars frame, or list
        Samples.

    Returns
    -------
    list of dtype or None
        None where the matrix is to be computed.
    """
    types = []
    for member in named:
        with _naming(member.name):
            types.append(member.kernel.lends(_select(member, X)) if member.kernel.vector_input is False else None)
    return types


def _groups(named: Sequence[NamedKernel]) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for index, member in enumerate(named):
        groups.setdefault((member.columns, member.kernel.vector_input), []).append(index)
    return list(groups.values())


def _select(member: NamedKernel, X: Any) -> Any:
    with _naming(member.name):
        return select_columns(X, member.columns, member.kernel.vector_input)


def _group_grams(
    named: Sequence[NamedKernel], group: list[int], samples: Any, others: Any
) -> Iterator[tuple[int, FloatArray]]:
    shared: dict[str, list[int]] = {}
    for index in group:
        kernel = named[index].kernel
        if kernel.distance is not None:
            shared.setdefault(kernel.distance, []).append(index)
            continue
        with _naming(named[index].name):
            gram = kernel(samples, others)
        yield index, gram
        del gram  # while the next one is computed, this one is the caller's alone
    for members in shared.values():
        with _naming(named[members[0]].name):
            distances = named[members[0]].kernel.distances(samples, others)
        for index in members:
            # The last one may take the memory of the distances.
            out = distances if index == members[-1] else None
            with _naming(named[index].name):
                gram = named[index].kernel.from_distances(distances, out)
            yield index, gram
            del gram, out
        del distances


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the kernel in whatever goes wrong inside; running out of memory stays what it is."""
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except (ValueError, KernelweaveError) as error:
        raise InvalidKernelError(f"kernel '{name}': {error}") from error
    except Exception as error:
        raise InvalidKernelError(f"kernel '{name}': {type(error).__name__}: {error}") from error


def _check_finite(values: FloatArray) -> None:
    # One pass without a temporary: a sum is finite unless an entry is not (or it overflows).
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    where = np.argwhere(~np.isfinite(values))
    if where.size:
        place = tuple(int(i) for i in where[0])
        spot = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"the diagonal at sample {place[0]}"
        raise ValueError(f"the result holds {values[place]} in {spot}")
