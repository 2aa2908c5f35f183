"""``kernelweave fit``: what it writes and says, and what it refuses."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import kernelweave
from kernelweave import MKLClassifier, load_model
from kernelweave.cli import fit as module
from kernelweave.persistence import read_metadata

KERNELS = """
[[kernel]]
name = "small"
type = "RBF"
columns = ["dose", "age"]
gamma = "median"

[[kernel]]
name = "all"
type = "Linear"
"""


@pytest.fixture
def fit(run, table, tmp_path):
    """``fit("--C", 2)`` with the usual table and model file."""
    return lambda *more: run("fit", table, "--target", "state", "--model", tmp_path / "m.skops", *more)


def test_the_summary_says_what_was_done(fit, tmp_path):
    outcome = fit()
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "Data        data.csv: 60 rows, 3 numeric columns (standardised)"
    assert lines[1] == "Target      state: ill 30, well 30"
    assert "Held out: 15 stratified rows; fitted on the other 45" in lines
    assert "Fitted again on all 60 rows:" in lines
    assert "Certificate (the optimum lies between the two values)" in lines
    assert lines[-1] == f"Model written to {tmp_path / 'm.skops'}; it contains the rows it was fitted on."
    assert [name for name in ("linear", "quadratic", "rbf[0.0625]", "rbf[16]") if f"\n{name} " in outcome.out]
    assert outcome.err == "Ignored (not numbers, without a name, or by --ignore): name\n"
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "m.skops"]


def test_json_is_one_object_and_its_schema_is_kept(fit, tmp_path):
    outcome = fit("--json", "--quiet")
    assert outcome.err == ""
    data = outcome.data
    assert list(data) == [
        "command", "kernelweave", "model", "data", "held_out", "kernels", "settings", "n_support", "certificate"
    ]  # fmt: skip
    assert (data["command"], data["kernelweave"]) == ("fit", kernelweave.__version__)
    assert data["model"] == str(tmp_path / "m.skops")
    assert data["data"] == {
        "file": "data.csv",
        "target": "state",
        "n_rows": 60,
        "classes": {"ill": 30, "well": 30},
        "columns": [
            {"name": "age", "dtype": "int64", "numeric": True},
            {"name": "dose", "dtype": "float64", "numeric": True},
            {"name": "level", "dtype": "float64", "numeric": True},
        ],
        "ignored": ["name"],
        "scale": "standard",
    }
    assert set(data["held_out"]["accuracy"]) == {"kernelweave", "best_single_kernel", "uniform_average"}
    assert sum(kernel["importance"] for kernel in data["kernels"]) == pytest.approx(1.0)
    assert data["certificate"]["lower_bound"] <= data["certificate"]["objective"]
    assert data["certificate"]["relative_gap"] <= data["settings"]["tol"] == 1e-3
    assert data["certificate"]["seconds"] > 0


def test_the_model_is_the_one_of_python_on_all_rows(fit, frame, tmp_path):
    fit("--scale", "none", "--C", 2, "--tol", 1e-6)
    loaded = load_model(tmp_path / "m.skops")
    assert isinstance(loaded, MKLClassifier)
    X = frame[["age", "dose", "level"]]
    model = MKLClassifier(C=2, tol=1e-6).fit(X, frame["state"])
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-9)
    assert loaded.get_params()["verbose"] == 0


def test_standardised_models_take_the_table_as_it_is(fit, frame, tmp_path):
    fit("--tol", 1e-6)
    loaded = load_model(tmp_path / "m.skops")
    X = frame[["age", "dose", "level"]].to_numpy()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = MKLClassifier(tol=1e-6).fit(Z, frame["state"])
    np.testing.assert_allclose(
        loaded.decision_function(frame[["age", "dose", "level"]]), model.decision_function(Z), atol=1e-9
    )


def test_the_order_of_columns_does_not_matter(fit, frame, tmp_path):
    fit()
    loaded = load_model(tmp_path / "m.skops")
    X = frame[["age", "dose", "level"]]
    np.testing.assert_array_equal(loaded.decision_function(X[["level", "dose", "age"]]), loaded.decision_function(X))


def test_options_reach_the_classifier(fit, tmp_path):
    data = fit("--margin", "l2", "--C", "auto", "--trace", "sum", "--dtype", "float32", "--json").data
    assert data["settings"] | {"C": None, "trace": None} == {
        "margin": "l2", "C": None, "C_learned": True, "weights": "nonnegative", "trace": None,
        "normalize": "cosine", "center": False, "psd_repair": None, "tol": 1e-3,
    }  # fmt: skip
    assert data["settings"]["trace"] == pytest.approx(8 * 60)
    assert load_model(tmp_path / "m.skops").steps[-1][1].dtype == "float32"


def test_kernels_from_a_file(fit, frame, tmp_path):
    (tmp_path / "k.toml").write_text(KERNELS)
    outcome = fit("--kernels", tmp_path / "k.toml", "--json")
    assert outcome.err == ""
    assert [kernel["name"] for kernel in outcome.data["kernels"]] == ["small", "all"]
    assert outcome.data["data"]["ignored"] == ["name"]
    (tmp_path / "k.toml").write_text(KERNELS.rpartition("[[kernel]]")[0])
    data = fit("--kernels", tmp_path / "k.toml", "--json").data
    assert [column["name"] for column in data["data"]["columns"]] == ["age", "dose"]
    assert data["data"]["ignored"] == ["name", "level"]


def test_text_columns_go_through_to_kernels_that_read_them(fit, tmp_path, monkeypatch):
    seen = []

    def lengths(X, Y):
        seen.extend(type(item) for item in X)
        return np.minimum.outer([len(x) for x in X], [len(y) for y in Y]).astype(float)

    monkeypatch.setattr(module, "read_kernels", lambda path: [("text", kernel_of(lengths), ["name"]), *LINEAR])
    monkeypatch.setattr(module, "save_model", lambda model, path, facts: None)
    data = fit("--kernels", "unread.toml", "--json").data
    assert set(seen) == {str}
    assert [column["numeric"] for column in data["data"]["columns"]] == [True, True, False, True]


def kernel_of(function):
    kernel = kernelweave.kernels.FunctionKernel(function)
    kernel.vector_input = False
    return kernel


LINEAR = [("numbers", kernelweave.kernels.Linear(), None)]


def test_columns_are_left_out_on_request_and_without_a_name(run, frame, tmp_path):
    frame.to_csv(tmp_path / "d.csv")
    arguments = ["fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops", "--test-size", 0]
    outcome = run(*arguments, "--ignore", "age", "--json")
    assert [column["name"] for column in outcome.data["data"]["columns"]] == ["dose", "level"]
    assert outcome.data["data"]["ignored"] == ["Unnamed: 0", "age", "name"]
    assert outcome.data["held_out"] is None
    assert "Unnamed: 0, age, name" in outcome.err


def test_a_column_with_a_stray_text_can_be_left_out(run, frame, tmp_path):
    frame.assign(dose=["?", *frame["dose"][1:]]).to_csv(tmp_path / "d.csv", index=False)
    arguments = ["fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops", "--test-size", 0]
    assert run(*arguments).status == 2
    assert run(*arguments, "--ignore", "dose").status == 0


def test_identifiers_are_pointed_out(run, frame, tmp_path):
    frame.assign(id=np.arange(60)[::-1]).to_csv(tmp_path / "d.csv", index=False)
    arguments = ["fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops", "--test-size", 0]
    assert "Column 'id' holds a different whole number in every row; if it is an identifier" in run(*arguments).err
    assert "Column 'id'" not in run(*arguments, "--ignore", "id").err
    assert "Column" not in run(*arguments, "--quiet").err


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (lambda y: y == "ill", [False, True]),
        (lambda y: np.where(y == "ill", 3, 7), [3, 7]),
        (lambda y: np.where(y == "ill", 0.0, 1.0), [0, 1]),
        (lambda y: pd.Categorical(y), ["ill", "well"]),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_of_any_type(run, frame, tmp_path, labels, expected, suffix):
    changed = frame.assign(state=labels(frame["state"]))
    path = tmp_path / f"d{suffix}"
    changed.to_csv(path, index=False) if suffix == ".csv" else changed.to_parquet(path)
    outcome = run("fit", path, "--target", "state", "--model", tmp_path / "m.skops", "--test-size", 0, "--json")
    assert outcome.status == 0, outcome
    model = load_model(tmp_path / "m.skops")
    assert model.classes_.tolist() == expected
    assert read_metadata(tmp_path / "m.skops")["classes"] == expected


def test_metadata_of_the_model_file(fit, tmp_path):
    data = fit("--json").data
    metadata = read_metadata(tmp_path / "m.skops")
    assert metadata["columns"] == data["data"]["columns"]
    assert metadata["held_out"] == data["held_out"]
    assert metadata["data"]["target"] == "state" and metadata["data"]["file"] == "data.csv"
    assert metadata["n_samples"] == 60 and metadata["fit_seconds"] == data["certificate"]["seconds"]


def test_the_same_seed_gives_the_same_numbers(fit):
    first, second, other = (fit("--json", "--seed", seed).data for seed in (1, 1, 2))
    assert first["held_out"] == second["held_out"] and first["kernels"] == second["kernels"]
    assert other["kernels"] == first["kernels"]


INDEFINITE = """
[[kernel]]
name = "tanh"
type = "Sigmoid"
gamma = 0.7
coef0 = -0.5

[[kernel]]
name = "who"
type = "ValueDifference"
columns = ["name", "group"]
"""


def test_indefinite_kernels_and_those_that_learn_from_labels(run, refused, frame, tmp_path):
    (tmp_path / "k.toml").write_text(INDEFINITE, encoding="utf-8")
    groups = np.where(frame["state"] == "ill", "a", "b")
    frame.assign(group=groups).to_csv(tmp_path / "data.csv", index=False)
    arguments = ["fit", tmp_path / "data.csv", "--target", "state", "--model", tmp_path / "m.skops"]
    arguments += ["--kernels", tmp_path / "k.toml"]
    assert "psd_repair='clip'" in refused(*arguments)
    outcome = run(*arguments, "--psd-repair", "flip", "--json")
    assert outcome.status == 0
    assert outcome.data["settings"]["psd_repair"] == "flip"
    assert outcome.data["held_out"]["correct"]["kernelweave"] == 15
    assert load_model(tmp_path / "m.skops")[-1].psd_repair == "flip"
