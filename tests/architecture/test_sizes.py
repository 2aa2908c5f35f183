"""Files and functions stay short enough to read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FILE_LIMIT = 400
FUNCTION_LIMIT = 60


def size_faults(folders: list[Path]) -> list[str]:
    """Files and functions over the limits."""
    faults = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        n_lines = len(text.splitlines())
        if n_lines > FILE_LIMIT:
            faults.append(f"{path.name} has {n_lines} lines, more than {FILE_LIMIT}")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = function_length(node)
                if length > FUNCTION_LIMIT:
                    faults.append(
                        f"{path.name}:{node.lineno} {node.name} has {length} lines, more than {FUNCTION_LIMIT}"
                    )
    return faults


def function_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end, without the docstring."""
    length = node.end_lineno - node.lineno + 1
    if ast.get_docstring(node, clean=False) is not None:
        docstring = node.body[0]
        length -= docstring.end_lineno - docstring.lineno + 1
    return length


def test_files_and_functions_are_short(root):
    assert size_faults([root / "src", root / "tests"]) == []


@pytest.mark.parametrize(
    ("text", "n_faults"),
    [
        ("x = 1\n" * FILE_LIMIT, 0),
        ("x = 1\n" * (FILE_LIMIT + 1), 1),
        ("def f():\n" + "    x = 1\n" * (FUNCTION_LIMIT - 1), 0),
        ("def f():\n" + "    x = 1\n" * FUNCTION_LIMIT, 1),
        ("async def f():\n" + "    x = 1\n" * FUNCTION_LIMIT, 1),
        ("class A:\n    def f(self):\n" + "        x = 1\n" * FUNCTION_LIMIT, 1),
        ('def f():\n    """One.\n' + "    more\n" * FUNCTION_LIMIT + '    """\n    return 1\n', 0),
    ],
)
def test_size_check_fails_where_it_should(tmp_path, text, n_faults):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "module.py").write_text(text)
    assert len(size_faults([tmp_path])) == n_faults
