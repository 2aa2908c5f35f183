from __future__ import annotations

import urllib.error

import numpy as np
import pytest

from kernelweave.datasets import load_breast_cancer_wisconsin, load_heart, load_ionosphere, load_sonar, uci
from kernelweave.datasets.storage import read_table
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

# Loader, file, number at OpenML, and for the classes 0 and 1: name, spelling in the file, at OpenML, samples.
CASES = {
    "sonar": (load_sonar, "uci_sonar.csv.gz", 40, 60, ("rock", "R", "Rock", 97), ("mine", "M", "Mine", 111)),
    "ionosphere": (load_ionosphere, "uci_ionosphere.csv.gz", 59, 34, ("bad", "b", "b", 126), ("good", "g", "g", 225)),
    "heart": (
        *(load_heart, "uci_statlog_heart.csv.gz", 53, 13),
        *(("absent", "1", "absent", 150), ("present", "2", "present", 120)),
    ),
    "breast": (
        *(load_breast_cancer_wisconsin, "uci_breast_cancer_wisconsin_original.csv.gz", 15, 9),
        *(("benign", "2", "benign", 444), ("malignant", "4", "malignant", 239)),
    ),
}
cases = pytest.mark.parametrize("case", CASES)


def table(case, seed=0):
    """A table of the right size with OpenML's labels: features, labels and class codes."""
    *_, n_features, negative, positive = CASES[case]
    random = np.random.default_rng(seed)
    target = random.permutation(np.repeat([0, 1], [negative[3], positive[3]]))
    data = random.normal(size=(len(target), n_features))
    return data, [(negative, positive)[code][2] for code in target], target


@cases
def test_from_openml(case, openml, own_folder):
    load, file, number, n_features, negative, positive = CASES[case]
    data, labels, target = table(case)
    openml.tables[number] = data, labels
    bunch = load()
    np.testing.assert_array_equal(bunch.data, data)
    np.testing.assert_array_equal(bunch.target, target)
    assert bunch.data.dtype == np.float64
    assert bunch.target.dtype == np.int64
    assert bunch.target_names.tolist() == [negative[0], positive[0]]
    assert len(bunch.feature_names) == len(set(bunch.feature_names)) == n_features
    assert f"OpenML {number}" in bunch.DESCR
    assert "CC BY 4.0" in bunch.DESCR
    # The second time it comes from the folder.
    again = load(download_if_missing=False)
    np.testing.assert_array_equal(again.data, data)
    assert openml.calls == [number]
    assert [path.name for path in own_folder.iterdir()] == [file]


@cases
def test_both_ways_give_the_same(case, openml, real_data, tmp_path):
    load, file, number, _, *classes = CASES[case]
    header, rows = read_table(real_data / file)
    first = header[0] == "id"
    numbers = [[np.nan if entry == "?" else float(entry) for entry in row[first:-1]] for row in rows]
    spelt = {here: there for _, here, there, _ in classes}
    openml.tables[number] = np.array(numbers), [spelt[row[-1]] for row in rows]
    local = load(data_home=real_data, download_if_missing=False)
    fetched = load(data_home=tmp_path / "fetched")
    assert openml.calls == [number]
    assert sorted(local) == sorted(fetched)
    for name in local:
        np.testing.assert_array_equal(local[name], fetched[name], strict=True)


@pytest.mark.parametrize(
    ("load", "shape", "counts"),
    [
        (load_sonar, (208, 60), [97, 111]),
        (load_ionosphere, (351, 34), [126, 225]),
        (load_heart, (270, 13), [150, 120]),
        (load_breast_cancer_wisconsin, (683, 9), [444, 239]),
    ],
)
def test_real_counts(load, shape, counts, real_data):
    bunch = load(data_home=real_data, download_if_missing=False)
    assert bunch.data.shape == shape
    assert np.bincount(bunch.target).tolist() == counts
    assert np.isfinite(bunch.data).all()


def test_real_values(real_data):
    sonar = load_sonar(data_home=real_data)
    assert sonar.data[0, :3].tolist() == [0.02, 0.0371, 0.0428]
    assert sonar.target_names[sonar.target[0]] == "rock"
    assert not load_ionosphere(data_home=real_data).data[:, 1].any()
    heart = load_heart(data_home=real_data)
    assert dict(zip(heart.feature_names, heart.data[0], strict=True))["oldpeak"] == 2.4
    assert heart.target_names[heart.target[0]] == "present"


def test_incomplete_rows_and_the_identifier_are_left_out(openml, put):
    data, labels, target = table("breast")
    gaps = data.copy()
    gaps[::100, 5] = np.nan
    whole = np.concatenate([data, gaps[::100]])
    openml.tables[15] = whole, [*labels, *labels[::100]]
    fetched = load_breast_cancer_wisconsin()
    np.testing.assert_array_equal(fetched.data, data)
    # The same as a file with a column of identifiers, in the spelling of the UCI archive.
    lines = [",".join(["id", *fetched.feature_names, "label"])]
    for number, (row, label) in enumerate(zip(whole.tolist(), openml.tables[15][1], strict=True)):
        entries = ["?" if value != value else str(value) for value in row]
        lines.append(",".join([str(number), *entries, {"benign": "2", "malignant": "4"}[label]]))
    put("uci_breast_cancer_wisconsin_original.csv.gz", "\n".join(lines) + "\n")
    local = load_breast_cancer_wisconsin(download_if_missing=False)
    np.testing.assert_array_equal(local.data, data)
    np.testing.assert_array_equal(local.target, target)


@pytest.mark.parametrize("error", [urllib.error.URLError("offline"), ValueError("md5 differs"), TimeoutError()])
def test_offline(openml, own_folder, error):
    openml.error = error
    with pytest.raises(DatasetUnavailableError, match=r"'sonar' could not be had from OpenML.*uci_sonar\.csv\.gz"):
        load_sonar()
    assert list(own_folder.iterdir()) == []


def test_no_download_when_not_wanted(openml):
    with pytest.raises(DatasetUnavailableError, match="is not in"):
        load_sonar(download_if_missing=False)
    assert openml.calls == []


def test_another_table_is_not_kept(openml, own_folder):
    data, labels, _ = table("sonar")
    for wrong, match in [
        ((data[:, :-1], labels), "59 features"),
        ((data[:-1], labels[:-1]), "not the data set 'sonar'"),
        ((data, ["Mine"] * len(labels)), "not the data set 'sonar'"),
        ((data, [*labels[:-1], "Wreck"]), "no class 'Wreck'"),
    ]:
        openml.tables[40] = wrong
        with pytest.raises(DatasetDamagedError, match=match):
            load_sonar()
        assert list(own_folder.iterdir()) == []


def test_damaged_files(put):
    names = ",".join([f"f{i:02d}" for i in range(1, 61)])
    row = ",".join(["0.5"] * 60)
    for text, match in [
        (f"{names},class\n{row},R\n", "other columns"),
        (f"{names},label\n{row},R\n", "not the data set"),
        (f"{names},label\n{row[:-1]}x,R\n", "damaged"),
        (f"{names},label\n{row},X\n", "no class 'X'"),
        (f"{names},label\n", "not the data set"),
    ]:
        put("uci_sonar.csv.gz", text)
        with pytest.raises(DatasetDamagedError, match=match):
            load_sonar()


def test_entries_agree_with_the_loaders():
    assert [entry.loader for entry in uci.ENTRIES] == [f"{load.__name__}()" for load, *_ in CASES.values()]
    assert [entry.samples for entry in uci.ENTRIES] == [sum(entry.classes.values()) for entry in uci.ENTRIES]


@pytest.mark.network
@cases
def test_live(case, tmp_path, real_data):
    load = CASES[case][0]
    local, live = load(data_home=real_data), load(data_home=tmp_path)
    for name in local:
        np.testing.assert_array_equal(local[name], live[name], strict=True)
