"""The changelog keeps its form: a section for what is not released yet, then versions, newest first."""

from __future__ import annotations

import re
import tomllib

import pytest

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def changelog_faults(text: str) -> list[str]:
    """What is wrong with the headings."""
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    faults = []
    if headings[:1] != ["[Unreleased]"]:
        faults.append("the first section is not '## [Unreleased]'")
    versions = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]]
    if not all(versions):
        faults.append("a release is not headed '## [1.2.3] - 2026-01-31'")
    else:
        numbers = [tuple(map(int, version.groups())) for version in versions]
        if numbers != sorted(set(numbers), reverse=True):
            faults.append("releases are not in order, newest first")
    kinds = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    return faults + [f"'### {kind}' is not one of {sorted(KINDS)}" for kind in sorted(kinds - KINDS)]


def test_changelog_keeps_its_form(root):
    assert changelog_faults((root / "CHANGELOG.md").read_text(encoding="utf-8")) == []


def test_versions_agree(root):
    with open(root / "pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["project"]["version"]
    source = (root / "src" / "kernelweave" / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{declared}"' in source


@pytest.mark.parametrize(
    ("text", "n_faults"),
    [
        ("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- a\n", 0),
        ("## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n\n### Fixed\n\n## [0.1.0] - 2026-01-01\n", 0),
        ("# Changelog\n", 1),
        ("## [0.1.0] - 2026-01-01\n", 1),
        ("## [Unreleased]\n\n## 0.1.0\n", 1),
        ("## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n## [0.2.0] - 2026-02-01\n", 1),
        ("## [Unreleased]\n\n### New\n", 1),
    ],
)
def test_changelog_check_fails_where_it_should(text, n_faults):
    assert len(changelog_faults(text)) == n_faults
