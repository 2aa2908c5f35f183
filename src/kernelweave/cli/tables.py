"""Tables by suffix: read, checked column by column, written in one step."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kernelweave.exceptions import KernelweaveError, import_extra
from kernelweave.persistence import write_atomically

__all__ = [
    "TableError",
    "check_complete",
    "check_numbers",
    "is_nameless",
    "is_numeric",
    "read_table",
    "stray_text",
    "table_kind",
    "take_columns",
    "write_table",
]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


class TableError(KernelweaveError, ValueError):
    """A table cannot be read or does not hold what is needed."""


def read_table(path: str) -> Any:
    """Read a table with a header.

    Parameters
    ----------
    path : str
        .csv or .tsv, also compressed as .gz, or .parquet.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    TableError
        For an unknown suffix, a damaged file, or a table without rows.
    OSError
        When the file cannot be read.
    MissingExtraError
        When pandas (or pyarrow, for Parquet) is not installed.
    """
    kind = table_kind(path)
    pandas = import_extra("pandas", "cli", "Reading a table")
    if kind == ".parquet":
        import_extra("pyarrow", "cli", "Reading Parquet files")
    try:
        if kind == ".parquet":
            frame = pandas.read_parquet(path, engine="pyarrow")
        else:
            # One pass over the whole file: a column has one type, not one a chunk.
            frame = pandas.read_csv(path, sep=_SEPARATORS[kind], low_memory=False)
    except UnicodeDecodeError:
        raise TableError(f"'{path}' is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        if error.filename is not None or isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise _unreadable(path, error) from error
    except (ValueError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error
    if not len(frame):
        raise TableError(f"'{path}' has a header but no rows")
    frame.columns = [str(name) for name in frame.columns]
    return frame.reset_index(drop=True)


def write_table(frame: Any, path: str) -> None:
    """Write a table without its index, all of it or nothing.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    path : str
        .csv or .tsv, also .gz, or .parquet.

    Raises
    ------
    TableError
        For an unknown suffix.
    OSError
        When the file cannot be written.
    """
    kind = table_kind(path)
    content = io.BytesIO()
    if kind == ".parquet":
        import_extra("pyarrow", "cli", "Writing Parquet files")
        frame.to_parquet(content, engine="pyarrow", index=False)
    else:
        compression = "gzip" if path.lower().endswith(".gz") else None
        frame.to_csv(content, sep=_SEPARATORS[kind], index=False, compression=compression)
    write_atomically(path, content.getvalue())


def take_columns(frame: Any, names: list[str], path: str) -> Any:
    """Columns by name.

    Raises
    ------
    TableError
        Naming the columns that are not there, and those that are.
    """
    missing = [name for name in names if name not in frame.columns]
    if not missing:
        return frame[names]
    wanted = f"no column {missing[0]!r}" if len(missing) == 1 else f"no columns {_listed(missing)}"
    hint = ""
    if len(frame.columns) == 1 and any(mark in frame.columns[0] for mark in ";\t,"):
        hint = "; it was read as a single column: separate values by commas in .csv and by tabs in .tsv"
    raise TableError(f"'{path}' has {wanted}; its columns are {_listed(list(frame.columns))}{hint}")


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers or truth values."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def is_nameless(name: str) -> bool:
    """Whether a column has no name in the header: usually row numbers that somebody's tool has added."""
    return name.startswith("Unnamed: ") and name[9:].isdigit()


def check_complete(frame: Any, path: str) -> None:
    """Refuse missing values, naming the column and the row.

    Raises
    ------
    TableError
        For the first column that has some.
    """
    for name in frame.columns:
        _refuse(path, name, frame[name].isna().to_numpy(), "has no value")


def check_numbers(frame: Any, path: str, why: str = "") -> None:
    """Refuse columns that do not hold finite numbers, naming the column and the row.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns that should be numeric.
    path : str
        Where they are from, for the message.
    why : str
        Why they should be, for the message.

    Raises
    ------
    TableError
        For the first column that is not.
    """
    check_complete(frame, path)
    for name in frame.columns:
        column = frame[name]
        if is_numeric(column):
            _refuse(path, name, ~np.isfinite(column.to_numpy(dtype=np.float64)), "is infinite")
            continue
        values = column.to_numpy(dtype=object)
        wrong = np.array([not _is_number(value) for value in values])
        first = repr(values[int(np.argmax(wrong))])
        _refuse(path, name, wrong, f"holds {first}, which is not a number,", why)
        raise TableError(f"'{path}': column {name!r} holds {column.dtype} instead of numbers{why}")


def stray_text(column: Any) -> tuple[int, Any] | None:
    """Row (from 1) and value of the first text in a column of text that mostly holds numbers, if it is one."""
    if getattr(column.dtype, "kind", "O") not in "OU":
        return None
    present = column.dropna()
    numbers = np.array([_is_number(value) for value in present], dtype=bool)
    if not numbers.any() or numbers.mean() <= 0.5 or numbers.all():
        return None
    first = int(np.argmin(numbers))
    return int(present.index[first]) + 1, present.iloc[first]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _refuse(path: str, name: str, where: Any, what: str, why: str = "") -> None:
    if where.any():
        count = int(where.sum())
        more = f" and {count - 1} more" if count > 1 else ""
        advice = why or "; fill it in, or leave the row or the column out"
        raise TableError(f"'{path}': column {name!r} {what} in row {int(np.argmax(where)) + 1}{more}{advice}")


def table_kind(path: str) -> str:
    """What the suffix says: ".csv", ".tsv" or ".parquet".

    Raises
    ------
    TableError
        For any other.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] == [".gz"] and suffixes[-2:-1] in ([".csv"], [".tsv"]):
        return suffixes[-2]
    if suffixes[-1:] in ([".csv"], [".tsv"], [".parquet"]):
        return suffixes[-1]
    raise TableError(f"'{path}': the suffix says what a table is; use .csv, .tsv, .csv.gz, .tsv.gz or .parquet")


def _unreadable(path: str, error: Exception) -> TableError:
    detail = " ".join(str(error).split())[:160] or type(error).__name__
    return TableError(f"'{path}' cannot be read as a table: {detail}")


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown}, ... ({len(names)} in all)"
