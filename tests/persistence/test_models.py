"""Models come back as they were; files that are not ours, or not whole, are refused."""

from __future__ import annotations

import io
import json
import os
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelweave
from kernelweave import (
    MixedNormClassifier,
    MixedNormRegressor,
    MKLClassifier,
    MonotoneClassifier,
    kernels,
    load_model,
    save_model,
)
from kernelweave.exceptions import ModelFileError
from kernelweave.kernels import RBF, Kernel, KernelFamily, Linear, Polynomial, Precomputed, WidthFamily
from kernelweave.persistence import models, read_metadata

NEEDS_ARGUMENTS = {
    "EigenFamily": lambda kind: kind(RBF(gamma=0.5), 3),
    "GaussianProcessKernel": lambda kind: kind(RationalQuadratic()),
    "MetricKernel": lambda kind: kind("laplacian", {"gamma": 0.3}),
    "Product": lambda kind: kind(Linear(), RBF()),
    "Scaled": lambda kind: kind(RBF(), 2.0),
    "Sum": lambda kind: kind(Linear(), Polynomial()),
    "WidthFamily": lambda kind: kind(RBF(gamma="median"), (0.5, 2)),
}
# Not for numbers, not positive semidefinite, base classes, parts of a family, or made of code: tested on their own.
NOT_HERE = {
    "DistanceSubstitution",
    "EigenComponent",
    "ExponentialKernel",
    "FunctionKernel",
    "GaussianKullbackLeibler",
    "Kernel",
    "KernelFamily",
    "KullbackLeibler",
    "Precomputed",
    "Sigmoid",
}


def numeric_kernels():
    for name in kernels.__all__:
        kind = getattr(kernels, name)
        if isinstance(kind, type) and issubclass(kind, Kernel | KernelFamily) and name not in NOT_HERE:
            kernel = NEEDS_ARGUMENTS.get(name, lambda kind: kind())(kind)
            if kernel.vector_input:
                yield pytest.param(kernel, id=name)


def round_trip(model, path):
    save_model(model, path)
    return load_model(path)


def check_same(before, after, X):
    np.testing.assert_array_equal(before.decision_function(X), after.decision_function(X))
    np.testing.assert_array_equal(before.predict(X), after.predict(X))


@pytest.mark.parametrize("kernel", list(numeric_kernels()))
def test_every_kernel_predicts_exactly_the_same(kernel, samples, tmp_path):
    X, y = samples
    model = MKLClassifier([("k", kernel), ("l", Linear())]).fit(np.abs(X), y)
    loaded = round_trip(model, tmp_path / "m.skops")
    check_same(model, loaded, np.abs(X[::3]) + 0.1)
    assert repr(loaded.get_params()["k"]) == repr(kernel)


def test_given_matrices_with_labels(tmp_path, samples):
    X, y = samples
    K = X @ X.T
    names = np.array([f"node {i}" for i in range(40)])
    for matrix in (Precomputed(K, labels=names), Precomputed(pd.DataFrame(K, index=names))):
        model = MKLClassifier([("net", matrix)]).fit(names[:30], y[:30])
        check_same(model, round_trip(model, tmp_path / "m.skops"), names[30:])


def frames(X):
    named = pd.DataFrame(X, columns=list("abcd"))
    yield "pandas", named, [("k", Linear(), ["d", "a"]), ("l", WidthFamily(RBF("median")), ["b", "a"])]
    yield "pandas, mixed", named.assign(n=np.arange(len(X)), c="text"), [("k", Linear(), ["n", "b"])]
    yield "polars", pl.from_pandas(named), [("k", RBF(), ["b", "d"])]
    yield "array", X, "auto"
    yield "array, one slice", X, [("k", Linear(), slice(1, 3)), ("l", RBF(), [0, 3])]
    some = np.where((X > 0) | (np.arange(4) == 0), X, 0)
    yield "sparse", scipy.sparse.csr_matrix(some), "auto"
    yield "sparse array", scipy.sparse.csr_array(some), [("k", Linear())]


@pytest.mark.parametrize("index", range(7))
@pytest.mark.parametrize("center", [False, True])
def test_every_container_predicts_exactly_the_same(index, center, samples, tmp_path):
    _, X, chosen = list(frames(samples[0]))[index]
    model = MKLClassifier(chosen, center=center).fit(X, samples[1])
    check_same(model, round_trip(model, tmp_path / "m.skops"), X[3:17])


@pytest.mark.parametrize(
    "settings",
    [
        lambda labels: {"margin": "l2", "C": "auto"},
        lambda labels: {"multiclass": "per_class"},
        lambda labels: {"dtype": "float32"},
        lambda labels: {"class_weight": dict(zip(labels, (2.0, 1.0, 0.5), strict=True))},
    ],
)
@pytest.mark.parametrize("labels", [(0, 1, 2), ("a", "b", "c")])
def test_attributes_come_back(settings, labels, samples, tmp_path):
    X, _ = samples
    y = np.array(labels)[np.arange(40) % 3]
    model = MKLClassifier(**settings(labels)).fit(X, y)
    loaded = round_trip(model, tmp_path / "m.skops")
    check_same(model, loaded, X)
    assert loaded.get_params(deep=False) == model.get_params(deep=False)
    assert vars(loaded).keys() == vars(model).keys()
    for name in ("classes_", "kernel_weights_", "dual_coef_", "support_", "intercept_", "kernel_names_", "C_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
        assert np.asarray(getattr(loaded, name)).dtype == np.asarray(getattr(model, name)).dtype
    assert loaded.certificate_ == model.certificate_
    assert loaded.status_ is model.status_


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_mixed_norms_come_back_with_the_samples_they_keep(penalty, samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text="t")
    chosen = [("k", RBF(), ["a", "c"]), ("t", kernels.Sigmoid(), ["d"])]
    model = MixedNormClassifier(chosen, penalty=penalty, alpha=3.0).fit(frame, y)
    loaded = round_trip(model, tmp_path / "m.skops")
    check_same(model, loaded, frame)
    assert len(loaded._expansion.X) == len(model.support_)
    assert list(loaded._expansion.X.columns) == ["a", "c", "d"]
    assert type(loaded.coef_) is type(model.coef_) and loaded.status_ is model.status_
    assert read_metadata(tmp_path / "m.skops")["n_samples"] == 40
    several = MixedNormClassifier(penalty=penalty, normalize="cosine").fit(X, np.arange(40) % 3)
    check_same(several, round_trip(several, tmp_path / "m.skops"), X)
    regressor = MixedNormRegressor(chosen, penalty=penalty).fit(frame, X[:, 1])
    after = round_trip(regressor, tmp_path / "m.skops")
    np.testing.assert_array_equal(after.predict(frame), regressor.predict(frame))
    assert read_metadata(tmp_path / "m.skops")["classes"] == []


def test_pipelines_come_back(samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text="t")
    scale = ColumnTransformer(
        [("s", StandardScaler(), ["a", "c"])], remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(scale, MKLClassifier([("k", Linear(), ["a", "b"]), ("l", RBF(), ["c"])])).fit(frame, y)
    check_same(model, round_trip(model, tmp_path / "m.skops"), frame[5:25])


@pytest.mark.parametrize("settings", [{"share": "feature"}, {"method": "alternating", "start": "linear"}])
def test_monotone_transforms_come_back_without_the_samples(settings, samples, tmp_path):
    X, y = samples
    model = MonotoneClassifier(n_knots=4, **settings).fit(scipy.sparse.csr_matrix(X), y)
    loaded = round_trip(model, tmp_path / "m.skops")
    check_same(model, loaded, X[3:17])
    assert loaded.status_ is model.status_ and loaded.certificate_ == model.certificate_
    np.testing.assert_array_equal(loaded.transform_curve(2), model.transform_curve(2))
    assert read_metadata(tmp_path / "m.skops")["n_samples"] == 40


def test_a_loaded_model_can_be_fitted_again(model, samples, tmp_path):
    X, y = samples
    loaded = round_trip(model, tmp_path / "m.skops").fit(X[::2], y[::2])
    np.testing.assert_array_equal(loaded.predict(X), MKLClassifier().fit(X[::2], y[::2]).predict(X))


def test_metadata_say_where_a_model_comes_from(samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MKLClassifier([("k", Linear(), ["a"])]).fit(frame, y)
    save_model(model, tmp_path / "m.skops", facts={"source": "here"})
    metadata = read_metadata(tmp_path / "m.skops")
    assert metadata["format"] == 1
    assert metadata["kernelweave"] == kernelweave.__version__
    assert metadata["created"].endswith("+00:00")
    assert metadata["estimator"] == "MKLClassifier"
    assert (metadata["n_samples"], metadata["n_features"], metadata["classes"]) == (40, 4, ["no", "yes"])
    assert metadata["columns"][0] == {"name": "a", "dtype": "float64", "numeric": True}
    assert [column["name"] for column in metadata["columns"]] == list("abcd")
    assert metadata["source"] == "here"
    assert read_metadata_of_array(model, X, y, tmp_path)["columns"] is None


def read_metadata_of_array(model, X, y, folder):
    save_model(MKLClassifier().fit(X, y), folder / "array.skops")
    return read_metadata(folder / "array.skops")


def test_what_cannot_be_saved_is_refused_and_leaves_no_file(samples, tmp_path):
    X, y = samples
    path = tmp_path / "m.skops"
    with pytest.raises(NotFittedError):
        save_model(MKLClassifier(), path)
    with pytest.raises(ValueError, match=r"MKLClassifier.*, or a Pipeline that ends in one; got LogisticRegression"):
        save_model(LogisticRegression().fit(X, y), path)
    with pytest.raises(ValueError, match="kernel 'k' is a function"):
        save_model(MKLClassifier([("k", lambda A, B: A @ B.T)]).fit(X, y), path)
    strange = make_pipeline(Strange(), MKLClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"cannot hold objects of .*Strange"):
        save_model(strange, path)
    assert not path.exists()


class Strange(StandardScaler):
    pass


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    """Bytes of a model file."""
    path = tmp_path_factory.mktemp("models") / "m.skops"
    save_model(model, path)
    return path.read_bytes()


def refused(content, tmp_path, match):
    path = tmp_path / "bad.skops"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=match) as caught:
        load_model(path)
    assert "bad.skops" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(share, content, tmp_path):
    refused(content[: int(len(content) * share)], tmp_path, "damaged or incomplete|no model file")


def test_flipped_bits_are_refused_or_harmless(content, model, samples, tmp_path):
    expected, path, n_refused = model.decision_function(samples[0]), tmp_path / "bad.skops", 0
    positions = np.random.default_rng(0).integers(0, len(content), 150)
    for position in [*positions, *range(len(content) - 60, len(content))]:
        damaged = bytearray(content)
        damaged[position] ^= 1 << (int(position) % 8)
        path.write_bytes(damaged)
        try:
            loaded = load_model(path)
        except ModelFileError:
            n_refused += 1
            continue
        # Dates and attributes of the archive's members may change; what they hold may not.
        np.testing.assert_array_equal(loaded.decision_function(samples[0]), expected)
    assert n_refused > 100


def test_files_of_others_are_refused(samples, tmp_path):
    refused(b"", tmp_path, "is empty")
    refused(b"a,b\n1,2\n", tmp_path, "no zip archive at all")
    refused(archive({"readme.txt": "hello"}), tmp_path, "a zip archive, but no model file")
    refused(skops.io.dumps(LogisticRegression().fit(*samples)), tmp_path, "a skops file, but not one of kernelweave")
    refused(archive({"kernelweave.json": "[]"}), tmp_path, "a zip archive, but no model file")
    refused(archive({"kernelweave.json": "{"}), tmp_path, "damaged or incomplete")
    refused(archive({"kernelweave.json": '{"format": 1}'}), tmp_path, "damaged or incomplete")


def archive(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return buffer.getvalue()


def changed(content, change):
    """The model file with its description of the objects edited."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    return archive(members)


def test_newer_files_say_what_to_do(content, tmp_path):
    def newer(members):
        facts = json.loads(members["kernelweave.json"]) | {"format": 2, "kernelweave": "9.0"}
        members["kernelweave.json"] = json.dumps(facts)

    refused(changed(content, newer), tmp_path, r"written by kernelweave 9.0 in a newer format.*pip install --upgrade")


@pytest.mark.parametrize("kind", ["os.system", "builtins.eval", "kernelweave.kernels.adapters.FunctionKernel"])
def test_files_that_ask_for_other_types_are_refused_before_anything_is_built(kind, content, tmp_path, monkeypatch):
    module, _, name = kind.rpartition(".")

    def bad(members):
        text = members["schema.json"].decode()
        ours = '"__class__": "Polynomial",\n{0}"__module__": "kernelweave.kernels.vector.vectors"'
        for indent in {line[: len(line) - len(line.lstrip())] for line in text.splitlines()}:
            text = text.replace(ours.format(indent), f'"__class__": "{name}",\n{indent}"__module__": "{module}"')
        assert f'"{module}"' in text
        members["schema.json"] = text

    monkeypatch.setattr(skops.io, "loads", None)
    refused(changed(content, bad), tmp_path, f"asks for .*{name}.*Nothing was loaded")


def test_sparse_samples_that_point_outside_are_refused(samples, tmp_path):
    X = scipy.sparse.csr_matrix(np.abs(samples[0]))
    model = MKLClassifier([("k", Linear())]).fit(X, samples[1])
    model._expansion.X.indices[5] = 10**6
    save_model(model, tmp_path / "m.skops")
    refused((tmp_path / "m.skops").read_bytes(), tmp_path, "damaged or incomplete")


def test_a_file_that_holds_another_estimator_is_refused(content, samples, tmp_path):
    def swap(members):
        other = zipfile.ZipFile(io.BytesIO(skops.io.dumps(LogisticRegression().fit(*samples))))
        metadata = members["kernelweave.json"]
        members.clear()
        members |= {name: other.read(name) for name in other.namelist()} | {"kernelweave.json": metadata}

    refused(changed(content, swap), tmp_path, "holds LogisticRegression, which is no model of kernelweave")


def test_missing_files_are_the_system_s_business(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.skops")
    with pytest.raises(FileNotFoundError):
        read_metadata(tmp_path / "none.skops")


def test_an_interrupted_save_leaves_the_old_model(model, content, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(content)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(model, path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["m.skops"]


def test_without_skops_the_extra_is_named(model, tmp_path, monkeypatch):
    def missing(module, extra, purpose):
        raise kernelweave.exceptions.MissingExtraError(f"{purpose} needs kernelweave[{extra}]")

    monkeypatch.setattr(models, "import_extra", missing)
    with pytest.raises(ImportError, match=r"Saving a model needs kernelweave\[cli\]"):
        save_model(model, tmp_path / "m.skops")
    with pytest.raises(ImportError, match=r"Loading a model needs kernelweave\[cli\]"):
        load_model(tmp_path / "m.skops")
