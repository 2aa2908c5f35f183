"""No two modules need each other at import time, packages' ``__init__`` included."""

from __future__ import annotations

import pytest


def import_graph(modules) -> dict[str, set[str]]:
    """Which modules each module runs on import.

    Importing ``a.b.c`` also runs ``a`` and ``a.b``; a module's own packages are left out, because
    they have always begun before it does.
    """
    graph: dict[str, set[str]] = {}
    for module in modules.values():
        own = {module.name} | set(_with_parents(module.name.rpartition(".")[0]))
        graph[module.name] = set()
        for found in module.imports:
            if found.place != "top":
                continue
            taken = f"{found.module}.{found.name}"
            runs = set(_with_parents(taken if taken in modules else found.module)) - own
            # A name that is no module is taken from the package itself, one's own included.
            if taken not in modules and found.module in own - {module.name}:
                runs.add(found.module)
            graph[module.name] |= runs & set(modules)
    return graph


def _with_parents(name: str) -> list[str]:
    parts = name.split(".") if name else []
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """A cycle as a list of names, empty when there is none."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph[name]):
            if cycle := search(target, [*path, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := search(name, []))), [])


def test_no_cycles(modules):
    assert find_cycle(import_graph(modules)) == []


@pytest.mark.parametrize(
    "files",
    [
        {"gram/a.py": "import kernelweave.gram.b", "gram/b.py": "from kernelweave.gram.a import x"},
        {"gram/a.py": "from kernelweave.gram import b", "gram/b.py": "from kernelweave.gram import a"},
        # Through a package: a takes a name from the package that loads it.
        {"gram/__init__.py": "from kernelweave.gram.a import x", "gram/a.py": "from kernelweave.gram import y"},
        # Importing kernels.rbf runs kernels/__init__ first.
        {
            "gram/a.py": "import kernelweave.kernels.rbf",
            "kernels/__init__.py": "import kernelweave.gram.a",
            "kernels/rbf.py": "",
        },
        {
            "gram/a.py": "try:\n    import kernelweave.gram.b\nfinally:\n    pass",
            "gram/b.py": "import kernelweave.gram.c",
            "gram/c.py": "import kernelweave.gram.a",
        },
        {"__init__.py": "import kernelweave.gram.a", "gram/a.py": "from kernelweave import __version__"},
    ],
)
def test_cycles_are_found(fake, files):
    assert find_cycle(import_graph(fake({"gram/__init__.py": "", **files})))


def test_reexports_and_late_imports_are_no_cycles(fake):
    modules = fake(
        {
            "gram/__init__.py": "from kernelweave.gram.dense import x\nfrom kernelweave.gram.base import y",
            "gram/base.py": "def late():\n    import kernelweave.gram.dense",
            "gram/dense.py": "from kernelweave.gram.base import y\nfrom kernelweave.gram import base",
        }
    )
    graph = import_graph(modules)
    assert graph["kernelweave.gram.dense"] == {"kernelweave.gram.base"}
    assert find_cycle(graph) == []
