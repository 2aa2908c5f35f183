"""Progress of a fit as a line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral

import numpy as np

from kernelweave.solvers.driver import Progress

__all__ = ["progress_callback"]

_QUIET_SECONDS = 2.0


def progress_callback(
    verbose: bool | int | Callable[[Progress], bool | None],
) -> Callable[[Progress], bool | None] | None:
    """What the driver should call after each iteration.

    Parameters
    ----------
    verbose : bool, int or callable
        False or 0: nothing. True or 1: a line that is updated once the fit has lasted two
        seconds. 2: a line for every iteration. A callable is used as it is; a true return
        value stops the fit.

    Returns
    -------
    callable or None

    Raises
    ------
    ValueError
        For anything else.
    """
    if callable(verbose):
        return verbose
    if not isinstance(verbose, Integral | np.bool_):
        raise ValueError(f"verbose must be a bool, a whole number or a callable; got {verbose!r}.")
    if not verbose:
        return None

    def show(progress: Progress) -> None:
        if verbose < 2 and progress.seconds < _QUIET_SECONDS:
            return
        kind = "certified" if progress.certified else "estimated"
        end = "\n" if verbose >= 2 else "\r"
        sys.stderr.write(
            f"kernelweave: iteration {progress.iteration}, {progress.seconds:.1f} s, "
            f"gap {progress.gap:.1e} ({kind}){end}"
        )
        sys.stderr.flush()

    return show
