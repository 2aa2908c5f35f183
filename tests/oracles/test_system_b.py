"""System B against conic solvers: the stored values, and the semidefinite program itself where it is small."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.monotone import MonotoneProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point
from kernelweave.solvers.monotone.alternating import solve_alternating
from kernelweave.solvers.monotone.descent import solve_descent

ORACLES = json.loads((Path(__file__).parent / "system_b.json").read_text())
CMONO, LMONO = ORACLES["cmono"], ORACLES["lmono"]


def read(entry):
    X, y, knots = np.array(entry["X"]), np.array(entry["y"], float), np.array(entry["knots"])
    for array in (X, y, knots):
        array.flags.writeable = False
    return X, y, Ramps((knots,), np.zeros(X.shape[1], dtype=np.intp))


def convex_problem(y, C, ramps):
    return MarginProblem(y[None], np.full(len(y), C), np.zeros(len(y)), np.ones(ramps.n_ramps), 1.0)


@pytest.mark.parametrize("entry", CMONO, ids=[e["kind"] for e in CMONO])
def test_convex_value_and_weights(entry):
    X, y, ramps = read(entry)
    stack, task = RampStack(ramps.cells(X)), convex_problem(y, entry["C"], ramps)
    found = run(solve_interior_point, task, stack, tol=1e-10)
    assert found.status is Status.OPTIMAL
    assert found.certificate.primal == pytest.approx(entry["qcqp_value"], rel=1e-8)
    assert found.certificate.primal == pytest.approx(entry["sdp_value"], rel=1e-6)
    np.testing.assert_allclose(found.candidate.weights, entry["mu"], atol=1e-5)
    np.testing.assert_allclose(found.candidate.weights, entry["sdp_first_column"], atol=1e-4)
    rough = run(solve_descent, task, stack, tol=1e-3)
    assert rough.certificate.dual <= entry["qcqp_value"] * (1 + 1e-8)
    assert rough.certificate.primal >= entry["qcqp_value"] * (1 - 1e-8)
    assert rough.certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("start", ["linear", "convex", "equal"])
@pytest.mark.parametrize("entry", LMONO, ids=[f"{e['kind']}-{e['J']}" for e in LMONO])
def test_local_search_ends_near_the_global_minimum(entry, start):
    X, y, ramps = read(entry)
    stack, convex = RampStack(ramps.cells(X)), convex_problem(y, entry["C"], ramps)
    task = MonotoneProblem(convex)
    relaxed = run(solve_interior_point, convex, stack, tol=1e-9)
    assert relaxed.certificate.primal == pytest.approx(entry["cmono_value"], rel=1e-7)
    m = {"linear": np.diff(ramps.knots[0]), "convex": relaxed.candidate.weights, "equal": np.ones(entry["J"])}[start]
    values = [task.certify(stack, c).primal for c in solve_alternating(task, stack, start=Candidate(weights=m))]
    # One entry for every improvement, and the last one again with the verdict.
    assert (np.diff(values[:-1]) < 0).all() and values[-1] == values[-2]
    assert values[-1] >= entry["global_value"] * (1 - 1e-7) >= relaxed.certificate.dual * (1 - 1e-7)
    assert values[-1] <= 1.2 * entry["global_value"]


def semidefinite_value(X, y, C, ramps):
    """[H07] (4) with its inner maximum replaced by the primal of that SVM.

    For fixed Q the SVM has the kernel sum_f phi(x_f)'Q phi(x'_f), phi the vector of the ramps, whose primal is
    min over u, b of  sum_f u_f' Q^{-1} u_f + 2 C sum hinge(y_i (sum_f u_f'phi(x_if) + b)).
    """
    cp = pytest.importorskip("cvxpy")
    m, d = ramps.n_ramps, X.shape[1]
    phi = np.stack([np.clip((X - a) / (b - a), 0, 1) for a, b in pairwise(ramps.knots[0])], axis=2)
    M = cp.Variable((m + 1, m + 1), PSD=True)
    Q, u, t, b = M[1:, 1:], cp.Variable((m, d)), cp.Variable(d), cp.Variable()
    constraints = [M[0, 0] == 1, M >= 0, M @ np.append(1.0, -np.ones(m)) >= 0]
    for f in range(d):
        corner = cp.reshape(t[f], (1, 1), order="C")
        constraints.append(cp.bmat([[Q, u[:, f : f + 1]], [u[:, f : f + 1].T, corner]]) >> 0)
    scores = sum(phi[:, f] @ u[:, f] for f in range(d)) + b
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, scores)))
    task = cp.Problem(cp.Minimize(cp.sum(t) + 2 * C * hinge), constraints)
    task.solve(solver="CLARABEL")
    return task.value, M.value


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_the_proposition_the_semidefinite_program_is_the_qcqp(C):
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 1, (40, 3)) ** 2
    y = np.where(np.sqrt(X[:, 0]) - X[:, 1] + 0.3 * rng.normal(size=40) > 0.1, 1.0, -1.0)
    ramps = Ramps((np.array([0.0, 0.05, 0.3, 1.0]),), np.zeros(3, dtype=np.intp))
    value, M = semidefinite_value(X, y, C, ramps)
    found = run(solve_interior_point, convex_problem(y, C, ramps), RampStack(ramps.cells(X)), tol=1e-9)
    assert found.certificate.primal == pytest.approx(value, rel=1e-5)
    # The feasible Q are the doubly nonnegative ones with e'Qe <= 1, and an optimal one is diagonal.
    assert M[1:, 1:].sum() <= 1 + 1e-5
    weights = found.candidate.weights
    np.testing.assert_allclose(M[1:, 1:], np.diag(weights), atol=2e-3)
    np.testing.assert_allclose(M[1:, 0], weights, atol=2e-3)
