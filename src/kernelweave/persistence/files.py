"""Files that are either complete or not there."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a crash or Ctrl-C leaves the old one, or none, but never half of it.

    Parameters
    ----------
    path : str or path-like
        Where to. An existing file is replaced at the end, in one step; a link keeps pointing to it.
    data : bytes
        The content.

    Raises
    ------
    OSError
        When the folder does not exist or may not be written to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(pathlib.Path(folder, "note.txt"), b"done")
    ...     [entry.name for entry in pathlib.Path(folder).iterdir()]
    ['note.txt']
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        # A pipe or device cannot be replaced, and nothing could stay behind in it.
        target.write_bytes(data)
        return
    # Beside the target, because a rename is atomic only within one file system.
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is not None:
            # The reader knows the path that was asked for, not ours.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise
