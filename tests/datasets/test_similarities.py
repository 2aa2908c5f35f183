from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import load_aural_sonar
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

LABELS = np.repeat([1, 2], 50).astype(np.int8)


def test_from_the_folder(put):
    matrix = np.random.default_rng(0).uniform(size=(100, 100))
    put("sim_aural_sonar.npz", {"S": matrix, "y": LABELS})
    bunch = load_aural_sonar()
    np.testing.assert_array_equal(bunch.data, matrix)
    np.testing.assert_array_equal(bunch.target, LABELS == 2)
    assert bunch.target_names.tolist() == ["1", "2"]


def test_damaged_file(put):
    put("sim_aural_sonar.npz", {"S": np.eye(99), "y": LABELS[:99]})
    with pytest.raises(DatasetDamagedError, match="not the data set 'aural_sonar'"):
        load_aural_sonar()


def test_missing_file_says_where_it_is_public():
    with pytest.raises(DatasetUnavailableError, match="MaximilianMuench"):
        load_aural_sonar()


def test_real_matrix_is_indefinite(real_data):
    bunch = load_aural_sonar(data_home=real_data)
    assert bunch.data.shape == (100, 100)
    np.testing.assert_array_equal(bunch.data, bunch.data.T)
    np.testing.assert_array_equal(np.diag(bunch.data), 1.0)
    values = np.linalg.eigvalsh(bunch.data)
    assert np.count_nonzero(values < -1e-10) == 38
    assert values[[0, -1]] == pytest.approx([-2.10, 35.07], abs=0.005)
