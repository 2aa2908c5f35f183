"""Kernels written as TOML.

Each ``[[kernel]]`` table has a ``name``, a ``type`` (a class of `kernelweave.kernels`), the
``columns`` it reads, and the parameters of the class. A parameter that is itself a table
with a ``type`` is a kernel, so widths, sums and products can be written down as well.
"""

from __future__ import annotations

import inspect
import tomllib
from typing import Any

import kernelweave.kernels as kernels
from kernelweave.exceptions import KernelweaveError
from kernelweave.kernels import Kernel, KernelFamily

__all__ = ["KernelFileError", "read_kernels"]

# They are made from Python objects: functions, kernels of other libraries, matrices, base classes.
_NOT_IN_FILES = {
    "DistanceSubstitution",
    "ExponentialKernel",
    "FunctionKernel",
    "GaussianProcessKernel",
    "Kernel",
    "KernelFamily",
    "Precomputed",
}

NamedEntry = tuple[str, Any, list[str] | None]


class KernelFileError(KernelweaveError, ValueError):
    """A file of kernels makes no sense; the message names the table and the key."""


def read_kernels(path: str) -> list[NamedEntry]:
    """Read the kernels of a TOML file.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    list of (str, Kernel or KernelFamily, list of str or None)
        Name, kernel and columns (None where the table names none).

    Raises
    ------
    KernelFileError
        Naming the table and the key.
    OSError
        When the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except ValueError as error:
        raise KernelFileError(f"'{path}' is not valid TOML: {error}") from None
    unknown = sorted(set(content) - {"kernel"})
    if unknown:
        raise KernelFileError(f"'{path}': unknown key {unknown[0]!r}; each kernel is a table [[kernel]]")
    tables = content.get("kernel")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise KernelFileError(f"'{path}' has no kernels; write each as a table [[kernel]] with a name and a type")
    entries = [_entry(table, f"'{path}', kernel {number}") for number, table in enumerate(tables, 1)]
    seen: set[str] = set()
    for number, (name, _, _) in enumerate(entries, 1):
        if name in seen:
            raise KernelFileError(
                f"'{path}', kernel {number}: the name {name!r} is used before; names must be distinct"
            )
        seen.add(name)
    return entries


def _entry(table: dict[str, Any], where: str) -> NamedEntry:
    name = table.get("name")
    if not isinstance(name, str) or not name or "__" in name:
        raise KernelFileError(f"{where}: key 'name' must be a text that is not empty and has no '__', got {name!r}")
    where = f"{where} ({name!r})"
    columns = table.get("columns")
    if isinstance(columns, str):
        columns = [columns]
    if columns is not None and not (
        isinstance(columns, list) and columns and all(isinstance(column, str) for column in columns)
    ):
        raise KernelFileError(f"{where}: key 'columns' must be a list of column names, got {columns!r}")
    parameters = {key: value for key, value in table.items() if key not in ("name", "columns")}
    return name, _kernel(parameters, where), columns


def _kernel(table: dict[str, Any], where: str) -> Any:
    kind = _class(table.get("type"), where)
    signature = inspect.signature(kind).parameters
    known, parameters = list(signature), {}
    for key, value in table.items():
        if key == "type":
            continue
        if key not in known:
            takes = f"takes {', '.join(known)}" if known else "has no parameters"
            raise KernelFileError(f"{where}: unknown key {key!r}; {kind.__name__} {takes}")
        nested = isinstance(value, dict) and "type" in value
        parameters[key] = _kernel(value, f"{where}, key {key!r}") if nested else value
    for key, parameter in signature.items():
        if parameter.default is inspect.Parameter.empty and key not in parameters:
            raise KernelFileError(f"{where}: key {key!r} is missing; {kind.__name__} needs it")
    return kind(**parameters)


def _class(name: Any, where: str) -> Any:
    known = {
        entry: value
        for entry in kernels.__all__
        if isinstance(value := getattr(kernels, entry), type)
        and issubclass(value, Kernel | KernelFamily)
        and entry not in _NOT_IN_FILES
    }
    if not isinstance(name, str) or name not in known:
        problem = "key 'type' is missing" if name is None else f"key 'type': there is no kernel {name!r}"
        raise KernelFileError(f"{where}: {problem}; the types are {', '.join(sorted(known))}")
    return known[name]
