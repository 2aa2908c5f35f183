from __future__ import annotations

import http.client

import numpy as np
import pytest

from kernelweave.datasets import uci
from kernelweave.datasets.openml import fetch
from kernelweave.exceptions import DatasetUnavailableError

SONAR = uci.ENTRIES[0]


def test_types(openml):
    openml.tables[40] = np.array([[1, 2], [3, np.nan]], dtype=object), ["Rock", "Mine"]
    data, labels = fetch(SONAR, 40)
    assert data.dtype == np.float64
    np.testing.assert_array_equal(data, [[1.0, 2.0], [3.0, np.nan]])
    assert labels == ["Rock", "Mine"]


@pytest.mark.parametrize("error", [OSError("offline"), ValueError("gone"), http.client.IncompleteRead(b"")])
def test_one_error_with_its_cause(openml, error):
    openml.error = error
    with pytest.raises(DatasetUnavailableError, match=r"'sonar'.*\(number 40\)") as caught:
        fetch(SONAR, 40)
    assert caught.value.__cause__ is error


def test_faults_of_ours_are_not_hidden(openml):
    with pytest.raises(KeyError):
        fetch(SONAR, 41)
