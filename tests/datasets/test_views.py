from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import (
    load_mfeat,
    load_prokaryotic,
    load_protein_fold,
    load_tcga_breast,
    load_three_sources,
)
from kernelweave.datasets.views import join_views
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

# OpenML's number and the number of features of each view.
MFEAT = {"fou": (14, 76), "fac": (12, 216), "kar": (16, 64), "pix": (20, 240), "zer": (22, 47), "mor": (18, 6)}
FOLD_SIZES = [19, 16, 32, 15, 18, 15, 74, 21, 29, 13, 16, 32, 12, 13, 16, 77]
FOLD_SIZES += [23, 24, 40, 22, 17, 22, 18, 15, 15, 40, 40]
DIGITS = np.repeat(np.arange(10), 200)


@pytest.fixture
def mfeat(openml):
    """OpenML's six tables; the views by their keys."""
    random = np.random.default_rng(0)
    views = {key: random.normal(size=(2000, d)).round(3) for key, (_, d) in MFEAT.items()}
    for key, (number, _) in MFEAT.items():
        openml.tables[number] = views[key], [str(digit + 1) for digit in DIGITS]
    return views


def block(n, *widths):
    random = np.random.default_rng(1)
    return [random.normal(size=(n, width)).astype(np.float32) for width in widths]


def test_joined_views_are_windows_on_the_data():
    joined = join_views({"a": np.arange(6).reshape(3, 2), "b": [[7.0], [8.0], [9.0]]})
    assert joined["data"].dtype == np.float64
    assert joined["data"].tolist() == [[0, 1, 7], [2, 3, 8], [4, 5, 9]]
    assert joined["view_names"] == ["a", "b"]
    for name, view in zip(joined["view_names"], joined["views"], strict=True):
        np.testing.assert_array_equal(view, joined["data"][:, joined["columns"][name]])
        assert np.shares_memory(view, joined["data"])


def test_mfeat_from_openml(mfeat, openml, own_folder):
    bunch = load_mfeat()
    assert openml.calls == [number for number, _ in MFEAT.values()]
    for view, expected in zip(bunch.views, mfeat.values(), strict=True):
        np.testing.assert_array_equal(view, expected)
    np.testing.assert_array_equal(bunch.target, DIGITS)
    assert bunch.target.dtype == np.int64
    assert bunch.view_names == ["fourier", "factors", "karhunen", "pixel", "zernike", "morphological"]
    assert bunch.data.shape == (2000, 649)
    assert [path.name for path in own_folder.iterdir()] == ["uci_mfeat.npz"]
    np.testing.assert_array_equal(load_mfeat(download_if_missing=False).data, bunch.data)
    assert len(openml.calls) == 6


def test_mfeat_both_ways_give_the_same(openml, real_data, tmp_path):
    local = load_mfeat(data_home=real_data, download_if_missing=False)
    for view, (number, _) in zip(local.views, MFEAT.values(), strict=True):
        openml.tables[number] = view, [str(digit + 1) for digit in local.target]
    fetched = load_mfeat(data_home=tmp_path / "fetched")
    assert len(openml.calls) == 6
    for name in ("data", "target", "target_names"):
        np.testing.assert_array_equal(local[name], fetched[name], strict=True)
    assert local.columns == fetched.columns


def test_mfeat_rows_must_agree(mfeat, openml, own_folder):
    data, labels = openml.tables[16]
    openml.tables[16] = data, labels[::-1]
    with pytest.raises(DatasetDamagedError, match="table 16 of 'mfeat' has its rows in another order"):
        load_mfeat()
    openml.tables[16] = data[:, :-1], labels
    with pytest.raises(DatasetDamagedError, match="not the data set 'mfeat'"):
        load_mfeat()
    assert list(own_folder.iterdir()) == []


def test_mfeat_labels_must_be_numbers(mfeat, openml, own_folder):
    for number in openml.tables:
        openml.tables[number] = openml.tables[number][0], ["zero"] * 2000
    with pytest.raises(DatasetDamagedError, match="other classes than '1' to '10'"):
        load_mfeat()
    assert list(own_folder.iterdir()) == []


def test_tcga_from_the_folder(put):
    train, test = block(150, 200, 184, 142), block(70, 200, 184)
    target, target_test = np.repeat([0, 1, 2], [45, 30, 75]), np.repeat([0, 1, 2], [21, 14, 35])
    file = {f"{kind}_train": view for kind, view in zip(("mrna", "mirna", "protein"), train, strict=True)}
    file |= {f"{kind}_test": view for kind, view in zip(("mrna", "mirna"), test, strict=True)}
    put("tcga_breast_3omics.npz", {**file, "y_train": target, "y_test": target_test})
    bunch = load_tcga_breast()
    assert bunch.view_names == ["mrna", "mirna", "protein"]
    for view, expected in zip(bunch.views, train, strict=True):
        np.testing.assert_array_equal(view, expected)
    np.testing.assert_array_equal(bunch.data_test[:, bunch.columns["mirna"]], test[1])
    np.testing.assert_array_equal(bunch.target, target)
    np.testing.assert_array_equal(bunch.target_test, target_test)
    assert bunch.target_names.tolist() == ["Basal", "Her2", "LumA"]


@pytest.mark.parametrize(
    ("load", "file", "keys", "widths", "counts"),
    [
        (
            *(load_prokaryotic, "mv_prokaryotic_3views.npz", ("text", "proteome_comp", "gene_repert")),
            *((438, 3, 393), (313, 91, 35, 112)),
        ),
        (
            *(load_three_sources, "mv_3sources.npz", ("bbc", "guardian", "reuters")),
            *((3560, 3631, 3068), (56, 21, 11, 18, 51, 12)),
        ),
    ],
)
def test_three_views_from_the_folder(put, load, file, keys, widths, counts):
    target = np.repeat(np.arange(len(counts)), counts)
    views = block(len(target), *widths)
    put(file, {**dict(zip(keys, views, strict=True)), "y": target + 1})
    bunch = load()
    for view, expected in zip(bunch.views, views, strict=True):
        np.testing.assert_array_equal(view, expected)
    np.testing.assert_array_equal(bunch.target, target)
    put(file, {**dict(zip(keys, views, strict=True)), "y": target})
    with pytest.raises(DatasetDamagedError):
        load()
    put(file, {"y": target})
    with pytest.raises(DatasetDamagedError, match=keys[0]):
        load()


def test_protein_fold_from_the_folder(put):
    views = np.stack(block(694, *(27,) * 12))
    target = np.repeat(np.arange(27), FOLD_SIZES)
    put("protein_fold_12views_pca27.npz", {"V": views, "y": target + 1})
    bunch = load_protein_fold()
    assert bunch.view_names[::11] == ["view1", "view12"]
    for view, expected in zip(bunch.views, views, strict=True):
        np.testing.assert_array_equal(view, expected)
    np.testing.assert_array_equal(bunch.target, target)
    put("protein_fold_12views_pca27.npz", {"V": views[:11], "y": target + 1})
    with pytest.raises(DatasetDamagedError, match="not the data set 'protein_fold'"):
        load_protein_fold()


@pytest.mark.parametrize(
    ("load", "shape", "counts"),
    [
        (load_mfeat, (2000, 649), [200] * 10),
        (load_tcga_breast, (150, 526), [45, 30, 75]),
        (load_prokaryotic, (551, 834), [313, 91, 35, 112]),
        (load_three_sources, (169, 10259), [56, 21, 11, 18, 51, 12]),
        (load_protein_fold, (694, 324), FOLD_SIZES),
    ],
)
def test_real_counts(load, shape, counts, real_data):
    bunch = load(data_home=real_data)
    assert bunch.data.shape == shape
    assert np.isfinite(bunch.data).all()
    assert np.bincount(bunch.target).tolist() == counts


@pytest.mark.parametrize("load", [load_tcga_breast, load_prokaryotic, load_three_sources, load_protein_fold])
def test_missing_file_says_where_it_is_public(load):
    with pytest.raises(DatasetUnavailableError, match=r"Public source: github .* at [0-9a-f]{7}"):
        load()


@pytest.mark.network
def test_live(real_data, tmp_path):
    local, live = load_mfeat(data_home=real_data), load_mfeat(data_home=tmp_path)
    for name in ("data", "target", "target_names"):
        np.testing.assert_array_equal(local[name], live[name], strict=True)
