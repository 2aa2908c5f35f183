import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import make_column_selector

from kernelweave.kernels import resolve_columns, select_columns

VALUES = np.arange(12.0).reshape(4, 3)
VALUES.flags.writeable = False
NAMES = ["x", "y", "z"]
FRAMES = {"pandas": pd.DataFrame(VALUES, columns=NAMES), "polars": pl.DataFrame(VALUES, schema=NAMES)}
CONTAINERS = {
    **FRAMES,
    "array": VALUES,
    "fortran": np.asfortranarray(VALUES),
    "float32": VALUES.astype(np.float32),
    "integers": VALUES.astype(int),
    "objects": VALUES.astype(object),
    "list": VALUES.tolist(),
    "csr": scipy.sparse.csr_matrix(VALUES),
    "csc": scipy.sparse.csc_array(VALUES),
    "coo": scipy.sparse.coo_matrix(VALUES),
}


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


def chosen(columns, X, numeric=True):
    return select_columns(X, resolve_columns(columns, X), numeric)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, [0, 1, 2]),
        (1, [1]),
        (-1, [2]),
        (np.int64(1), [1]),
        ([2, 0], [2, 0]),
        (np.array([2, 0]), [2, 0]),
        (range(2), [0, 1]),
        ((0, 2), [0, 2]),
        ([1, 1], [1, 1]),
        (slice(1, None), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        (slice(-2, None), [1, 2]),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (pd.Series([True, False, True]), [0, 2]),
        (lambda X: [2], [2]),
    ],
)
def test_positions_in_every_container(container, columns, expected):
    result = chosen(columns, CONTAINERS[container])
    assert result.dtype == np.float64
    np.testing.assert_array_equal(dense(result), VALUES[:, expected])


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("y", [1]),
        (["z", "x"], [2, 0]),
        (pd.Index(["z"]), [2]),
        (slice("x", "y"), [0, 1]),
        (slice("y", None), [1, 2]),
        (lambda X: [name for name in X.columns if name > "x"], [1, 2]),
    ],
)
def test_names_in_frames(frame, columns, expected):
    np.testing.assert_array_equal(chosen(columns, frame), VALUES[:, expected])


def test_column_selector_of_scikit_learn():
    frame = FRAMES["pandas"].assign(word=list("abcd"))
    np.testing.assert_array_equal(chosen(make_column_selector(dtype_include="number"), frame), VALUES)
    np.testing.assert_array_equal(chosen(make_column_selector(pattern="[yz]"), frame), VALUES[:, 1:])


@pytest.mark.parametrize("columns", [None, ["x", "z"], [0, 2], slice(0, 2)])
@pytest.mark.parametrize("kind", FRAMES)
def test_new_frames_are_read_by_name(kind, columns):
    fitted = resolve_columns(columns, FRAMES[kind])
    expected = select_columns(FRAMES[kind], fitted)
    turned = FRAMES[kind][NAMES[::-1]]
    np.testing.assert_array_equal(select_columns(turned, fitted), expected)
    more = turned.assign(w=1.0) if kind == "pandas" else turned.with_columns(w=pl.lit(1.0))
    np.testing.assert_array_equal(select_columns(more, fitted), expected)
    np.testing.assert_array_equal(select_columns(VALUES, fitted), expected)
    with pytest.raises(ValueError, match="no column 'x'; the columns are 'z', 'y'"):
        select_columns(FRAMES[kind][["z", "y"]], fitted)


def test_new_samples_must_have_as_many_columns():
    fitted = resolve_columns([0], VALUES)
    with pytest.raises(ValueError, match="have 2 columns, but the kernels were fitted on 3"):
        select_columns(VALUES[:, :2], fitted)
    with pytest.raises(ValueError, match="have 2 columns"):
        select_columns(FRAMES["pandas"][["x", "y"]], fitted)


def test_frames_without_distinct_names_go_by_position():
    frame = pd.DataFrame(VALUES, columns=["x", "x", "y"])
    np.testing.assert_array_equal(chosen([1, 2], frame), VALUES[:, 1:])
    np.testing.assert_array_equal(chosen([1, 2], pd.DataFrame(VALUES)), VALUES[:, 1:])
    with pytest.raises(ValueError, match="not a frame with distinct names"):
        chosen("y", frame)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("w", "no column 'w'; the columns are 'x', 'y', 'z'"),
        (["x", "w"], "no column 'w'"),
        (slice("x", "w"), "no column 'w'"),
        (3, "no column 3; the samples have 3 columns"),
        ([-4], "no column -4"),
        ([], "selects none of 3"),
        (slice(3, 3), "selects none"),
        ([False] * 3, "selects none"),
        ([True, False], "mask of columns has 2 entries for 3 columns"),
        (1.5, "cannot choose columns by 1.5"),
        ([0.5], "cannot choose columns by 0.5"),
        (True, "mask of columns has 1 entries"),
        ([["x"]], "cannot choose columns by"),
        (lambda X: [], "selects none"),
    ],
)
def test_impossible_choices(columns, message):
    with pytest.raises(ValueError, match=message):
        resolve_columns(columns, FRAMES["pandas"])


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="not a frame"):
        resolve_columns("x", VALUES)


def test_long_lists_of_names_are_cut():
    frame = pd.DataFrame(np.zeros((1, 30)), columns=[f"c{i}" for i in range(30)])
    with pytest.raises(ValueError, match=r"'c9', \.\.\. \(30\)$"):
        resolve_columns("x", frame)


def test_views_where_possible():
    assert np.shares_memory(chosen(None, VALUES), VALUES)
    assert np.shares_memory(chosen(slice(1, 3), VALUES), VALUES)
    assert np.shares_memory(chosen([1, 2], VALUES), VALUES)
    rows = scipy.sparse.csr_array(VALUES)
    assert np.shares_memory(chosen(None, rows).data, rows.data)


def test_structured_samples_stay_objects():
    frame = pd.DataFrame({"protein": ["ACD", "EF"], "age": [1.0, 2.0]})
    for X in (frame, pl.DataFrame(frame.to_dict("list")), frame.to_numpy()):
        assert chosen(0, X, numeric=False).tolist() == ["ACD", "EF"]
        assert chosen(None, X, numeric=False).shape == (2, 2)
        assert chosen(1, X).tolist() == [[1.0], [2.0]]
    for X in (["ACD", "EF"], np.array(["ACD", "EF"]), pd.Series(["ACD", "EF"]), pl.Series(["ACD", "EF"])):
        assert chosen(None, X, numeric=False).tolist() == ["ACD", "EF"]
    assert chosen(0, scipy.sparse.csr_matrix([[0.0], [2.0]]), numeric=False).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("samples", [[[1, 2], [3]], [{1}, {2}], [np.ones((2, 2)), np.ones((3, 2))], [object()] * 2])
def test_samples_of_any_kind_are_objects_one_each(samples):
    result = chosen(None, samples, numeric=False)
    assert result.shape == (2,)
    assert all(a is b for a, b in zip(result, samples, strict=True))
    with pytest.raises(ValueError, match="the samples have none"):
        resolve_columns(0, np.ones((2, 2, 2)))
    assert chosen(None, np.ones((2, 3, 4)), numeric=False).shape == (2, 3, 4)
    with pytest.raises(ValueError, match="takes numeric columns"):
        chosen(None, np.ones((2, 3, 4)))


def test_undecided_kernels_get_what_the_columns_hold():
    frame = pd.DataFrame({"word": ["a", "b"], "age": [1, 2]})
    assert chosen("word", frame, None).tolist() == ["a", "b"]
    assert chosen("age", frame, None).tolist() == [[1.0], [2.0]]
    assert chosen(1, frame.to_numpy(), None).dtype == np.float64
    assert chosen(None, frame, None).dtype == object


def test_numeric_frames_of_mixed_types():
    frame = pd.DataFrame(
        {"i": [1, 2], "b": [True, False], "f": [0.5, 1.5], "n": pd.array([3, 4], dtype="Int64")},
    )
    expected = [[1.0, 1.0, 0.5, 3.0], [2.0, 0.0, 1.5, 4.0]]
    assert chosen(None, frame).tolist() == expected
    assert chosen(None, pl.DataFrame({name: frame[name].tolist() for name in frame})).tolist() == expected


MISSING = [
    (np.array([[1.0, 2.0], [np.nan, 1.0]]), "column 0 holds NaN in row 1"),
    (np.array([[1.0, np.inf], [1.0, 1.0]]), "column 1 holds infinity in row 0"),
    (scipy.sparse.csr_matrix([[0.0, 2.0], [0.0, np.nan]]), "column 1 holds NaN in row 1"),
    (pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}), "column 'b' holds NaN in row 1"),
    (pl.DataFrame({"a": [1, 2], "b": [1, None]}), "column 'b' holds NaN in row 1"),
    (pd.DataFrame({"a": [1.0, 2.0], "b": ["3", "dog"]}), "column 'b' holds 'dog' in row 1, not a number"),
    (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}, dtype=object), "column 'b' holds NaN in row 1"),
    (pd.DataFrame({"a": [[1.0], 2.0]}), r"column 'a' holds \[1.0\] in row 0, not a number"),
    (np.array([["1", "x"]]), "column 1 holds .*'x'.* in row 0, not a number"),
    (np.array([[1j]]), "column 0 holds complex128, not numbers"),
    (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "column 'a' holds datetime64"),
]


@pytest.mark.parametrize(("X", "message"), MISSING)
def test_what_is_not_a_finite_number_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        chosen(None, X)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_objects_are_named(missing):
    frame = pd.DataFrame({"age": [1, 2], "word": ["a", missing]}, dtype=object)
    with pytest.raises(ValueError, match="column 'word' is missing in row 1"):
        chosen("word", frame, numeric=False)
    with pytest.raises(ValueError, match="column 'word' is missing in row 1"):
        chosen(None, frame, numeric=False)
    with pytest.raises(ValueError, match="column 0 is missing in row 1"):
        chosen(None, np.array(["a", missing], dtype=object), numeric=False)
    with pytest.raises(ValueError, match="is missing in row 1"):
        chosen(None, np.array([0.0, np.nan]), numeric=False)


def test_large_finite_numbers_are_finite():
    huge = np.full((3, 1), 1.7e308)
    assert chosen(None, huge) is not None
