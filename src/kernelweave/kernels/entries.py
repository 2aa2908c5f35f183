"""What users write as ``kernels=``, as a list of named entries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from kernelweave.kernels.adapters import FunctionKernel, GaussianProcessKernel, MetricKernel, as_kernel
from kernelweave.kernels.base import Kernel
from kernelweave.kernels.families import KernelFamily, auto_kernels

__all__ = ["Entry", "resolve_entries"]


@dataclass(frozen=True)
class Entry:
    """One entry of the list of kernels.

    Parameters
    ----------
    name : str
        Its name.
    kernel : Kernel or KernelFamily
        Not frozen yet.
    columns : object
        The choice of columns as written; None for all.
    """

    name: str
    kernel: Kernel | KernelFamily
    columns: Any = None


def resolve_entries(kernels: Any) -> list[Entry]:
    """Name and check the entries.

    Parameters
    ----------
    kernels : "auto", list, or one kernel
        Entries are (name, kernel), (name, kernel, columns) or bare kernels, which are named
        like the steps of scikit-learn's ``make_union``: the lower-case class name, numbered
        when repeated.

    Returns
    -------
    list of Entry
        At least one, with distinct names.

    Raises
    ------
    ValueError
        For an empty list, malformed entries, and repeated or reserved names.
    TypeError
        For something that is not a kernel; the message names the entry.

    Examples
    --------
    >>> from kernelweave.kernels import Linear, RBF, resolve_entries
    >>> [entry.name for entry in resolve_entries([RBF(), ("age", Linear(), 0), RBF(2.0)])]
    ['rbf-1', 'age', 'rbf-2']
    """
    if isinstance(kernels, str) and kernels == "auto":
        kernels = auto_kernels()
    written = list(kernels) if isinstance(kernels, list | tuple) else [kernels]
    if not written:
        raise ValueError('kernels is an empty list; give at least one kernel, or kernels="auto"')
    if isinstance(kernels, tuple) and len(kernels) in (2, 3) and _looks_like_entry(kernels):
        raise ValueError(f"kernels is one entry {kernels!r}; put it into a list: kernels=[...]")
    parts = [_parts(item, i) for i, item in enumerate(written)]
    names = _named([name for name, _, _ in parts], [kernel for _, kernel, _ in parts])
    _check_names(names)
    return [Entry(name, kernel, columns) for name, (_, kernel, columns) in zip(names, parts, strict=True)]


def _looks_like_entry(item: tuple[Any, ...]) -> bool:
    return isinstance(item[0], str) and not isinstance(item[1], str | tuple)


def _parts(item: Any, number: int) -> tuple[str | None, Kernel | KernelFamily, Any]:
    if not isinstance(item, tuple):
        return None, _as_entry_kernel(item, f"entry {number} of kernels"), None
    if len(item) not in (2, 3) or not isinstance(item[0], str):
        raise ValueError(
            f"entry {number} of kernels must be a kernel, (name, kernel) or (name, kernel, columns), got {item!r}"
        )
    name, kernel, columns = (*item, None)[:3]
    return name, _as_entry_kernel(kernel, f"kernel '{name}'"), columns


def _as_entry_kernel(kernel: Any, who: str) -> Kernel | KernelFamily:
    if isinstance(kernel, KernelFamily):
        return kernel
    try:
        return as_kernel(kernel)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{who}: {error}") from None


def _named(names: list[str | None], kernels: list[Kernel | KernelFamily]) -> list[str]:
    bare = [_default_name(kernel) if name is None else None for name, kernel in zip(names, kernels, strict=True)]
    totals, seen, result = Counter(bare), Counter[str](), []
    for name, default in zip(names, bare, strict=True):
        if default is None:
            result.append(str(name))
            continue
        seen[default] += 1
        result.append(f"{default}-{seen[default]}" if totals[default] > 1 else default)
    return result


def _default_name(kernel: Kernel | KernelFamily) -> str:
    if isinstance(kernel, MetricKernel):
        return kernel.metric
    if isinstance(kernel, GaussianProcessKernel):
        return type(kernel.kernel).__name__.lower()
    if isinstance(kernel, FunctionKernel):
        name = getattr(kernel.function, "__name__", type(kernel.function).__name__).lower()
        return name if name.isidentifier() else "function"
    return type(kernel).__name__.lower()


def _check_names(names: list[str]) -> None:
    for name, count in Counter(names).items():
        if not name:
            raise ValueError("a kernel's name is empty")
        if "__" in name:
            raise ValueError(f"the kernel name {name!r} contains '__', which is reserved for nested parameters")
        if count > 1:
            raise ValueError(f"the kernel name {name!r} is used {count} times; names must be distinct")
