"""Entry point: parse, run one command, turn whatever goes wrong into one line and an exit status."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from kernelweave.cli.console import Console
from kernelweave.cli.parser import build_parser
from kernelweave.exceptions import KernelweaveError

__all__ = ["main"]

_DONE, _OUR_FAULT, _BAD_INPUT, _INTERRUPTED, _PIPE_CLOSED = 0, 1, 2, 130, 141
# What bad input looks like: our own errors, values, files, memory.
_INPUT_ERRORS = (KernelweaveError, ValueError, OSError, MemoryError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        Exit status: 0 done, 2 bad input, 1 a fault of ours, 130 interrupted.

    Examples
    --------
    >>> main(["--version"])
    kernelweave ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Known before parsing, because parsing can fail as well.
    debug = "--debug" in arguments or bool(os.environ.get("KERNELWEAVE_DEBUG"))
    try:
        _run(arguments)
    except SystemExit as stop:
        # --help and --version.
        return stop.code if isinstance(stop.code, int) else _DONE
    except KeyboardInterrupt:
        return _say("interrupted; no file was changed halfway.", _INTERRUPTED, debug)
    except BrokenPipeError:
        # Whoever read our output has enough; do not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except _INPUT_ERRORS as error:
        return _say(f"error: {_one_line(error)}", _BAD_INPUT, debug)
    except Exception as error:
        return _say(
            f"internal error: {type(error).__name__}: {_one_line(error)} This is a fault of kernelweave; please report "
            "it with the command you typed and its output with --debug.",
            _OUR_FAULT,
            debug,
        )
    return _DONE


def _run(arguments: list[str]) -> None:
    options = build_parser().parse_args(arguments)
    console = Console(quiet=options.quiet, json=options.json)
    command: Any = importlib.import_module(f"kernelweave.cli.{options.command}")
    with warnings.catch_warnings():
        # Ours and scikit-learn's warnings are of this kind; those for programmers stay out.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = console.warn
        command.run(options, console)
    sys.stdout.flush()


def _say(line: str, status: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"kernelweave: {line}", file=sys.stderr)
    return status


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"'{error.filename}': {error.strerror}."
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith((".", ")", "?", "!")) else f"{text}."
