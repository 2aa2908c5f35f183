"""The data folder: where files are looked for, and how new ones get there whole or not at all."""

from __future__ import annotations

import csv
import gzip
import hashlib
import http.client
import os
import urllib.request
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.datasets.entry import Entry
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

__all__ = ["data_folder", "download", "locate", "read_arrays", "read_table", "reading", "writing"]

_FOLDER_VARIABLE = "KERNELWEAVE_DATA"
_MIRROR_VARIABLE = "KERNELWEAVE_MIRROR"
_CHUNK = 2**20
_SECONDS = 60.0
_UNREADABLE = (EOFError, KeyError, ValueError, csv.Error, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile)


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder that the loaders read and, when something is downloaded, write.

    Parameters
    ----------
    data_home : path-like, optional
        The folder. When None: the environment variable ``KERNELWEAVE_DATA``, else ``kernelweave``
        in the user's cache folder.

    Returns
    -------
    Path
        The folder; it need not exist.

    Examples
    --------
    >>> data_folder("/data/kernels").name
    'kernels'
    """
    given = data_home if data_home is not None else os.environ.get(_FOLDER_VARIABLE)
    if given:
        return Path(given).expanduser()
    cache = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "kernelweave"


def locate(
    entry: Entry,
    data_home: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    build: Callable[[Path], None] | None = None,
) -> Path:
    """Path of a data set's file, fetched first where that is possible.

    Parameters
    ----------
    entry : Entry
        The data set.
    data_home : path-like, optional
        See `data_folder`.
    download_if_missing : bool
        Whether to go to the network for a file that is not there: to the address in the
        environment variable ``KERNELWEAVE_MIRROR`` (a folder of files as in `data_folder`,
        checked by sha256) if it is set, else to the public source.
    build : callable, optional
        Writes the file to the path it is given, from the public source; None where there is no
        such way.

    Returns
    -------
    Path
        An existing file.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there and cannot be had.
    DatasetDamagedError
        When the mirror hands out another file.
    """
    path = data_folder(data_home) / entry.file
    if path.is_file():
        return path
    mirror = os.environ.get(_MIRROR_VARIABLE)
    if download_if_missing and mirror:
        download(f"{mirror.rstrip('/')}/{entry.file}", path, entry.sha256)
    elif download_if_missing and build is not None:
        with writing(path) as part:
            build(part)
    else:
        raise DatasetUnavailableError(
            f"The data set '{entry.name}' is not in {path.parent} (file {entry.file}). "
            f"Public source: {entry.source}. Put the file there, or name the folder that has it in "
            f"data_home or {_FOLDER_VARIABLE}; the docstring of {entry.loader.partition('(')[0]} says what it holds."
        )
    return path


def download(url: str, path: Path, sha256: str) -> None:
    """Download a file and keep it only if its checksum is right.

    Parameters
    ----------
    url : str
        Address.
    path : Path
        Where to put it; its folder is made if need be.
    sha256 : str
        Checksum, in hexadecimal digits.

    Raises
    ------
    DatasetUnavailableError
        When the address cannot be read.
    DatasetDamagedError
        When the checksum is wrong. In both cases nothing is left behind.
    """
    digest = hashlib.sha256()
    with writing(path) as part, open(part, "wb") as file:
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
                while block := answer.read(_CHUNK):
                    digest.update(block)
                    file.write(block)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise DatasetUnavailableError(
                f"{url} could not be downloaded ({error}). Check the address and the network, or put the file "
                f"{path.name} into {path.parent} by hand."
            ) from error
        if digest.hexdigest() != sha256:
            raise DatasetDamagedError(
                f"{url} is not the expected file: its sha256 is {digest.hexdigest()}, not {sha256}. It was not kept."
            )


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Write a file under a passing name, and rename it when it is complete.

    Parameters
    ----------
    path : Path
        The final name.

    Yields
    ------
    Path
        The name to write to, in the same folder. Whatever ends the block early removes it.

    Raises
    ------
    DatasetUnavailableError
        When the folder cannot be made or written to.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise DatasetUnavailableError(
            f"{path.parent} cannot be written to ({error}). Name a folder of yours in data_home or {_FOLDER_VARIABLE}."
        ) from error
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what a broken file raises into one error that names the file.

    Parameters
    ----------
    path : Path
        The file being read.

    Raises
    ------
    DatasetDamagedError
        When it is truncated, of another format, or lacks a part.
    """
    try:
        yield
    except DatasetDamagedError:
        raise
    except _UNREADABLE as error:
        raise DatasetDamagedError(
            f"{path} is damaged or of another format ({error!r}). Delete it and load again."
        ) from error


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a gzipped CSV file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    header : list of str
        Column names.
    rows : list of list of str
        Entries, as many in each row as there are columns.
    """
    with reading(path), gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
        if any(len(row) != len(header) for row in rows):
            raise ValueError("rows of different lengths")
    return header, rows


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an ``.npz`` file (which may not hold pickled objects)."""
    # n.b. numpy would leave a file open that it found to be damaged.
    with reading(path), open(path, "rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("a single array, not an archive of arrays")
        with archive:
            return {name: archive[name] for name in archive.files}
