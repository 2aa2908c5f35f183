"""Errors by cause, each also the built-in type that generic handlers expect."""

import pickle

import numpy as np
import pytest

from kernelweave import exceptions
from kernelweave.exceptions import KernelweaveError, MissingExtraError, NotSeparableError, import_extra

BUILT_IN = {
    "DatasetDamagedError": ValueError,
    "DatasetUnavailableError": OSError,
    "InvalidKernelError": ValueError,
    "MemoryLimitError": MemoryError,
    "MissingExtraError": ImportError,
    "ModelFileError": ValueError,
    "NotSeparableError": ValueError,
}


def test_every_error_has_our_root_and_a_built_in_type():
    errors = {name for name in exceptions.__all__ if name.endswith("Error")} - {"KernelweaveError"}
    assert errors == set(BUILT_IN)
    for name, kind in BUILT_IN.items():
        error = getattr(exceptions, name)
        assert issubclass(error, KernelweaveError) and issubclass(error, kind)
        assert str(error("what happened")) == "what happened"


def test_the_direction_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(NotSeparableError("no", np.ones((1, 3)))))
    assert str(error) == "no" and error.direction.tolist() == [[1.0, 1.0, 1.0]]
    assert NotSeparableError("no").direction is None


def test_a_missing_package_names_its_extra():
    with pytest.raises(MissingExtraError, match=r"Drawing needs the package 'nowhere'.*'kernelweave\[plot\]'"):
        import_extra("nowhere.inner", "plot", "Drawing")
    assert import_extra("json.decoder", "cli", "Reading").__name__ == "json.decoder"


def test_a_package_that_lacks_something_itself_says_what(tmp_path, monkeypatch):
    (tmp_path / "halfthere.py").write_text("import nowhere_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all") as caught:
        import_extra("halfthere", "plot", "Drawing")
    assert not isinstance(caught.value, MissingExtraError)
