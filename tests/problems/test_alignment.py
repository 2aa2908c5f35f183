"""Alignment problems: what they refuse, their values, and bounds that hold for any multiplier."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.problems.base import Candidate
from kernelweave.problems.cone import ConeDual

ORACLES = json.loads((Path(__file__).parents[1] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["margin"] == "alignment"]
NAMES = [f"{c['instance']}-{c['weights']}" for c in CELLS]


def setting(cell):
    entry = INSTANCES[cell["instance"]]
    K, n_tr = np.array(entry["kernels"]), entry["n_tr"]
    y = np.array(entry["y"])[:n_tr]
    gram = DenseStack(K)
    q = np.einsum("a,iab,b->i", y, K[:, :n_tr, :n_tr], y)
    kind = PSDAlignmentProblem if cell["weights"] == "psd" else AlignmentProblem
    return kind(q, gram.frobenius_products()), gram


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
def test_reference_weights_have_their_value(cell):
    problem, gram = setting(cell)
    judged = problem.certify(gram, Candidate(weights=7.0 * np.array(cell["mu"])))
    assert -judged.primal == pytest.approx(cell["objective"], rel=1e-6)
    assert -judged.dual >= cell["objective"] * (1 - 1e-9)


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
def test_no_point_claims_a_bound_below_the_optimum(cell):
    problem, gram = setting(cell)
    rng = np.random.default_rng(0)
    scale = 1 / np.sqrt(np.diagonal(problem.inner))
    for _ in range(30):
        cone = ConeDual(rng.normal(size=(20, 3)), 10.0 ** rng.uniform(-6, 2) * np.diag(rng.normal(size=3)))
        candidate = Candidate(weights=scale * rng.normal(size=len(scale)), extras={"cone_dual": cone})
        assert -problem.certify(gram, candidate).dual >= cell["objective"] * (1 - 1e-9)


def test_bound_of_nonnegative_weights_by_definition():
    S = np.array([[2.0, 1.0], [1.0, 3.0]])
    problem = AlignmentProblem(np.array([1.0, 2.0]), S)
    mu = np.array([0.2, 1.0])
    judged = problem.certify(None, Candidate(weights=mu))
    assert judged.primal == pytest.approx(-(problem.q @ mu) / np.sqrt(mu @ S @ mu))
    assert judged.dual == pytest.approx(-(problem.q / (S @ mu)).max() * np.sqrt(mu @ S @ mu))


def test_indefinite_weights_are_mixed():
    gram = DenseStack([np.eye(4), np.ones((4, 4))])
    problem = PSDAlignmentProblem(np.array([4.0, 1.0]), gram.frobenius_products())
    judged = problem.certify(gram, Candidate(weights=np.array([1.0, -0.6])))
    assert judged.infeasibility >= 0.1
    feasible = problem.feasible_weights(gram, np.array([1.0, -0.6]))
    assert feasible @ problem.inner @ feasible == pytest.approx(1.0)
    assert -judged.primal == pytest.approx(problem.q @ feasible)
    assert np.linalg.eigvalsh(gram.combine(feasible))[0] >= -1e-8


@pytest.mark.parametrize("weights", [None, np.ones(3), np.full(2, np.nan), np.zeros(2), np.array([-1.0, -2.0])])
def test_missing_or_hopeless_weights_give_no_value(weights):
    problem = AlignmentProblem(np.array([1.0, 2.0]), np.eye(2))
    assert problem.certify(None, Candidate(weights=weights)).primal == np.inf


@pytest.mark.parametrize(
    ("q", "inner", "message"),
    [
        (np.zeros(2), np.eye(2), "No kernel is aligned"),
        (np.array([-1.0, -2.0]), np.eye(2), "No kernel is aligned"),
        (np.ones(2), np.eye(3), "shape"),
        (np.ones((2, 1)), np.eye(2), "shape"),
        (np.array([1.0, np.nan]), np.eye(2), "finite"),
        (np.ones(2), np.diag([1.0, 0.0]), "Kernel 1 is zero"),
    ],
)
def test_refused_input(q, inner, message):
    with pytest.raises(ValueError, match=message):
        AlignmentProblem(q, inner)
