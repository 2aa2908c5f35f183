"""Weights of any sign: what the certificate may claim, and what it does with points that are not feasible."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.cone import ConeDual
from kernelweave.problems.psd_margin import PSDMarginProblem

ORACLES = json.loads((Path(__file__).parents[1] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["weights"] == "psd" and c["margin"] != "alignment" and c["omega"]]
NAMES = [f"{c['instance']}-{c['margin']}" for c in CELLS]


def setting(cell):
    entry = INSTANCES[cell["instance"]]
    n, n_tr, auto = entry["n"], entry["n_tr"], cell["margin"] == "auto_c"
    kernels = np.array(entry["kernels"])
    kernels.flags.writeable = False
    problem = PSDMarginProblem(
        np.array(entry["y"])[None, :n_tr],
        np.full(n_tr, cell["C"] if cell["margin"] == "l1" else np.inf),
        np.ones(n_tr) if auto else np.full(n_tr, cell["tau"]),
        np.array(entry["traces"]),
        cell["trace_budget"],
        float(n) if auto else None,
    )
    return problem, DenseStack(kernels)


def reference_weights(cell, problem):
    weights = np.array(cell["mu"])
    return np.append(weights, cell["tau_opt"]) if problem.learns_ridge else weights


def random_cone(rng, n, size, spread):
    basis = rng.normal(size=(n, size))
    half = rng.normal(size=(size, size))
    return ConeDual(basis, spread * half @ half.T)


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
def test_no_pair_of_dual_variables_claims_more_than_the_optimum(cell):
    """Any alpha and any Z: the bound may be poor, never false."""
    problem, gram = setting(cell)
    rng, n_tr = np.random.default_rng(0), problem.labels.shape[1]
    room = np.where(np.isfinite(problem.box), problem.box, 1.0)
    best = -np.inf
    for trial in range(20):
        # Around the reference alpha at first, then anywhere.
        alpha = np.array(cell["alpha"]) if trial < 10 else room * rng.random(n_tr)
        alpha = np.clip(alpha * (1 + 0.1 * trial * rng.random(n_tr)), 0, problem.box)
        positive = problem.labels[0] > 0
        alpha[positive] *= min(1, alpha[~positive].sum() / alpha[positive].sum())
        alpha[~positive] *= alpha[positive].sum() / alpha[~positive].sum()
        cone = random_cone(rng, gram.shape[0], 1 + trial % 5, 10.0 ** rng.uniform(-9, 1) * alpha.max() ** 2)
        for extras in ({}, {"cone_dual": cone}):
            dual = problem.certify(gram, Candidate(alpha=alpha[None], extras=extras)).dual
            assert dual <= cell["bracket"][1] * (1 + 1e-9)
            best = max(best, dual)
    assert best > 0


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
def test_reference_weights_are_judged_near_their_value(cell):
    problem, gram = setting(cell)
    weights = reference_weights(cell, problem)
    judged = problem.certify(gram, Candidate(weights=weights, alpha=np.array(cell["alpha"])[None]))
    assert judged.primal >= cell["bracket"][0] * (1 - 1e-9)
    # The reference's alpha is rounded, and the primal value of the others amplifies that.
    if cell["margin"] in ("l1", "l2"):
        assert judged.primal == pytest.approx(cell["omega"], rel=1e-3)


def two_kernels():
    gram = DenseStack([np.eye(4), np.ones((4, 4))])
    problem = PSDMarginProblem(np.array([[1.0, 1.0, -1.0]]), np.full(3, 1.0), np.zeros(3), np.full(2, 4.0), 4.0)
    return problem, gram


def test_semidefinite_over_unlabelled_samples_too():
    problem, gram = two_kernels()
    # I - 11'/3.5 is definite on the three labelled samples, not on all four.
    weights = np.array([1.0, -1 / 3.5])
    weights *= 4.0 / (4.0 * weights.sum())
    assert np.linalg.eigvalsh(np.tensordot(weights, gram.read(np.arange(2), np.arange(3), np.arange(3)), 1))[0] > 0
    feasible, violation = problem.feasible_weights(gram, weights)
    assert 1e-3 < violation <= 1.0
    assert feasible.sum() == pytest.approx(1.0) and feasible[0] + 4 * feasible[1] >= -1e-8
    alpha = np.array([[0.5, 0.5, 1.0]])
    judged = problem.certify(gram, Candidate(weights=weights, alpha=alpha))
    assert judged.infeasibility == violation
    assert judged.primal == problem.certify(gram, Candidate(weights=feasible, alpha=alpha)).primal


def test_feasible_weights_are_kept():
    problem, gram = two_kernels()
    weights = np.array([4 / 3, -1 / 3])
    feasible, violation = problem.feasible_weights(gram, weights)
    np.testing.assert_allclose(feasible, weights, rtol=1e-14)
    assert violation < 1e-14


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate(),
        Candidate(weights=np.ones(2)),
        Candidate(weights=np.full(2, np.nan), alpha=np.zeros((1, 3))),
        Candidate(weights=np.ones(3), alpha=np.full((1, 3), np.nan)),
        Candidate(weights=np.ones(2), alpha=np.array([[1.0, 1.0, 0.1]])),
        Candidate(weights=np.zeros(2), alpha=np.array([[0.5, 0.5, 1.0]])),
    ],
)
def test_missing_or_infeasible_parts_give_infinite_bounds(candidate):
    problem, gram = two_kernels()
    judged = problem.certify(gram, candidate)
    assert judged.gap == np.inf and judged.infeasibility > 1e-6
    assert judged.primal == np.inf or judged.dual == -np.inf


def test_broken_multipliers_count_as_none():
    problem, gram = two_kernels()
    alpha = np.array([[0.5, 0.5, 1.0]])
    broken = ConeDual(np.full((4, 1), np.nan), np.ones((1, 1)))
    without = problem.certify(gram, Candidate(alpha=alpha)).dual
    assert np.isfinite(without)
    assert problem.certify(gram, Candidate(alpha=alpha, extras={"cone_dual": broken})).dual == without


def test_negative_ridge_is_no_ridge():
    problem, gram = two_kernels()
    auto = replace(problem, box=np.full(3, np.inf), ridge=np.ones(3), ridge_price=4.0)
    feasible, _ = auto.feasible_weights(gram, np.array([1.0, 0.0, -1e-9]))
    assert feasible[-1] == 0.0 and feasible @ auto.all_prices == pytest.approx(4.0)
