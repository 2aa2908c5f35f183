"""Imports point down the layer list; optional and private names stay where they belong."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

# What each layer may see of the others. The order is that of CONTRIBUTING.md, "Layers".
_FLOOR = {"exceptions", "_compat"}
_DOWN_TO_GRAM = _FLOOR | {"kernels", "gram"}
_DOWN_TO_SOLVERS = _DOWN_TO_GRAM | {"problems", "solvers"}
_DOWN_TO_REPORT = _DOWN_TO_SOLVERS | {"bounds", "estimators", "persistence", "inspection", "report"}
MAY_SEE = {
    "": set(),
    "exceptions": set(),
    "_compat": {"exceptions"},
    "kernels": _FLOOR,
    "gram": _FLOOR | {"kernels"},
    # A problem judges matrices; what a kernel is, is none of its business.
    "problems": _FLOOR | {"gram"},
    "solvers": _DOWN_TO_GRAM | {"problems"},
    "testing": _DOWN_TO_SOLVERS,
    "bounds": _DOWN_TO_SOLVERS,
    "estimators": _DOWN_TO_SOLVERS,
    "persistence": _DOWN_TO_SOLVERS | {"estimators"},
    "inspection": _DOWN_TO_SOLVERS | {"bounds", "estimators"},
    "report": _DOWN_TO_REPORT - {"report"},
    "datasets": {"exceptions"},
    "experiments": _DOWN_TO_REPORT | {"datasets"},
    "cli": _DOWN_TO_REPORT | {"datasets", "experiments"},
}
# The root's names are the public API, loaded on demand: only those above the API may take them.
MAY_SEE_ROOT = {"report", "experiments", "cli"}
IMPORT_NAMES = {"scikit-learn": "sklearn"}


def layer_faults(modules) -> list[str]:
    """Imports of ours that do not point down."""
    faults = []
    for module in modules.values():
        if module.package not in MAY_SEE:
            faults.append(f"{module.name}: '{module.package}' is not in the layer list")
            continue
        for found in module.imports:
            if found.place == "typing" or found.module.split(".")[0] != "kernelweave":
                continue
            if found.relative:
                faults.append(f"{module.name}:{found.line} relative import")
            for target in _layers_of(found, modules):
                allowed = MAY_SEE[module.package] | {module.package}
                if target == "" and (module.package in MAY_SEE_ROOT or found.name == "__version__"):
                    continue
                if target not in allowed or (target == "" and module.package != ""):
                    faults.append(f"{module.name}:{found.line} imports {target or 'the root package'}")
    return faults


def _layers_of(found, modules) -> set[str]:
    parts = found.module.split(".")
    if len(parts) > 1:
        return {parts[1]}
    # ``from kernelweave import gram`` takes the layer, ``from kernelweave import RBF`` the root.
    return {found.name if f"kernelweave.{found.name}" in modules else ""}


def api_faults(modules) -> list[str]:
    """Experiments that reach below the public API (a package's own names)."""
    faults = []
    for module in modules.values():
        for found in module.imports if module.package == "experiments" else ():
            parts = found.module.split(".")
            if found.place == "typing" or parts[0] != "kernelweave" or parts[1:2] == ["experiments"]:
                continue
            inner = f"{found.module}.{found.name}" in modules and len(parts) > 1
            if len(parts) > 2 or inner or _is_private(found.name):
                faults.append(f"{module.name}:{found.line} takes {found.module}.{found.name}")
    return faults


def optional_faults(modules, required: set[str]) -> list[str]:
    """Optional packages imported at the top, or in a function that does not announce the extra."""
    faults = []
    for module in modules.values():
        for found in module.imports:
            package = found.module.split(".")[0]
            if found.place == "typing" or package in required | {"kernelweave"} or package in sys.stdlib_module_names:
                continue
            if found.place == "top":
                faults.append(f"{module.name}:{found.line} imports {package} at the top")
            elif not found.announced:
                faults.append(f"{module.name}:{found.line} imports {package} without import_extra")
    return faults


def private_faults(modules) -> list[str]:
    """Private names of scikit-learn outside `kernelweave._compat`."""
    faults = []
    for module in modules.values():
        if module.name == "kernelweave._compat":
            continue
        for found in module.imports:
            dotted = [*found.module.split("."), found.name]
            if dotted[0] == "sklearn" and any(_is_private(part) for part in dotted):
                faults.append(f"{module.name}:{found.line} imports {'.'.join(filter(None, dotted))}")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and _is_private(node.attr):
                dotted = ast.unparse(node).split(".")
                if dotted[0] == "sklearn":
                    faults.append(f"{module.name}:{node.lineno} uses {'.'.join(dotted)}")
    return faults


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def required_packages(root: Path) -> set[str]:
    """Import names of the packages that every installation has."""
    with open(root / "pyproject.toml", "rb") as file:
        names = [re.split(r"[<>=!~\[; ]", entry)[0] for entry in tomllib.load(file)["project"]["dependencies"]]
    return {IMPORT_NAMES.get(name, name) for name in names}


def test_imports_point_down(modules):
    assert layer_faults(modules) == []


def test_experiments_use_the_public_api(modules):
    assert api_faults(modules) == []


def test_optional_packages_stay_in_functions(modules, root):
    assert optional_faults(modules, required_packages(root)) == []


def test_private_names_of_sklearn_stay_in_compat(modules):
    assert private_faults(modules) == []


@pytest.mark.parametrize(
    ("path", "source", "n_faults"),
    [
        ("gram/dense.py", "from kernelweave.kernels.base import Kernel", 0),
        ("kernels/rbf.py", "from kernelweave.gram.dense import DenseStack", 1),
        ("kernels/rbf.py", "def late():\n    import kernelweave.gram.dense", 1),
        ("kernels/rbf.py", "import importlib\nimportlib.import_module('kernelweave.gram.dense')", 1),
        ("kernels/rbf.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import kernelweave.gram", 0),
        ("kernels/rbf.py", "from ..gram import dense", 2),
        ("kernels/rbf.py", "from kernelweave import gram", 1),
        ("kernels/rbf.py", "from kernelweave import RBF", 1),
        ("kernels/rbf.py", "from kernelweave import __version__", 0),
        ("problems/margin.py", "import kernelweave.kernels.base", 1),
        ("problems/margin.py", "import kernelweave.gram.base", 0),
        ("bounds/rademacher.py", "import kernelweave.estimators.margin.mkl", 1),
        ("estimators/margin/mkl.py", "import kernelweave.datasets.uci", 1),
        ("datasets/uci.py", "import kernelweave.exceptions", 0),
        ("datasets/uci.py", "import kernelweave.gram.base", 1),
        ("cli/main.py", "from kernelweave import MKLClassifier\nimport kernelweave.datasets", 0),
        ("plots/new.py", "import numpy", 1),
    ],
)
def test_layer_check_fails_where_it_should(fake, path, source, n_faults):
    modules = fake({"gram/__init__.py": "", path: source})
    assert len(layer_faults(modules)) == n_faults


@pytest.mark.parametrize(
    ("source", "n_faults"),
    [
        ("from kernelweave import MKLClassifier", 0),
        ("from kernelweave.gram import DenseStack", 0),
        ("from kernelweave.experiments.table import Row", 0),
        ("from kernelweave.gram.dense import DenseStack", 1),
        ("from kernelweave.gram import dense", 1),
        ("from kernelweave.gram import _hidden", 1),
    ],
)
def test_api_check_fails_where_it_should(fake, source, n_faults):
    modules = fake({"gram/__init__.py": "", "gram/dense.py": "", "experiments/lanckriet.py": source})
    assert len(api_faults(modules)) == n_faults


@pytest.mark.parametrize(
    ("source", "n_faults"),
    [
        ("import json, numpy.linalg", 0),
        ("import matplotlib.pyplot", 1),
        ("try:\n    import rich\nexcept ImportError:\n    rich = None", 1),
        ("def draw():\n    import matplotlib.pyplot", 1),
        ("def draw():\n    import_extra('matplotlib', 'plot', 'Drawing')\n    import matplotlib.pyplot", 0),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import matplotlib", 0),
        ("class A:\n    import rich", 1),
    ],
)
def test_optional_check_fails_where_it_should(fake, source, n_faults):
    assert len(optional_faults(fake({"inspection/display.py": source}), {"numpy"})) == n_faults


@pytest.mark.parametrize(
    ("source", "n_faults"),
    [
        ("from sklearn.utils import check_array, __version__", 0),
        ("from sklearn.utils._bunch import Bunch", 1),
        ("from sklearn.utils import _safe_indexing", 1),
        ("def late():\n    from sklearn.svm import _libsvm", 1),
        ("import sklearn\nsklearn.utils._safe_indexing", 1),
        ("import numpy as np\nnp._private", 0),
    ],
)
def test_private_check_fails_where_it_should(fake, source, n_faults):
    assert len(private_faults(fake({"estimators/margin/mkl.py": source}))) == n_faults
    assert private_faults(fake({"estimators/margin/mkl.py": "", "_compat.py": source})) == []


def test_required_packages_are_import_names(root):
    assert {"numpy", "scipy", "sklearn", "numba"} <= required_packages(root)
    assert "matplotlib" not in required_packages(root)
