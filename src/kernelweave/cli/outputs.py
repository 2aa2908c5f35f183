"""Look at where a command is going to write before it works for long."""

from __future__ import annotations

import os

from kernelweave.cli.parser import UsageError

__all__ = ["check_output"]


def check_output(path: str, inputs: list[str | None]) -> None:
    """Refuse a path that cannot be written, or that would replace an input.

    Parameters
    ----------
    path : str
        The file to write.
    inputs : list of str or None
        The files that are read.

    Raises
    ------
    UsageError
        With what to do.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"'{path}': the folder '{folder}' does not exist; create it first")
    if os.path.isdir(path):
        raise UsageError(f"'{path}' is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"'{path}': the folder '{folder}' cannot be written to; choose another one")
    for name in inputs:
        if name is not None and os.path.exists(name) and os.path.realpath(name) == os.path.realpath(path):
            raise UsageError(f"'{path}' would replace the file that is read; choose another name")
