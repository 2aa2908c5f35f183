from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import ida, load_ida, load_titanic
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

SHAPES = {
    "titanic": ((2201, 3), 711, 150),
    "banana": ((5300, 2), 2376, 400),
    "breast_cancer": ((277, 9), 81, 200),
    "german": ((1000, 20), 300, 700),
    "image": ((2310, 18), 1320, 1300),
    "waveform": ((5000, 21), 1647, 400),
}


def load(name, **options):
    return load_titanic(**options) if name == "titanic" else load_ida(name, **options)


def arrays(name, prefix):
    """Random arrays of the right sizes under the keys of the file."""
    (n, d), positive, n_train = SHAPES[name]
    random = np.random.default_rng(0)
    order = np.array([random.permutation(n) for _ in range(10)])
    y = random.permutation(np.repeat([-1, 1], [n - positive, positive])).astype(np.int8)
    parts = {"X": random.normal(size=(n, d)), "y": y, "train": order[:, :n_train], "test": order[:, n_train:]}
    return {prefix + key: part for key, part in parts.items()}


@pytest.mark.parametrize(
    ("name", "file", "prefix"),
    [
        ("titanic", "ida_titanic.npz", ""),
        ("breast_cancer", "ida_five_sets_10splits.npz", "breast_cancer_"),
        ("german", "ida_five_sets_10splits.npz", "german_"),
    ],
)
def test_from_the_folder(put, name, file, prefix):
    written = arrays(name, prefix)
    put(file, written)
    bunch = load(name)
    np.testing.assert_array_equal(bunch.data, written[prefix + "X"])
    np.testing.assert_array_equal(bunch.target, written[prefix + "y"] == 1)
    np.testing.assert_array_equal(bunch.train, written[prefix + "train"])
    np.testing.assert_array_equal(bunch.test, written[prefix + "test"])
    assert bunch.target_names.tolist() == ["-1", "+1"]
    assert len(bunch.feature_names) == bunch.data.shape[1]


@pytest.mark.parametrize("name", SHAPES)
def test_missing_file_says_where_it_is_public(name, own_folder):
    with pytest.raises(DatasetUnavailableError, match=r"fernando2393/Relevance-Vector-Machine.*docstring of load_"):
        load(name)
    assert not own_folder.exists()


def test_damaged_file(put):
    written = arrays("titanic", "")
    put("ida_titanic.npz", {**written, "y": -written["y"]})
    with pytest.raises(DatasetDamagedError, match="not the data set 'titanic'"):
        load_titanic()
    del written["train"]
    put("ida_titanic.npz", written)
    with pytest.raises(DatasetDamagedError, match="train"):
        load_titanic()


def test_unknown_name():
    with pytest.raises(ValueError, match="no IDA set 'splice'; choose one of banana"):
        load_ida("splice")


def test_entries_agree_with_the_table():
    assert {e.name: ((e.samples, *e.features), e.classes["+1"]) for e in ida.ENTRIES} == {
        name: (shape, positive) for name, (shape, positive, _) in SHAPES.items()
    }


@pytest.mark.parametrize("name", SHAPES)
def test_real_splits_are_partitions(name, real_data):
    shape, positive, n_train = SHAPES[name]
    bunch = load(name, data_home=real_data)
    assert bunch.data.shape == shape
    assert bunch.target.sum() == positive
    assert bunch.train.shape == (10, n_train)
    both = np.concatenate([bunch.train, bunch.test], axis=1)
    np.testing.assert_array_equal(np.sort(both, axis=1), np.tile(np.arange(shape[0]), (10, 1)))


def test_real_titanic_gives_the_papers_number(real_data):
    """[K09]: an SVM with exp(-d^2 / (2 s^2)), s = 100, errs on 32.57 % of the first split's test rows."""
    from sklearn.svm import SVC

    titanic = load_titanic(data_home=real_data)
    train, test = titanic.train[0], titanic.test[0]
    model = SVC(C=1.0, gamma=1 / (2 * 100.0**2)).fit(titanic.data[train], titanic.target[train])
    error = np.mean(model.predict(titanic.data[test]) != titanic.target[test])
    assert round(100 * error, 2) == 32.57
