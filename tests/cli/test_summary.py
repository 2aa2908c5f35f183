"""Numbers for JSON, and the same numbers as text."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.cli.comparison import Comparison
from kernelweave.cli.summary import comparison_facts, comparison_text, model_facts, model_text, strict
from kernelweave.kernels import RBF, Linear


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 2)) + 2 * np.column_stack([y == 1, y == 2]), y


KERNELS = [("line", Linear(), [0]), ("both", RBF(gamma=0.5))]


def test_strict_numbers():
    assert strict(np.float64(0.5)) == 0.5 and type(strict(np.float64(0.5))) is float
    assert [strict(value) for value in (np.inf, -np.inf, np.nan)] == [None] * 3


def test_facts_of_a_model(data):
    model = MKLClassifier(KERNELS).fit(*data)
    facts = model_facts(model, 1.5)
    assert [kernel["name"] for kernel in facts["kernels"]] == ["line", "both"]
    assert [kernel["weight"] for kernel in facts["kernels"]] == model.kernel_weights_.tolist()
    assert [kernel["importance"] for kernel in facts["kernels"]] == model.kernel_importances_.tolist()
    certificate = facts["certificate"]
    assert certificate["objective"] == model.objective_ and certificate["lower_bound"] == model.certificate_.dual
    assert certificate["gap"] == model.dual_gap_ and certificate["relative_gap"] <= 1e-3
    assert (certificate["status"], certificate["seconds"]) == ("optimal", 1.5)
    assert facts["settings"]["C"] == 1.0 and not facts["settings"]["C_learned"]
    assert facts["n_support"] == len(model.support_)
    json.dumps(facts, allow_nan=False)


def test_text_of_a_model(data):
    facts = model_facts(MKLClassifier(KERNELS, C=0.25).fit(*data), 1.5)
    lines = model_text(facts).splitlines()
    assert lines[0] == f"Classifier  1-norm soft margin, C = 0.25, {facts['n_support']} support vectors"
    bars = {line.split()[0]: line.count("#") for line in lines if line.endswith("#")}
    assert max(bars.values()) == 30 and set(bars) <= {"line", "both"}
    for kernel in facts["kernels"]:
        assert any(line.startswith(kernel["name"]) and f"{kernel['importance']:.1%}" in line for line in lines)
    assert f"  objective     {facts['certificate']['objective']:.8g}" in lines
    assert lines[-1] == f"  status        optimal after {facts['certificate']['iterations']} iterations in 1.50 s"


def test_a_learned_c_and_the_share_of_the_soft_margin(data):
    model = MKLClassifier(KERNELS, margin="l2", C="auto").fit(*data)
    facts = model_facts(model, None)
    assert facts["settings"]["C_learned"] and facts["settings"]["C"] == pytest.approx(model.C_)
    text = model_text(facts)
    assert f"2-norm soft margin, C = {model.C_:.4g} (learned)" in text
    assert f"the soft margin takes the other {1 - model.kernel_importances_.sum():.1%} of the trace budget" in text
    assert " in " not in text.splitlines()[-1]


def test_weights_of_each_class(data):
    model = MKLClassifier(KERNELS, multiclass="per_class").fit(*data)
    facts = model_facts(model, None)
    for i, kernel in enumerate(facts["kernels"]):
        assert kernel["weight"] == dict(zip("012", model.kernel_weights_[:, i], strict=True))
    text = model_text(facts)
    assert all(f"importance  (class {label} against the rest)" in text for label in "012")


def test_a_hard_margin_has_no_c(data):
    X, y = data
    model = MKLClassifier([("narrow", RBF(gamma=50.0))], margin="hard").fit(X, y)
    facts = model_facts(model, None)
    assert facts["settings"]["C"] is None
    assert model_text(facts).startswith("Classifier  hard margin, ")


def test_a_fit_that_was_cut_short_says_so(data):
    with pytest.warns(UserWarning, match="iteration limit"):
        model = MKLClassifier(KERNELS, max_iter=1, tol=1e-9).fit(*data)
    lines = model_text(model_facts(model, None)).splitlines()
    assert lines[-2] == "  status        iteration limit after 1 iterations"
    assert "raise max_iter or accept the gap" in lines[-1]


FOUND = Comparison(30, 10, 1, 9, 8, 7, ["rbf[1]"])


def test_facts_of_a_comparison():
    assert comparison_facts(FOUND) == {
        "n_train": 30,
        "n_test": 10,
        "n_splits": 1,
        "correct": {"kernelweave": 9, "best_single_kernel": 8, "uniform_average": 7},
        "accuracy": {"kernelweave": 0.9, "best_single_kernel": 0.8, "uniform_average": 0.7},
        "best_single_kernel": ["rbf[1]"],
    }


def test_text_of_a_comparison():
    lines = comparison_text(comparison_facts(FOUND)).splitlines()
    assert lines[0] == "Held out: 10 stratified rows; fitted on the other 30"
    assert lines[1] == "  kernelweave          90.0%  (9 of 10)"
    assert lines[2] == "  best single kernel   80.0%  (8 of 10)  rbf[1]"
    assert lines[3] == "  uniform average      70.0%  (7 of 10)"
    # sqrt(p (1 - p) / n) with p = 10 / 12.
    assert "standard error of about 11.8%" in lines[5]


def test_text_of_a_cross_validation_and_of_missing_baselines():
    found = Comparison(24, 30, 5, 30, None, None, [])
    facts = comparison_facts(found)
    assert facts["accuracy"]["uniform_average"] is None
    lines = comparison_text(facts).splitlines()
    assert lines[0] == "Cross-validated: each of 30 rows predicted by a fit without it, 5 splits"
    assert lines[2] == "  best single kernel  no hard margin exists"
    twice = comparison_facts(Comparison(24, 30, 5, 30, 29, 29, ["a", "b", "a", "a", "b"]))
    assert comparison_text(twice).splitlines()[2].endswith("(29 of 30)  a, b")
