"""Tables come back as they were; broken ones are refused with the column and the row."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from kernelweave.cli import tables
from kernelweave.cli.tables import (
    TableError,
    check_complete,
    check_numbers,
    is_nameless,
    is_numeric,
    read_table,
    stray_text,
    table_kind,
    take_columns,
    write_table,
)

SUFFIXES = [".csv", ".tsv", ".csv.gz", ".TSV.GZ", ".parquet"]
FRAME = pd.DataFrame({"a": [1, 2], "b": [0.1, 1 / 3], "c": ["x, y", "ü\tz"], "d": [True, False]})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tables_come_back(suffix, tmp_path):
    path = str(tmp_path / f"my.data{suffix}")
    write_table(FRAME, path)
    pd.testing.assert_frame_equal(read_table(path), FRAME)


def test_the_suffix_decides(tmp_path):
    assert table_kind("a.b.CSV.GZ") == ".csv"
    for name in ("table", "table.xlsx", "table.gz", "table.parquet.gz", ".csv.zip"):
        with pytest.raises(TableError, match=r"use \.csv, \.tsv, \.csv\.gz, \.tsv\.gz or \.parquet"):
            table_kind(name)
    with pytest.raises(TableError, match="suffix"):
        write_table(FRAME, str(tmp_path / "out.txt"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "cannot be read as a table"),
        ("a.csv", b"a,b\n", "has a header but no rows"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "cannot be read as a table: .*line 3"),
        ("a.csv", b"a,b\n1,\xff\xfe\n", "is not UTF-8 text; save it as UTF-8"),
        ("a.csv.gz", b"a,b\n1,2\n", "cannot be read as a table"),
        ("a.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 500, mtime=0)[:-20], "cannot be read as a table"),
        ("a.parquet", b"PAR1 nothing of the kind PAR1", "cannot be read as a table"),
        ("a.parquet", b"", "cannot be read as a table"),
    ],
)
def test_broken_files_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(str(path))
    assert name in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_files_are_named(tmp_path, suffix):
    with pytest.raises(FileNotFoundError) as caught:
        read_table(str(tmp_path / f"none{suffix}"))
    assert f"none{suffix}" in str(caught.value)


def test_a_mark_at_the_beginning_is_not_part_of_the_first_name(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert list(read_table(str(tmp_path / "a.csv")).columns) == ["a", "b"]


def test_names_are_text_and_the_index_is_not_kept(tmp_path):
    frame = pd.DataFrame({1: [1.0, 2.0]}, index=[7, 9])
    frame.columns = ["1"]
    frame.to_parquet(tmp_path / "a.parquet")
    read = read_table(str(tmp_path / "a.parquet"))
    assert list(read.columns) == ["1"] and list(read.index) == [0, 1]


def test_columns_by_name():
    assert list(take_columns(FRAME, ["d", "a"], "t.csv").columns) == ["d", "a"]
    with pytest.raises(TableError, match=r"'t.csv' has no column 'A'; its columns are 'a', 'b', 'c', 'd'"):
        take_columns(FRAME, ["A"], "t.csv")
    with pytest.raises(TableError, match=r"has no columns 'x', 'y'; "):
        take_columns(FRAME, ["x", "a", "y"], "t.csv")
    wide = pd.DataFrame(np.zeros((1, 30)), columns=[f"c{i}" for i in range(30)])
    with pytest.raises(TableError, match=r"'c9', \.\.\. \(30 in all\)$"):
        take_columns(wide, ["x"], "t.csv")


def test_another_separator_is_recognised():
    frame = pd.DataFrame({"a;b": ["1;2"]})
    with pytest.raises(TableError, match=r"read as a single column: separate values by commas in \.csv"):
        take_columns(frame, ["a"], "t.csv")


def test_kinds_of_columns():
    assert [is_numeric(FRAME[name]) for name in FRAME] == [True, True, False, True]
    assert is_numeric(pd.Series([1, None], dtype="Int64")) and not is_numeric(pd.Series(pd.to_datetime(["2020-01-01"])))
    assert is_nameless("Unnamed: 0") and not is_nameless("Unnamed: x") and not is_nameless("age")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan, np.nan], "column 'x' has no value in row 2 and 1 more; fill it in, or leave the row"),
        (["a", "b", None], "column 'x' has no value in row 3; fill it in"),
    ],
)
def test_missing_values_are_named(values, message):
    with pytest.raises(TableError, match=message):
        check_complete(pd.DataFrame({"w": [1, 2, 3], "x": values}), "t.csv")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.inf, 2.0], "column 'x' is infinite in row 2; fill it in"),
        ([1.0, 2.0, np.nan], "column 'x' has no value in row 3"),
        (["1", "two", "three"], "column 'x' holds 'two', which is not a number, in row 2 and 1 more; because"),
        (["1", "2", "3"], "column 'x' holds (str|object) instead of numbers; because"),
        (pd.to_datetime(["2020-01-01"] * 3), "column 'x' holds .*; because"),
    ],
)
def test_what_is_no_number_is_named(values, message):
    with pytest.raises(TableError, match=message):
        check_numbers(pd.DataFrame({"w": [1, 2, 3], "x": values}), "t.csv", "; because")


@pytest.mark.parametrize(
    ("values", "stray"),
    [
        (["1", "2.5", "oops", "1e3", "x"], (3, "oops")),
        ([None, "1", "n/a?", "3", "4"], (3, "n/a?")),
        (["1", "b", "c", "2"], None),
        (["a", "b", "c"], None),
        (["1", "2"], None),
        ([1.0, 2.0], None),
        ([None, None], None),
    ],
)
def test_texts_among_numbers_are_found(values, stray):
    assert stray_text(pd.Series(values)) == stray


def test_numbers_pass():
    check_numbers(FRAME[["a", "b", "d"]], "t.csv")
    check_numbers(FRAME[[]], "t.csv")
    check_numbers(pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}), "t.csv")


def test_an_interrupted_write_leaves_the_old_table(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "write_atomically", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_table(FRAME, str(path))
    assert path.read_text() == "old"
