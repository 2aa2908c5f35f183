"""Read what the modules of a source tree import, without importing them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "kernelweave"


@dataclass(frozen=True)
class Import:
    """One imported name. ``module`` is what is executed; ``name`` is taken from it ("" for all of it)."""

    module: str
    name: str
    line: int
    place: str  # "top", "function" or "typing" (under ``if TYPE_CHECKING``)
    announced: bool = False  # the outermost function around it calls `import_extra`
    relative: bool = False


@dataclass(frozen=True)
class Module:
    """A file of the tree."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def package(self) -> str:
        """The layer it belongs to: ``gram`` of ``kernelweave.gram.base``, "" for the root."""
        return self.name.partition(".")[2].partition(".")[0]


class _Reader(ast.NodeVisitor):
    """Collects imports and says where they stand."""

    def __init__(self, package: str) -> None:
        self.package, self.found = package, list[Import]()
        self.place, self.announced = "top", False

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, "", node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            base = self.package.split(".")
            module = ".".join([*base[: len(base) - node.level + 1], *filter(None, [module])])
        for alias in node.names:
            self._add(module, alias.name, node.lineno, relative=node.level > 0)

    def visit_Call(self, node: ast.Call) -> None:
        # importlib.import_module("package.module") is an import as well, by other means.
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0] if node.args else None
        if called in {"import_module", "__import__"} and isinstance(first, ast.Constant):
            self._add(str(first.value), "", node.lineno)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            return self.generic_visit(node)
        before, self.place = self.place, "typing"
        for child in node.body:
            self.visit(child)
        self.place = before
        for child in node.orelse:
            self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self.place, self.announced
        if self.place == "top":
            self.place, self.announced = "function", "import_extra(" in ast.unparse(node)
        self.generic_visit(node)
        self.place, self.announced = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def _add(self, module: str, name: str, line: int, relative: bool = False) -> None:
        self.found.append(Import(module, name, line, self.place, self.announced, relative))


def read_modules(source: Path, package: str = PACKAGE) -> dict[str, Module]:
    """Modules of ``source/package`` by dotted name."""
    modules = {}
    for path in sorted((source / package).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        reader = _Reader(name if is_package else name.rpartition(".")[0])
        reader.visit(tree)
        modules[name] = Module(name, path, tree, tuple(reader.found))
    return modules


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> dict[str, Module]:
    """The modules of this repository."""
    found = read_modules(ROOT / "src")
    assert len(found) > 10
    return found


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[dict[str, str]], dict[str, Module]]:
    """Write files (paths below the package) into a tree of their own and read it."""

    def write(files: dict[str, str]) -> dict[str, Module]:
        for relative, text in {"__init__.py": "", **files}.items():
            path = tmp_path / PACKAGE / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return read_modules(tmp_path)

    return write
