"""Alignment weights: reference values, closed forms, many kernels, large stacks."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.alignment import AlignmentProblem, PSDAlignmentProblem
from kernelweave.solvers import alignment
from kernelweave.solvers.alignment import solve_alignment, solve_psd_alignment
from kernelweave.solvers.driver import Status, run
from kernelweave.testing import check_solver

ORACLES = json.loads((Path(__file__).parents[1] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["margin"] == "alignment"]
RNG = np.random.default_rng(0)


def setting(K, y, psd):
    gram = DenseStack(K) if isinstance(K, np.ndarray) else K
    labelled = gram.restrict(np.arange(len(y)))
    kind = PSDAlignmentProblem if psd else AlignmentProblem
    return kind(labelled.quadratic_forms(y), gram.frobenius_products()), gram


@pytest.mark.parametrize("cell", CELLS, ids=[f"{c['instance']}-{c['weights']}" for c in CELLS])
def test_reference_values(cell):
    entry, psd = INSTANCES[cell["instance"]], cell["weights"] == "psd"
    problem, gram = setting(np.array(entry["kernels"]), np.array(entry["y"])[: entry["n_tr"]], psd)
    result = run(solve_psd_alignment if psd else solve_alignment, problem, gram, tol=1e-10)
    assert result.status is Status.OPTIMAL
    assert -result.certificate.primal == pytest.approx(cell["objective"], rel=1e-8)
    mu = result.candidate.weights
    assert mu @ problem.inner @ mu == pytest.approx(1.0)
    if not cell["instance"].startswith("dup"):
        np.testing.assert_allclose(mu * np.sqrt(np.diagonal(problem.inner)),
                                   np.array(cell["mu"]) * np.sqrt(np.diagonal(problem.inner)), atol=1e-4)  # fmt: skip


def test_rank_one_kernels_have_a_closed_form():
    """[L04] (54): mu = max(q, 0) / |max(q, 0)|; free signs change nothing, PSD is mu >= 0."""
    V = np.linalg.qr(RNG.normal(size=(15, 6)))[0]
    y = np.where(RNG.random(12) > 0.5, 1.0, -1.0)
    q = (V[:12].T @ y) ** 2
    stack = FactorStack([v[:, None] for v in V.T])
    for psd, solver in ((False, solve_alignment), (True, solve_psd_alignment)):
        problem, gram = setting(stack, y, psd)
        result = run(solver, problem, gram, tol=1e-9)
        np.testing.assert_allclose(result.candidate.weights, q / np.linalg.norm(q), atol=1e-7)


def kernels(n=30):
    X = RNG.normal(size=(n, 5))
    distances = ((X[:, None] - X) ** 2).sum(-1)
    return np.array([X @ X.T, np.exp(-distances), np.exp(-distances / 5), (X[:, :2] @ X[:, :2].T) ** 2])


@pytest.mark.parametrize("psd", [False, True])
def test_contract(psd):
    problem, gram = setting(kernels(), np.where(np.arange(30) % 2 > 0, 1.0, -1.0), psd)
    check_solver(solve_psd_alignment if psd else solve_alignment, problem, gram, tol=1e-9)


def test_free_signs_align_better(monkeypatch):
    K, y = kernels(), np.where(RNG.random(30) > 0.4, 1.0, -1.0)
    values = []
    for psd, solver, small in (
        (False, solve_alignment, 0),
        (True, solve_psd_alignment, 120),
        (True, solve_psd_alignment, 3),
    ):
        monkeypatch.setattr(alignment, "_SMALL_RANK", small)
        result = run(solver, *setting(K, y, psd), tol=1e-8)
        assert result.status is Status.OPTIMAL
        values.append(-result.certificate.primal)
    assert values[1] >= values[0] * (1 - 1e-8)
    assert values[2] == pytest.approx(values[1], rel=1e-7)


def test_more_kernels_than_matrices_have_entries():
    K = np.array([np.outer(v, v) for v in RNG.normal(size=(40, 6))])
    y = np.where(np.arange(6) % 2 > 0, 1.0, -1.0)
    for psd, solver in ((False, solve_alignment), (True, solve_psd_alignment)):
        assert run(solver, *setting(K, y, psd), tol=1e-8).status is Status.OPTIMAL
