"""The guide for contributors speaks of files and layers that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def dead_paths(text: str, root: Path) -> list[str]:
    """Paths in backticks that do not exist; of ``src/<name>.py`` the folder, of a new test nothing."""
    dead = []
    for path in re.findall(r"`((?:src|tests|\.ci)/[^`\s]*)`", text):
        fixed, placeholder, _ = path.partition("<")
        if placeholder and path.startswith("tests/"):
            continue
        if not (root / (fixed.rpartition("/")[0] if placeholder else path)).exists():
            dead.append(path)
    return dead


def table_layers(text: str) -> list[str]:
    """Names in the first column of the table of layers."""
    rows = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_paths_exist(root):
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert text.count("`src/") > 10
    assert dead_paths(text, root) == []


def test_layers_are_the_folders(root):
    source = root / "src" / "kernelweave"
    there = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".py"}
    layers = table_layers((root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert sorted(layers) == sorted(there - {"__init__", "__pycache__"})


@pytest.mark.parametrize(
    ("text", "n_dead"),
    [
        ("see `src/here.py` and `src/`", 0),
        ("see `src/<name>.py`", 0),
        ("see `src/gone.py`", 1),
        ("see `src/gone/<name>.py`", 1),
        ("see `tests/new/test_<name>.py` and `tests/test_gone.py`", 1),
        ("src/gone.py without backticks", 0),
    ],
)
def test_path_check_fails_where_it_should(tmp_path, text, n_dead):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "here.py").touch()
    assert len(dead_paths(text, tmp_path)) == n_dead


def test_layers_are_read_from_the_table():
    text = "| layer | says |\n| --- | --- |\n| `one` | uses `two` |\n| `three`, `four` | x |\n"
    assert table_layers(text) == ["one", "three", "four"]
