"""Results, remarks, warnings and bars go where they should."""

from __future__ import annotations

import io
import sys
import warnings
from types import SimpleNamespace

import pytest

from kernelweave.cli import console as module
from kernelweave.cli.console import Console
from kernelweave.exceptions import MissingExtraError
from kernelweave.solvers.driver import Progress


def test_results_are_text_or_json(capsys):
    Console(quiet=False, json=False).result("text", {"a": 1})
    Console(quiet=True, json=True).result("text", {"a": "ä"})
    assert capsys.readouterr() == ('text\n{\n  "a": "ä"\n}\n', "")


def test_json_has_no_constants_of_its_own():
    with pytest.raises(ValueError, match="JSON"):
        Console(quiet=False, json=True).result("", {"a": float("nan")})


def test_remarks_are_quiet_and_warnings_are_not(capsys):
    for quiet in (False, True):
        console = Console(quiet=quiet, json=False)
        console.remark("by the way")
        console.warn("careful\n  now")
        console.warn("careful now")
    assert capsys.readouterr() == ("", "by the way\n" + "kernelweave: warning: careful now\n" * 2)


def test_warnings_of_python_become_lines(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = Console(quiet=False, json=False).warn
        warnings.warn("no progress", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "kernelweave: warning: no progress\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def bars(monkeypatch):
    """Replace rich by a recorder of (share, text)."""
    updates = []

    class Bar:
        def __init__(self, *columns, console, transient):
            assert console == "on stderr" and transient

        def __enter__(self):
            return self

        def __exit__(self, *_):
            updates.append("closed")

        def add_task(self, label, total, text):
            assert total == 1.0
            updates.append(label)

        def update(self, task, completed, text):
            updates.append((round(completed, 6), text))

    class Rich:
        TextColumn = BarColumn = TimeElapsedColumn = staticmethod(lambda *_: None)
        Progress = Bar

        @staticmethod
        def Console(stderr):
            return "on stderr" if stderr else "elsewhere"

    monkeypatch.setattr(module, "import_extra", lambda name, extra, purpose: Rich)
    # Not sys.stderr itself, which pytest puts back after the set-up.
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=Terminal()))
    return updates


def test_the_bar_of_a_fit_counts_digits_of_the_gap(bars):
    with Console(quiet=False, json=False).fitting("Fitting", 1e-4) as show:
        for gap in (1.0, 1e-2, 1e-1, 1e-5, float("inf")):
            assert show(Progress(1, 0.0, gap, True)) is None
    shares = [update[0] for update in bars[1:-1]]
    assert bars[0] == "Fitting" and bars[-1] == "closed"
    assert shares == [0.0, 0.5, 0.25, 1.0, 0.0]
    assert bars[1][1] == "gap 1.0e+00"


def test_a_fit_that_starts_without_a_gap_or_at_the_end(bars):
    for gap in (float("inf"), 1e-9):
        with Console(quiet=False, json=False).fitting("Fitting", 1e-4) as show:
            show(Progress(1, 0.0, gap, False))
    assert [update[0] for update in bars if isinstance(update, tuple)] == [0.0, 1.0]


def test_the_bar_of_steps(bars):
    with Console(quiet=False, json=False).steps("Comparing") as advance:
        advance(0.5, "1 of 2")
    assert bars == ["Comparing", (0.5, "1 of 2"), "closed"]


def test_no_bar_where_nobody_looks(bars, monkeypatch):
    with Console(quiet=True, json=False).fitting("Fitting", 1e-4) as verbose:
        assert verbose == 0
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=io.StringIO()))
    with Console(quiet=False, json=False).fitting("Fitting", 1e-4) as verbose:
        assert verbose == 0
    with Console(quiet=False, json=False).steps("Comparing") as advance:
        advance(0.5, "1 of 2")
    assert bars == []


def test_no_bar_without_rich_and_no_failure(bars, monkeypatch):
    def missing(*_):
        raise MissingExtraError("no rich")

    monkeypatch.setattr(module, "import_extra", missing)
    with Console(quiet=False, json=False).fitting("Fitting", 1e-4) as verbose:
        assert verbose == 0


def test_rich_itself_draws_and_cleans_up(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyboardInterrupt), Console(quiet=False, json=False).fitting("Fitting 10 rows", 1e-3) as show:
        show(Progress(1, 0.0, 0.5, True))
        raise KeyboardInterrupt
    assert "Fitting 10 rows" in sys.stderr.getvalue()
