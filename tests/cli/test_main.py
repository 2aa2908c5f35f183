"""Exit statuses, one line an error, a quick start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import kernelweave
from kernelweave.cli import inspect_model
from kernelweave.cli.main import main
from kernelweave.exceptions import MemoryLimitError, MissingExtraError, ModelFileError, NotSeparableError

HEAVY = {"matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn", "skops"}


def python(root, *arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), **settings}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture
def root(request):
    return request.config.rootpath


@pytest.fixture
def failing(monkeypatch):
    """Let ``kernelweave inspect`` raise an error."""

    def fail(error):
        def raise_it(*_):
            raise error

        monkeypatch.setattr(inspect_model, "run", raise_it)

    return fail


def test_version(run):
    outcome = run("--version")
    assert (outcome.status, outcome.out) == (0, f"kernelweave {kernelweave.__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["predict", "-h"], ["inspect", "-h"], ["demo", "-h"]]
)
def test_help(run, arguments):
    outcome = run(*arguments)
    assert outcome.status == 0 and outcome.err == ""
    assert outcome.out.startswith("usage: kernelweave")


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"], ["fit"]])
def test_help_and_usage_errors_load_nothing_heavy(root, arguments):
    code = (
        "import sys; before = set(sys.modules)\n"
        "from kernelweave.cli.main import main\n"
        f"main({arguments!r})\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)"
    )
    done = python(root, "-c", code)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "argparse" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("first line\n  second line"), "first line second line."),
        (ModelFileError("it is damaged (so)"), "it is damaged (so)"),
        (NotSeparableError("no margin."), "no margin."),
        (MissingExtraError("needs 'skops'. Install it with: pip install 'kernelweave[cli]'"), None),
        (MemoryLimitError("needs 9 GiB"), "needs 9 GiB."),
        (MemoryError(), "MemoryError."),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "'x.csv': No such file or directory."),
        (PermissionError(13, "Permission denied", "x.csv"), "'x.csv': Permission denied."),
    ],
)
def test_bad_input_gives_one_line_and_status_2(refused, failing, error, line):
    failing(error)
    expected = line or str(error) + "."
    assert refused("inspect", "m.skops") == f"kernelweave: error: {expected}"


@pytest.mark.parametrize(
    "error", [TypeError("a and\nb"), KeyError("x"), AssertionError(), ZeroDivisionError("oh"), ImportError("numba")]
)
def test_our_own_faults_say_how_to_report_them(run, failing, error):
    failing(error)
    outcome = run("inspect", "m.skops")
    assert outcome.status == 1 and outcome.out == ""
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith(f"kernelweave: internal error: {type(error).__name__}: ")
    assert "please report it" in outcome.err and "--debug" in outcome.err


@pytest.mark.parametrize("how", ["option", "environment"])
@pytest.mark.parametrize(("error", "status"), [(TypeError("x"), 1), (ValueError("x"), 2)])
def test_debug_shows_the_traceback(run, failing, monkeypatch, how, error, status):
    failing(error)
    if how == "environment":
        monkeypatch.setenv("KERNELWEAVE_DEBUG", "1")
    outcome = run("inspect", "m.skops", *(["--debug"] if how == "option" else []))
    assert outcome.status == status
    assert outcome.err.startswith("Traceback (most recent call last):") and "raise_it" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("kernelweave: ")


def test_ctrl_c_is_130(run, failing):
    failing(KeyboardInterrupt())
    outcome = run("inspect", "m.skops")
    assert outcome.status == 130 and outcome.out == ""
    assert outcome.err == "kernelweave: interrupted; no file was changed halfway.\n"


def test_the_script_runs_as_a_process(root, fitted):
    done = python(root, "-m", "kernelweave.cli", "inspect", str(fitted))
    assert done.returncode == 0 and done.stderr == ""
    assert "Certificate" in done.stdout
    done = python(root, "-m", "kernelweave.cli", "inspect", "nowhere.skops")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "kernelweave: error: 'nowhere.skops': No such file or directory.\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a shell with pipes")
def test_a_reader_that_goes_away_is_no_fault(root, fitted):
    code = "import sys; from kernelweave.cli.main import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-c", code, "inspect", str(fitted)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 141


def test_arguments_of_the_process_are_the_default(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kernelweave", "--version"])
    assert main() == 0
    assert "kernelweave" in capsys.readouterr().out
