"""What the commands say: results on standard output, remarks, warnings and progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelweave.exceptions import MissingExtraError, import_extra

if TYPE_CHECKING:
    from kernelweave.solvers.driver import Progress

__all__ = ["Console"]

Callback = Callable[["Progress"], None]


class Console:
    """Where the output of one command goes.

    Parameters
    ----------
    quiet : bool
        No remarks and no progress; warnings and results stay.
    json : bool
        The result is one JSON object.
    """

    def __init__(self, *, quiet: bool, json: bool) -> None:
        self.quiet = quiet
        self.json = json
        self._warned: set[str] = set()

    def result(self, text: str, data: dict[str, Any]) -> None:
        """Print the result, as text or as JSON."""
        if self.json:
            text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write(text + "\n")

    def remark(self, text: str) -> None:
        """Print a line about what is going on."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def warn(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning as one line, once; takes the place of ``warnings.showwarning``."""
        line = " ".join(str(message).split())
        if line not in self._warned:
            self._warned.add(line)
            print(f"kernelweave: warning: {line}", file=sys.stderr)

    @contextmanager
    def fitting(self, label: str, tol: float) -> Iterator[Callback | int]:
        """Show how the duality gap of a fit closes.

        Parameters
        ----------
        label : str
            What is being fitted.
        tol : float
            Gap at which the bar is full. Half of the bar is half of the digits.

        Yields
        ------
        callable or 0
            For the parameter ``verbose`` of the estimator.
        """
        with self._bar(label) as advance:
            if advance is None:
                yield 0
                return
            first: list[float] = []

            def show(progress: Progress) -> None:
                gap = min(max(progress.gap, tol), 1e300)
                first.append(gap)
                digits = math.log10(max(first[0], 10 * tol) / tol)
                advance(1.0 - math.log10(gap / tol) / digits, f"gap {progress.gap:.1e}")

            yield show

    @contextmanager
    def steps(self, label: str) -> Iterator[Callable[[float, str], None]]:
        """Show how much of a list of steps is done.

        Parameters
        ----------
        label : str
            What the steps are for.

        Yields
        ------
        callable
            ``advance(share, text)``.
        """
        with self._bar(label) as advance:
            yield advance if advance is not None else lambda share, text: None

    @contextmanager
    def _bar(self, label: str) -> Iterator[Callable[[float, str], None] | None]:
        # A bar is for people who watch: not in files, and no reason to fail without rich.
        rich = None if self.quiet or not sys.stderr.isatty() else _rich()
        if rich is None:
            yield None
            return
        console = import_extra("rich.console", "cli", "The progress bar").Console(stderr=True)
        columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TextColumn("{task.fields[text]}"))
        with rich.Progress(*columns, rich.TimeElapsedColumn(), console=console, transient=True) as progress:
            task = progress.add_task(label, total=1.0, text="")
            yield lambda share, text: progress.update(task, completed=min(max(share, 0.0), 1.0), text=text)


def _rich() -> Any:
    try:
        return import_extra("rich.progress", "cli", "The progress bar")
    except MissingExtraError:
        return None
