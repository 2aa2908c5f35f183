"""``kernelweave inspect``: what a model file holds and where it comes from."""

from __future__ import annotations

import numpy as np
import pytest

import kernelweave
from kernelweave import KernelAligner, MKLClassifier, MonotoneClassifier, MonotoneRegressor, load_model, save_model
from kernelweave.persistence import read_metadata


def test_text(run, fitted):
    outcome = run("inspect", fitted)
    assert outcome.status == 0 and outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0] == f"File        {fitted}"
    assert f"by kernelweave {kernelweave.__version__} (python " in lines[1]
    assert "Fitted on   60 rows of data.csv, 3 columns" in lines
    assert "Columns     age, dose, level" in lines
    assert "Scaling     standard" in lines
    assert "Classes     ill, well of state" in lines
    assert "Held out: 15 stratified rows; fitted on the other 45" in lines
    assert "Certificate (the optimum lies between the two values)" in lines
    assert " s" in lines[-1] and "optimal after" in lines[-1]


def test_json(run, fitted):
    data = run("inspect", fitted, "--json").data
    model = load_model(fitted).steps[-1][1]
    assert data["command"] == "inspect" and data["model"] == str(fitted)
    assert data["metadata"] == read_metadata(fitted)
    assert [kernel["name"] for kernel in data["kernels"]] == model.kernel_names_.tolist()
    assert [kernel["weight"] for kernel in data["kernels"]] == model.kernel_weights_.tolist()
    assert data["certificate"]["objective"] == model.objective_
    assert data["certificate"]["seconds"] == data["metadata"]["fit_seconds"]


def test_a_model_saved_in_python(run, tmp_path, frame):
    model = MKLClassifier().fit(frame[["age", "dose"]].to_numpy(), np.arange(60) % 2)
    save_model(model, tmp_path / "m.skops")
    outcome = run("inspect", tmp_path / "m.skops")
    assert "Fitted on   60 rows, 2 columns\nClasses     0, 1\n\nClassifier" in outcome.out
    assert outcome.out.splitlines()[-1].endswith("iterations")


@pytest.mark.parametrize("kind", [MonotoneClassifier, MonotoneRegressor, KernelAligner])
def test_models_of_other_kinds_tell_their_certificate(run, tmp_path, frame, kind):
    model = kind().fit(frame[["age", "dose"]].to_numpy(), np.arange(60) % 2)
    save_model(model, tmp_path / "m.skops")
    outcome = run("inspect", tmp_path / "m.skops")
    assert outcome.status == 0 and f"Model       {kind.__name__}" in outcome.out
    assert ("Classes     0, 1" in outcome.out) == (kind is not MonotoneRegressor)
    assert "Certificate (the optimum lies between the two values)" in outcome.out
    data = run("inspect", tmp_path / "m.skops", "--json").data
    assert data["kernels"] == [] and data["certificate"]["objective"] == model.certificate_.primal


def test_many_columns_are_cut_short(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(30, 15)), columns=[f"c{i}" for i in range(15)])
    save_model(MKLClassifier().fit(X, np.arange(30) % 2), tmp_path / "m.skops")
    assert "c10, c11, ... (15 in all)\n" in run("inspect", tmp_path / "m.skops").out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda whole: whole[:-100], "damaged or incomplete"),
        (lambda whole: whole[: len(whole) // 2], "damaged or incomplete"),
        (lambda whole: b"", "is empty; fit and save the model again"),
        (lambda whole: b"weights: 1, 2, 3", "is no model file of kernelweave"),
    ],
)
def test_bad_model_files_are_refused(refused, fitted, tmp_path, content, message):
    (tmp_path / "m.skops").write_bytes(content(fitted.read_bytes()))
    assert message in refused("inspect", tmp_path / "m.skops")


def test_a_folder_is_refused(refused, tmp_path):
    assert "Is a directory" in refused("inspect", tmp_path) or "Permission" in refused("inspect", tmp_path)
