from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import load_colon, load_leukemia
from kernelweave.exceptions import DatasetDamagedError


def names(count):
    return np.frombuffer("\n".join(f"g{i}" for i in range(count)).encode(), dtype=np.uint8)


@pytest.fixture
def colon(put):
    def write(**changes):
        X = np.random.default_rng(0).lognormal(size=(62, 2000)).astype(np.float32)
        put("gene_colon_alon.npz", {"X": X, "y": np.repeat([1, 2], [22, 40]), "gene": names(2000), **changes})
        return X

    return write


@pytest.fixture
def leukemia(put):
    def write(**changes):
        X = np.random.default_rng(0).integers(-1000, 9000, size=(72, 7129)).astype(np.int32)
        y, is_test = np.repeat(["ALL", "AML"], [47, 25]), np.arange(72) >= 38
        parts = {"X": X, "y": y, "is_test": is_test.astype(np.int8), "accession": names(7129)}
        put("gene_leukemia_golub.npz", {**parts, **changes})
        return X

    return write


def test_colon_from_the_folder(colon):
    X = colon()
    bunch = load_colon()
    np.testing.assert_allclose(bunch.data, X)
    assert bunch.data.dtype == np.float64 and bunch.feature_names[-1] == "g1999"
    assert bunch.target_names[bunch.target[[0, -1]]].tolist() == ["normal", "tumour"]


def test_leukemia_from_the_folder(leukemia):
    X = leukemia()
    bunch = load_leukemia()
    np.testing.assert_array_equal(bunch.data, X)
    assert int(bunch.is_test.sum()) == 34
    assert bunch.target_names[bunch.target[[0, -1]]].tolist() == ["ALL", "AML"]


def test_damaged(colon, leukemia):
    colon(y=np.repeat([1, 2], [23, 39]))
    with pytest.raises(DatasetDamagedError, match="not the data set 'colon'"):
        load_colon()
    leukemia(X=np.zeros((72, 3), dtype=np.int32))
    with pytest.raises(DatasetDamagedError, match="not the data set 'leukemia'"):
        load_leukemia()


def test_the_real_data(real_data):
    assert load_colon(data_home=real_data).data.min() > 0
    assert load_leukemia(data_home=real_data).data.min() < 0
