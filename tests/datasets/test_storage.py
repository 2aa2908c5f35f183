from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import stat
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from kernelweave.datasets import storage
from kernelweave.datasets.entry import Entry
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

CONTENT = b"some data" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ENTRY = Entry("toy", "a toy", "load_toy()", "toy.bin", SHA256, 3, (2,), "a public place", "free")


class Broken:
    """An answer that breaks off after the first block."""

    def __init__(self, error):
        self.blocks, self.error = [CONTENT[:100]], error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def read(self, _):
        if self.blocks:
            return self.blocks.pop()
        raise self.error


@pytest.fixture
def server(tmp_path):
    """A folder that is served as ``file:`` addresses."""
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "toy.bin").write_bytes(CONTENT)
    return folder


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_folder_is_argument_then_variable_then_cache(monkeypatch, tmp_path):
    assert storage.data_folder("~/here") == Path.home() / "here"
    assert storage.data_folder(tmp_path) == tmp_path
    monkeypatch.setenv("KERNELWEAVE_DATA", str(tmp_path / "named"))
    assert storage.data_folder() == tmp_path / "named"
    monkeypatch.setenv("KERNELWEAVE_DATA", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    if os.name != "nt":
        assert storage.data_folder() == tmp_path / ".cache" / "kernelweave"
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert storage.data_folder() == tmp_path / "xdg" / "kernelweave"


def test_download_puts_the_file_in_place(server, own_folder):
    storage.download((server / "toy.bin").as_uri(), own_folder / "deep" / "toy.bin", SHA256)
    assert (own_folder / "deep" / "toy.bin").read_bytes() == CONTENT
    assert leftovers(own_folder / "deep") == ["toy.bin"]
    if os.name != "nt":
        # A shared folder stays readable by others, as far as the umask lets it.
        umask = os.umask(0)
        os.umask(umask)
        assert stat.S_IMODE((own_folder / "deep" / "toy.bin").stat().st_mode) == 0o666 & ~umask


def test_wrong_checksum_leaves_nothing(server, own_folder):
    with pytest.raises(DatasetDamagedError, match=r"not the expected file.*not kept"):
        storage.download((server / "toy.bin").as_uri(), own_folder / "toy.bin", "0" * 64)
    assert leftovers(own_folder) == []


def test_wrong_checksum_keeps_an_older_file(server, own_folder):
    own_folder.mkdir()
    (own_folder / "toy.bin").write_bytes(b"older")
    with pytest.raises(DatasetDamagedError):
        storage.download((server / "toy.bin").as_uri(), own_folder / "toy.bin", "0" * 64)
    assert (own_folder / "toy.bin").read_bytes() == b"older"


@pytest.mark.parametrize(
    "error", [OSError("no route to host"), TimeoutError("timed out"), http.client.IncompleteRead(b"")]
)
def test_broken_download_leaves_nothing(monkeypatch, own_folder, error):
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: Broken(error))
    with pytest.raises(DatasetUnavailableError, match=r"could not be downloaded.*by hand"):
        storage.download("https://example.org/toy.bin", own_folder / "toy.bin", SHA256)
    assert leftovers(own_folder) == []


def test_interrupted_download_leaves_nothing(monkeypatch, own_folder):
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: Broken(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        storage.download("https://example.org/toy.bin", own_folder / "toy.bin", SHA256)
    assert leftovers(own_folder) == []


@pytest.mark.parametrize("url", ["file:///nowhere/toy.bin", "no address"])
def test_unreachable_address(own_folder, monkeypatch, url):
    monkeypatch.undo()
    with pytest.raises(DatasetUnavailableError, match="Check the address"):
        storage.download(url, own_folder / "toy.bin", SHA256)
    assert leftovers(own_folder) == []


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(DatasetUnavailableError, match=r"cannot be written to.*KERNELWEAVE_DATA"),
        storage.writing(tmp_path / "file" / "toy.bin"),
    ):
        pass


def test_locate_takes_what_is_there(own_folder):
    own_folder.mkdir()
    (own_folder / "toy.bin").write_bytes(b"mine")
    assert storage.locate(ENTRY) == own_folder / "toy.bin"
    assert storage.locate(ENTRY, own_folder, download_if_missing=False).read_bytes() == b"mine"


def test_locate_says_where_the_data_are_public(own_folder):
    with pytest.raises(DatasetUnavailableError, match=r"a public place.*KERNELWEAVE_DATA.*docstring of load_toy says"):
        storage.locate(ENTRY)
    assert not own_folder.exists()


def test_locate_builds_from_the_public_source(own_folder):
    path = storage.locate(ENTRY, build=lambda part: part.write_bytes(b"built") and None)
    assert path.read_bytes() == b"built"
    assert leftovers(own_folder) == ["toy.bin"]


def test_locate_does_not_build_unasked(own_folder):
    with pytest.raises(DatasetUnavailableError):
        storage.locate(ENTRY, download_if_missing=False, build=lambda part: pytest.fail("built"))


def test_failed_build_leaves_nothing(own_folder):
    def build(part):
        part.write_bytes(b"half")
        raise DatasetDamagedError("wrong")

    with pytest.raises(DatasetDamagedError, match="wrong"):
        storage.locate(ENTRY, build=build)
    assert leftovers(own_folder) == []


def test_mirror_comes_before_the_public_source(server, own_folder, monkeypatch):
    monkeypatch.setenv("KERNELWEAVE_MIRROR", server.as_uri() + "/")
    path = storage.locate(ENTRY, build=lambda part: pytest.fail("built"))
    assert path.read_bytes() == CONTENT
    (server / "toy.bin").write_bytes(b"forged")
    path.unlink()
    with pytest.raises(DatasetDamagedError):
        storage.locate(ENTRY)
    with pytest.raises(DatasetUnavailableError, match="is not in"):
        storage.locate(ENTRY, download_if_missing=False)


def test_tables(put):
    header, rows = storage.read_table(put("a.csv.gz", 'x,y\n1,"a,b"\n2,c\n'))
    assert header == ["x", "y"]
    assert rows == [["1", "a,b"], ["2", "c"]]


def test_damaged_tables(put):
    path = put("a.csv.gz", "x,y\n1,2\n3\n")
    with pytest.raises(DatasetDamagedError, match="different lengths"):
        storage.read_table(path)
    whole = gzip.compress(b"x,y\n" + b"1,2\n" * 1000)
    flipped = whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:]
    for content in (whole[:-10], flipped, b"x,y\n1,2\n", b"", gzip.compress(b"\xff\xfe,\n")):
        path.write_bytes(content)
        with pytest.raises(DatasetDamagedError, match=r"a\.csv\.gz is damaged"):
            storage.read_table(path)


def test_arrays(put):
    path = put("a.npz", {"X": np.arange(3), "y": np.array(["a"])})
    arrays = storage.read_arrays(path)
    assert arrays["X"].tolist() == [0, 1, 2]
    assert arrays["y"].tolist() == ["a"]
    whole = path.read_bytes()
    for content in (whole[:-10], b"X", b""):
        path.write_bytes(content)
        with pytest.raises(DatasetDamagedError, match=r"a\.npz is damaged"):
            storage.read_arrays(path)


def test_arrays_with_code_in_them_are_refused(put, own_folder):
    path = put("a.npz", {"X": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(DatasetDamagedError):
        storage.read_arrays(path)
    with open(path, "wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(DatasetDamagedError, match="single array"):
        storage.read_arrays(path)


def test_missing_file_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        storage.read_table(tmp_path / "none.csv.gz")
