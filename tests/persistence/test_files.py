"""A file is complete or not there."""

from __future__ import annotations

import os

import pytest

from kernelweave.persistence import files
from kernelweave.persistence.files import write_atomically


def test_new_and_replaced_files(tmp_path):
    path = tmp_path / "a.bin"
    write_atomically(path, b"first")
    write_atomically(str(path), b"second")
    assert path.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_permissions_are_those_of_a_new_file(tmp_path):
    write_atomically(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full"), MemoryError])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch, error, step):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(*_):
        raise error

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(BaseException, match=r".*"):
        write_atomically(path, b"new" * 1000)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_missing_folder_is_named_as_it_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "a.bin"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"x")
    assert caught.value.filename == str(path)


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "a folder").mkdir()
    with pytest.raises(OSError, match="a folder"):
        write_atomically(tmp_path / "a folder", b"x")
    assert (tmp_path / "a folder").is_dir()
    assert os.listdir(tmp_path) == ["a folder"]


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="needs symbolic links")
def test_a_link_keeps_pointing_to_its_file(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")
def test_a_device_is_written_to_and_stays(tmp_path):
    write_atomically("/dev/null", b"x")
    assert not os.path.isfile("/dev/null")
