"""Importing is quick and the library does not print."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"matplotlib", "numba", "numpy", "pandas", "polars", "rich", "scipy", "sklearn", "skops"}
# The one place that writes for verbose=True, to standard error.
MAY_WRITE = {"kernelweave.estimators.progress"}


def loaded_by_import(source: Path, package: str) -> set[str]:
    """Top-level modules that ``import package`` loads in a fresh process."""
    # Start-up files of the environment may load modules of their own, hence the difference.
    code = f"import sys; before = set(sys.modules); import {package}; print(*(set(sys.modules) - before))"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def print_faults(modules) -> list[str]:
    """Calls of ``print`` and uses of the standard streams outside the command line."""
    faults = []
    for module in modules.values():
        for node in ast.walk(module.tree) if module.package != "cli" else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                faults.append(f"{module.name}:{node.lineno} prints")
            if module.name in MAY_WRITE or not isinstance(node, ast.Attribute):
                continue
            if ast.unparse(node) in {"sys.stdout", "sys.stderr"}:
                faults.append(f"{module.name}:{node.lineno} uses {ast.unparse(node)}")
    return faults


def test_import_loads_nothing_heavy(root):
    loaded = loaded_by_import(root / "src", "kernelweave")
    assert "kernelweave" in loaded
    assert loaded & HEAVY == set()


def test_import_check_fails_where_it_should(tmp_path):
    (tmp_path / "heavyweave").mkdir()
    (tmp_path / "heavyweave" / "__init__.py").write_text("import heavyweave.inner")
    (tmp_path / "heavyweave" / "inner.py").write_text("import numpy.linalg")
    assert loaded_by_import(tmp_path, "heavyweave") & HEAVY == {"numpy"}


def test_nothing_prints(modules):
    assert print_faults(modules) == []


@pytest.mark.parametrize(
    ("path", "source", "n_faults"),
    [
        ("solvers/bundle/smo.py", "def f():\n    print('step')", 1),
        ("solvers/bundle/smo.py", "import sys\nsys.stderr.write('step')", 1),
        ("solvers/bundle/smo.py", '"""Example.\n\n>>> print(1)\n"""', 0),
        ("solvers/bundle/smo.py", "def f(printer):\n    printer.print('x')", 0),
        ("estimators/progress.py", "import sys\nsys.stderr.write('step')", 0),
        ("estimators/progress.py", "print('step')", 1),
        ("cli/main.py", "print('result')", 0),
    ],
)
def test_print_check_fails_where_it_should(fake, path, source, n_faults):
    assert len(print_faults(fake({path: source}))) == n_faults
