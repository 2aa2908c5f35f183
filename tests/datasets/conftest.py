"""A data folder of one's own for each test, and no network."""

from __future__ import annotations

import gzip
import json
import urllib.request

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, request):
    """Defaults point into the test's folder; opening a web address fails unless the test is a live one."""
    monkeypatch.setenv("KERNELWEAVE_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("KERNELWEAVE_MIRROR", raising=False)
    if request.node.get_closest_marker("network") is None:
        opened = urllib.request.urlopen

        def local_only(address, *args, **kwargs):
            url = address if isinstance(address, str) else address.full_url
            assert url.startswith("file:"), f"a test reached for {url}"
            return opened(address, *args, **kwargs)

        monkeypatch.setattr(urllib.request, "urlopen", local_only)
    return tmp_path / "data"


@pytest.fixture
def put(own_folder):
    """Write a file into the data folder: arrays as ``.npz``, a list of objects as JSON lines, or text."""

    def write(name, content):
        own_folder.mkdir(exist_ok=True)
        path = own_folder / name
        if isinstance(content, dict):
            np.savez_compressed(path, **content)
        else:
            text = content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content)
            with gzip.open(path, "wt", encoding="utf-8") as file:
                file.write(text)
        return path

    return write


@pytest.fixture
def openml(monkeypatch):
    """Stand-in for scikit-learn's OpenML client: hands out tables by number and records the calls."""
    import sklearn.datasets
    from sklearn.utils import Bunch

    class Stub:
        def __init__(self):
            self.tables, self.calls, self.error = {}, [], None

        def __call__(self, *, data_id, as_frame, parser, cache, n_retries):
            self.calls.append(data_id)
            # The ways that need pandas, or keep a second copy, are not ours.
            assert not as_frame and parser == "liac-arff" and not cache
            if self.error is not None:
                raise self.error
            data, labels = self.tables[data_id]
            return Bunch(data=data, target=np.array(labels, dtype=object))

    stub = Stub()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", stub)
    return stub
