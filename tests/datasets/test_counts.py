from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from kernelweave.datasets import load_corel, load_faces, load_webkb
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError


def sparse_parts(shape):
    """A few counts in each row, stored in the small types of the files."""
    random = np.random.default_rng(0)
    n_rows, n_columns = shape
    indices = np.sort(random.integers(0, n_columns // 5, size=(n_rows, 5)) * 5 + np.arange(5), axis=1).ravel()
    counts = random.integers(1, 50, size=len(indices)).astype(np.uint16)
    indptr = np.arange(0, len(indices) + 1, 5, dtype=np.int32)
    parts = {"data": counts, "indices": indices.astype(np.uint16), "indptr": indptr, "shape": np.array(shape)}
    return scipy.sparse.csr_matrix((counts.astype(float), indices, indptr), shape=shape), parts


def codes(*counts):
    return np.repeat(np.arange(len(counts)), counts).astype(np.int8)


@pytest.fixture
def webkb(put):
    def write(**changes):
        matrix, parts = sparse_parts((4199, 40679))
        words = "\n".join(f"w{i}" for i in range(40679)).encode()
        parts |= {
            "vocab": np.frombuffer(words, dtype=np.uint8),
            "category": codes(1641, 1124, 930, 504),
            "university": codes(226, 252, 255, 308, 3158),
            "university_names": np.array(["cornell", "texas", "washington", "wisconsin", "misc"]),
        }
        put("webkb_bow.npz", {**parts, **changes})
        return matrix

    return write


def test_webkb_from_the_folder(webkb):
    matrix = webkb()
    bunch = load_webkb()
    assert scipy.sparse.issparse(bunch.data)
    assert bunch.data.format == "csr"
    assert bunch.data.dtype == np.float64
    assert abs(bunch.data - matrix).nnz == 0
    assert bunch.feature_names[-1] == "w40678"
    assert bunch.target_names[bunch.target[[0, -1]]].tolist() == ["student", "project"]
    assert bunch.group_names[bunch.groups[[0, -1]]].tolist() == ["cornell", "misc"]


def test_damaged_webkb(webkb):
    webkb(category=codes(1640, 1125, 930, 504))
    with pytest.raises(DatasetDamagedError, match="not the data set 'webkb'"):
        load_webkb()
    webkb(indptr=np.arange(7))
    with pytest.raises(DatasetDamagedError, match="damaged"):
        load_webkb()


def test_corel_from_the_folder(put):
    matrix, parts = sparse_parts((400, 4096))
    put("corel4_rgb_hist16.npz", {**parts, "y": codes(100, 100, 100, 100)})
    bunch = load_corel()
    assert abs(bunch.data - matrix).nnz == 0
    assert bunch.data.indices.dtype == np.int32
    assert bunch.feature_names[256 * 3 + 16 * 2 + 1] == "r03g02b01"
    assert bunch.target_names.tolist() == ["eagle", "elephant", "horse", "tiger"]


def test_faces_from_the_folder(put):
    images = np.random.default_rng(0).integers(0, 256, size=(1755, 21, 12)).astype(np.uint8)
    put("faces_gender_lfw_21x12.npz", {"X": images, "y": codes(1044, 711)})
    bunch = load_faces()
    np.testing.assert_array_equal(bunch.images, images)
    np.testing.assert_array_equal(bunch.data[5], images[5].ravel())
    assert bunch.data.dtype == np.float64
    assert bunch.feature_names[12] == "row01column00"


@pytest.mark.parametrize(
    ("load", "source"),
    [(load_webkb, "JoshPF/WebKBUniPagePredictor"), (load_corel, "satishrdd/Fast"), (load_faces, "laz08/Image")],
)
def test_missing_file_says_where_it_is_public(load, source):
    with pytest.raises(DatasetUnavailableError, match=source):
        load()


def test_real_counts(real_data):
    webkb = load_webkb(data_home=real_data)
    assert webkb.data.shape == (4199, 40679)
    assert len(webkb.feature_names) == 40679
    assert np.bincount(webkb.target).tolist() == [1641, 1124, 930, 504]
    # Pages of students at cornell, texas, washington, wisconsin and elsewhere.
    assert np.bincount(webkb.groups[webkb.target == 0]).tolist() == [128, 148, 126, 156, 1083]
    assert np.count_nonzero(np.diff(webkb.data.tocsc().indptr) >= 2) == 19188
    corel = load_corel(data_home=real_data)
    assert corel.data.shape == (400, 4096)
    assert np.bincount(corel.target).tolist() == [100] * 4
    assert set(np.asarray(corel.data.sum(axis=1)).ravel().tolist()) == {9600.0}
    faces = load_faces(data_home=real_data)
    assert faces.images.shape == (1755, 21, 12)
    assert np.bincount(faces.target).tolist() == [1044, 711]
