"""Paths that cannot be written are refused before the work begins."""

from __future__ import annotations

import os

import pytest

from kernelweave.cli.outputs import check_output
from kernelweave.cli.parser import UsageError


def test_what_can_be_written_passes(tmp_path, monkeypatch):
    (tmp_path / "old.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    for path in ("new.csv", "old.csv", str(tmp_path / "new.csv")):
        check_output(path, ["other.csv", None])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no/such/out.csv", r"the folder '.*no/such' does not exist; create it first"),
        ("folder", "'folder' is a folder; name a file in it"),
        ("in.csv", "would replace the file that is read"),
        ("folder/../in.csv", "would replace the file that is read"),
    ],
)
def test_what_cannot_is_refused(tmp_path, monkeypatch, path, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "in.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        check_output(path, [None, "in.csv"])


def test_a_folder_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="cannot be written to; choose another one"):
        check_output(str(tmp_path / "a"), [])
