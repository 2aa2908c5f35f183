"""``kernelweave predict``: the same numbers as in Python, in any kind of table."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from kernelweave import MKLClassifier, MonotoneRegressor, load_model, save_model
from kernelweave.cli.tables import read_table


@pytest.fixture
def new(frame, tmp_path):
    """Ten rows with the columns in another order, and one column more."""
    path = tmp_path / "new.csv"
    frame[["level", "name", "dose", "age"]].head(10).to_csv(path, index=False)
    return path


@pytest.fixture
def expected(fitted, frame):
    model = load_model(fitted)
    X = frame[["age", "dose", "level"]].head(10)
    return model.predict(X), model.decision_function(X)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_predictions_in_a_file(run, fitted, new, expected, tmp_path, suffix):
    out = tmp_path / f"p{suffix}"
    outcome = run("predict", fitted, new, "--out", out)
    assert outcome.status == 0 and outcome.err == ""
    table = read_table(str(out))
    assert list(table.columns) == ["prediction", "decision_well"]
    assert table["prediction"].tolist() == expected[0].tolist()
    np.testing.assert_allclose(table["decision_well"], expected[1], rtol=1e-12)
    counts = {label: expected[0].tolist().count(label) for label in ("ill", "well")}
    assert outcome.out == f"10 predictions written to {out}: ill {counts['ill']}, well {counts['well']}\n"


def test_predictions_on_standard_output(run, fitted, new, expected):
    lines = run("predict", fitted, new).out.splitlines()
    assert lines[0] == "prediction,decision_well"
    assert [line.split(",")[0] for line in lines[1:]] == expected[0].tolist()


def test_json_with_and_without_a_file(run, fitted, new, expected, tmp_path):
    data = run("predict", fitted, new, "--json").data
    assert (data["command"], data["n_rows"], data["out"]) == ("predict", 10, None)
    assert data["columns"] == ["prediction", "decision_well"]
    assert [row[0] for row in data["rows"]] == expected[0].tolist()
    assert [row[1] for row in data["rows"]] == pytest.approx(expected[1])
    data = run("predict", fitted, new, "--json", "--out", tmp_path / "p.csv").data
    assert "rows" not in data and sum(data["counts"].values()) == 10
    assert data["out"] == str(tmp_path / "p.csv")


def test_a_decision_value_for_each_of_several_classes(run, tmp_path, frame):
    y = np.arange(60) % 3
    model = MKLClassifier().fit(frame[["age", "dose"]], y)
    save_model(model, tmp_path / "m.skops")
    frame.to_csv(tmp_path / "new.csv", index=False)
    data = run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--json").data
    assert data["columns"] == ["prediction", "decision_0", "decision_1", "decision_2"]
    assert [row[0] for row in data["rows"]] == model.predict(frame[["age", "dose"]]).tolist()


def test_a_model_fitted_on_columns_without_names(run, refused, tmp_path, frame):
    X = frame[["age", "dose", "level"]].to_numpy()
    model = MKLClassifier().fit(X, frame["state"])
    save_model(model, tmp_path / "m.skops")
    frame.drop(columns="state").to_csv(tmp_path / "new.csv", index=False)
    rows = run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--json").data["rows"]
    assert [row[0] for row in rows] == model.predict(X).tolist()
    frame[["age", "dose"]].to_csv(tmp_path / "new.csv", index=False)
    line = refused("predict", tmp_path / "m.skops", tmp_path / "new.csv")
    assert "has 2 numeric columns, but" in line and "3 columns without names; keep exactly these columns" in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="dose"), "has no column 'dose'; its columns are 'level', 'name', 'age'"),
        (lambda f: f.assign(dose=[None, *f["dose"][1:]]), "column 'dose' has no value in row 1; fill it in"),
        (
            lambda f: f.assign(dose=[*f["dose"][:-1], "much"]),
            "column 'dose' holds 'much', which is not a number, in row 10",
        ),
        (lambda f: f.assign(dose=[*f["dose"][:-1], np.inf]), "column 'dose' is infinite in row 10"),
        (lambda f: f.head(0), "has a header but no rows"),
    ],
)
def test_tables_that_do_not_fit_are_refused(refused, fitted, new, tmp_path, change, message):
    change(pd.read_csv(new)).to_csv(new, index=False)
    out = tmp_path / "p.csv"
    out.write_text("old")
    assert message in refused("predict", fitted, new, "--out", out)
    assert out.read_text() == "old"


def test_bad_paths_are_refused(refused, fitted, new, tmp_path):
    assert "would replace the file that is read" in refused("predict", fitted, new, "--out", new)
    assert "the suffix says what a table is" in refused("predict", fitted, new, "--out", tmp_path / "p.txt")
    assert "does not exist; create it first" in refused("predict", fitted, new, "--out", tmp_path / "no" / "p.csv")
    assert "No such file or directory" in refused("predict", tmp_path / "none.skops", new)
    assert "No such file or directory" in refused("predict", fitted, tmp_path / "none.csv")


def test_ctrl_c_leaves_the_old_predictions(run, fitted, new, tmp_path, monkeypatch):
    out = tmp_path / "p.csv"
    out.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    assert run("predict", fitted, new, "--out", out).status == 130
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["new.csv", "p.csv"]


def test_numbers_that_a_regression_predicts(run, frame, tmp_path):
    numbers = frame[["age", "dose"]]
    model = MonotoneRegressor().fit(numbers, frame["age"])
    save_model(model, tmp_path / "m.skops")
    numbers.to_csv(tmp_path / "new.csv", index=False)
    outcome = run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert outcome.out == f"60 predictions written to {tmp_path / 'p.csv'}\n"
    table = read_table(str(tmp_path / "p.csv"))
    assert list(table.columns) == ["prediction"]
    np.testing.assert_allclose(table["prediction"], model.predict(numbers), rtol=1e-12)
