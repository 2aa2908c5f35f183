"""What would not fit is refused, with an estimate and ways on."""

import io

import numpy as np
import pytest

from kernelweave.exceptions import MemoryLimitError
from kernelweave.gram.preparing import memory


def test_estimate():
    assert memory.dense_bytes(1000, 20, np.float64) == 1000**2 * (20 * 8 + 3 * 8)
    assert memory.dense_bytes(1000, 20, "float32") == 1000**2 * (20 * 4 + 3 * 8)


def test_available_memory_is_believable():
    available = memory.available_memory()
    assert available is None or 2**20 < available < 2**50


@pytest.mark.parametrize("meminfo", [None, "MemTotal: 8 kB\n"])
def test_where_the_system_has_no_meminfo(monkeypatch, meminfo):
    def opened(*args, **options):
        if meminfo is None:
            raise FileNotFoundError
        return io.StringIO(meminfo)

    monkeypatch.setattr("builtins.open", opened)
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}.__getitem__, raising=False)
    assert memory.available_memory() == 40960


def test_where_the_system_says_nothing(monkeypatch):
    def refuse(*args, **options):
        raise ValueError

    monkeypatch.setattr("builtins.open", lambda *args, **options: io.StringIO(""))
    monkeypatch.setattr("os.sysconf", refuse, raising=False)
    assert memory.available_memory() is None
    monkeypatch.delattr("os.sysconf")
    assert memory.available_memory() is None


def test_meminfo_is_read(monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *args, **options: io.StringIO("MemTotal: 9 kB\nMemAvailable:  7 kB\n"))
    assert memory.available_memory() == 7 * 1024


def test_what_fits_passes(monkeypatch):
    needed = memory.dense_bytes(100, 2, np.float64)
    monkeypatch.setattr(memory, "available_memory", lambda: needed)
    memory.check_memory(100, 2, np.float64)
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryLimitError):
        memory.check_memory(100, 2, np.float64)
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.check_memory(10**9, 2, np.float64)


def test_the_message_has_estimate_and_ways_on(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    with pytest.raises(MemoryLimitError) as caught:
        memory.check_memory(20_000, 10, np.float64)
    message = str(caught.value)
    assert "10 kernel matrices of 20000 samples need about 38.7 GiB of memory; 1.0 GiB are available" in message
    assert "dtype='float32' (23.8 GiB)" in message and "storage='factor'" in message
    with pytest.raises(MemoryLimitError) as caught:
        memory.check_memory(20_000, 10, np.float32)
    assert "float32" not in str(caught.value)
    assert isinstance(caught.value, MemoryError)
