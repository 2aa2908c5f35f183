"""The table of errors and limits (docs/errors.md), row by row, at the command line."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from kernelweave import MKLClassifier
from kernelweave.gram.preparing import memory


@pytest.fixture
def fit(tmp_path):
    """Arguments of a fit on a frame, with kernels as the text of a TOML file."""

    def arguments(frame, *more, kernels=None, target="state"):
        frame.to_csv(tmp_path / "d.csv", index=False)
        if kernels is not None:
            (tmp_path / "k.toml").write_text(kernels)
            more = ("--kernels", tmp_path / "k.toml", *more)
        return ("fit", tmp_path / "d.csv", "--target", target, "--model", tmp_path / "m.skops", *more)

    yield arguments
    assert not (tmp_path / "m.skops").exists(), "no model file may be left behind"


def kernel(name, kind, columns=None, **parameters):
    lines = ["[[kernel]]", f'name = "{name}"', f'type = "{kind}"']
    lines += [] if columns is None else [f"columns = {columns}"]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in parameters.items())]) + "\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.assign(dose=[np.nan, *f["dose"][1:]]), "column 'dose' has no value in row 1; fill it in"),
        (lambda f: f.assign(dose=[*f["dose"][:-1], np.inf]), "column 'dose' is infinite in row 60"),
        (lambda f: f.assign(state=[None, *f["state"][1:]]), "column 'state' has no value in row 1"),
        (
            lambda f: f.assign(dose=["1,5", *f["dose"][1:]]),
            "column 'dose' holds '1,5' in row 1, but numbers in most others; correct it, or leave the column out: "
            "--ignore dose",
        ),
        (lambda f: f[["name", "state"]], "has no numeric column beside the target 'state'"),
        (lambda f: f.assign(state="ill"), "column 'state' holds one class only (ill); two are needed"),
        (lambda f: f.assign(state=f["dose"]), "such as "),
        (lambda f: f.assign(state=["odd", *f["state"][1:]]), "class odd has too few rows (1) to hold some out"),
    ],
)
def test_values_that_cannot_be_fitted(refused, fit, frame, change, message):
    assert message in refused(*fit(change(frame)))


def test_a_target_that_is_not_there(refused, fit, frame):
    line = refused(*fit(frame, target="diagnosis"))
    assert "has no column 'diagnosis'; its columns are 'age', 'dose', 'name', 'level', 'state'" in line


def test_a_column_to_ignore_that_is_not_there(refused, fit, frame):
    assert "has no column 'id'" in refused(*fit(frame, "--ignore", "id"))


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        (kernel("k", "RBF", ["weight"]), "has no column 'weight'; its columns are"),
        (kernel("k", "RBF", ["state"]), "kernel 'k': key 'columns' has the target 'state'"),
        (kernel("k", "RBF", ["name"]), "is not a number, in row 1 and 59 more; kernel 'k' (RBF) takes numbers"),
        (kernel("k", "RBF", ["dose"], gamma=-1), "kernel 'k': gamma must be a positive number"),
        (kernel("k", "Sigmoid", coef0=-1.0), "Kernel 'k' "),
        (kernel("tanh", "Sigmoid", gamma=5.0, coef0=3.0), "Kernel 'tanh' is not positive semidefinite: "),
        (kernel("k", "ChiSquared", ["level"]), "must not be negative, but feature 0 of sample "),
        (kernel("k", "ChiSquared", ["level"]), "numeric columns were standardised: --scale none leaves them"),
        (kernel("k", "RBF") + kernel("flat", "Linear", ["flat"]), "Kernel 'flat' is zero on the training samples"),
    ],
)
def test_kernels_that_cannot_be_used(refused, fit, frame, kernels, message):
    assert message in refused(*fit(frame.assign(flat=1.0), kernels=kernels))


def test_an_indefinite_kernel_is_named_with_its_smallest_eigenvalue(refused, fit, frame):
    line = refused(*fit(frame, kernels=kernel("tanh", "Sigmoid", gamma=5.0, coef0=3.0)))
    assert "smallest eigenvalue" in line and "-" in line.split("smallest eigenvalue")[1]


def test_classes_that_no_hard_margin_separates(refused, fit, frame):
    flipped = frame.assign(state=np.where(np.arange(60) % 2 == 0, "a", "b"))
    line = refused(*fit(flipped, "--margin", "hard", kernels=kernel("k", "Linear", ["dose"])))
    assert "no combination of these kernels separates the labelled samples" in line
    assert "margin='l1' or margin='l2'" in line


def test_c_is_learned_only_with_the_2_norm(refused, fit, frame):
    assert "C='auto' needs margin='l2'" in refused(*fit(frame, "--C", "auto"))


def test_more_memory_than_there_is(refused, fit, frame, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    line = refused(*fit(frame))
    assert "7 kernel matrices of 45 samples need about" in line and "dtype='float32'" in line


def test_a_model_file_that_would_replace_the_table(refused, fit, frame, tmp_path):
    arguments = fit(frame)
    assert "would replace the file that is read" in refused(*arguments[:-1], tmp_path / "d.csv")
    assert "is a folder; name a file in it" in refused(*arguments[:-1], tmp_path)


def test_a_damaged_kernel_file(refused, fit, frame):
    assert "k.toml' is not valid TOML" in refused(*fit(frame, kernels="[[kernel"))


def test_a_missing_extra_is_named_before_the_work_begins(refused, fit, frame, monkeypatch):
    from kernelweave.cli import fit as module
    from kernelweave.exceptions import MissingExtraError

    def missing(name, extra, purpose):
        raise MissingExtraError(f"{purpose} needs 'skops'. Install it with: pip install 'kernelweave[{extra}]'")

    monkeypatch.setattr(module, "import_extra", missing)
    monkeypatch.setattr(module, "read_table", None)
    assert refused(*fit(frame)).endswith("pip install 'kernelweave[cli]'.")


@pytest.mark.parametrize("when", ["fit", "predict"])
def test_ctrl_c_writes_nothing(run, fit, frame, monkeypatch, when, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(MKLClassifier, when, interrupt)
    outcome = run(*fit(frame, "--quiet"))
    assert (outcome.status, outcome.out) == (130, "")
    assert outcome.err == "kernelweave: interrupted; no file was changed halfway.\n"
    assert os.listdir(tmp_path) == ["d.csv"]


def test_not_converged_keeps_the_best_point_and_warns(run, frame, tmp_path):
    frame.to_csv(tmp_path / "d.csv", index=False)
    outcome = run(
        "fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops", "--json", "--quiet",
        "--tol", "1e-14", "--time-limit", "1e-6", "--test-size", "0",
    )  # fmt: skip
    assert outcome.status == 0
    certificate = outcome.data["certificate"]
    assert certificate["status"] == "time_limit" and certificate["relative_gap"] > 1e-14
    assert outcome.err.startswith("kernelweave: warning: Kernel weights: time limit after ")
    assert "relative duality gap of" in outcome.err and len(outcome.err.splitlines()) == 1


def test_an_old_model_survives_a_failed_fit(refused, frame, tmp_path):
    frame.assign(state="ill").to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "m.skops").write_text("old")
    refused("fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops")
    assert (tmp_path / "m.skops").read_text() == "old"


def test_a_table_with_another_separator(refused, frame, tmp_path):
    frame.to_csv(tmp_path / "d.csv", index=False, sep=";")
    line = refused("fit", tmp_path / "d.csv", "--target", "state", "--model", tmp_path / "m.skops")
    assert "it was read as a single column: separate values by commas" in line


def test_a_table_that_is_not_there(refused, tmp_path):
    line = refused("fit", tmp_path / "none.csv", "--target", "y", "--model", tmp_path / "m.skops")
    assert line == f"kernelweave: error: '{tmp_path / 'none.csv'}': No such file or directory."


def test_a_table_of_another_kind(refused, tmp_path):
    pd.DataFrame({"a": [1]}).to_json(tmp_path / "d.json")
    line = refused("fit", tmp_path / "d.json", "--target", "a", "--model", tmp_path / "m.skops")
    assert "use .csv, .tsv, .csv.gz, .tsv.gz or .parquet" in line
