"""The best matrix of a given trace: its value by another road, and as a bound of everything else."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave import MKLClassifier, optimal_kernel
from kernelweave.kernels import Precomputed

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["margin"] != "alignment" and c["omega"] is not None]
MARGINS = [("hard", 1.0), ("l1", 0.02), ("l1", 3.0), ("l2", 0.5), ("l2", "auto")]


def parameters(cell):
    margin = "l2" if cell["margin"] == "auto_c" else cell["margin"]
    C = {"l1": cell["C"], "hard": 1.0, "auto_c": "auto"}.get(cell["margin"]) or 1.0 / cell["tau"]
    return {"margin": margin, "C": C, "trace": cell["trace_budget"]}


@pytest.mark.parametrize("cell", CELLS, ids=[f"{c['instance']}-{c['margin']}-{c['weights']}" for c in CELLS])
def test_no_reference_value_is_below(cell):
    entry = INSTANCES[cell["instance"]]
    n_tr = entry["n_tr"]
    best = optimal_kernel(entry["y"][:n_tr], n_unlabeled=entry["n"] - n_tr, **parameters(cell))
    assert best.objective <= cell["omega"]
    assert best.gram.shape == (entry["n"],) * 2 and np.trace(best.gram) == pytest.approx(cell["trace_budget"])


@settings(max_examples=30, deadline=None)
@given(n_plus=st.integers(2, 12), n_minus=st.integers(2, 12), which=st.sampled_from(MARGINS), c=st.floats(0.5, 200.0))
def test_a_classifier_on_it_has_this_objective(n_plus, n_minus, which, c):
    y = np.repeat([1, -1], [n_plus, n_minus])
    margin, C = which
    best = optimal_kernel(y, margin=margin, C=C, trace=c)
    assert np.linalg.eigvalsh(best.gram)[0] >= -1e-9 * c
    if C == "auto":
        C = 1e12  # the budget that is left for the ridge is none
    model = MKLClassifier([Precomputed(best.gram)], margin=margin, C=C, trace=c, normalize=None, tol=1e-8)
    assert model.fit(np.arange(len(y)), y).objective_ == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize(("margin", "C"), MARGINS)
def test_no_random_matrix_is_better(margin, C):
    rng = np.random.default_rng(0)
    y = np.where(rng.normal(size=14) > 0.3, "a", "b")
    best = optimal_kernel(y, margin=margin, C=C, trace=14.0)
    for _ in range(10):
        z = rng.normal(size=(14, 14))
        K = z @ z.T * 14.0 / np.trace(z @ z.T)
        model = MKLClassifier([Precomputed(K)], margin=margin, C=C, trace=14.0, normalize=None, tol=1e-6)
        assert model.fit(np.arange(14), y).objective_ >= best.objective * (1 - 1e-6)


def test_closed_form_without_a_box():
    y = [0] * 5 + [1] * 3
    assert optimal_kernel(y, margin="l2", C=0.25, trace=6.0).objective == pytest.approx(4 * 15 / ((4 + 6) * 8))
    # Twonorm's 261.05 with n_tr about 264 at a budget of one is the same formula.
    assert optimal_kernel(y, margin="hard", trace=1.0).objective == pytest.approx(4 * 15 / 8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["a", "a"]}, "class"),
        ({"y": ["a", "b", "c"]}, "two classes"),
        ({"margin": "soft"}, "margin"),
        ({"C": -1.0}, "C must"),
        ({"C": "auto"}, "C must"),
        ({"trace": 0.0}, "trace"),
        ({"n_unlabeled": -1}, "n_unlabeled"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        optimal_kernel(**({"y": ["a", "b"]} | change))
