"""Nonnegative weights against reference values from general conic solvers."""

import numpy as np
import pytest

from kernelweave import MKLClassifier
from kernelweave.exceptions import NotSeparableError
from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.kernels import Precomputed
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.interior_point import solve_interior_point

WEIGHTS = {"nonnegative", "rank_one"}
TOL = 1e-7


def problem_of(cell):
    y, result, n = cell.labels, cell.result, cell.instance["n"]
    learned = result["margin"] == "auto_c"
    return MarginProblem(
        labels=y[None],
        box=np.full(len(y), np.inf if result["C"] is None else result["C"]),
        ridge=np.full(len(y), 1.0 if learned else result["tau"]),
        prices=cell.traces,
        budget=result["trace_budget"],
        ridge_price=float(n) if learned else None,
    )


def stack_of(cell, storage):
    stack = DenseStack(cell.kernels) if storage == "dense" else FactorStack(cell.factors)
    return stack.restrict(np.arange(cell.instance["n_tr"], dtype=np.intp))


@pytest.mark.parametrize("storage", ["dense", "factor"])
@pytest.mark.parametrize("solver", [solve_bundle, solve_interior_point])
def test_solvers(cell, solver, storage):
    problem, stack = problem_of(cell), stack_of(cell, storage)
    result = run(solver, problem, stack, tol=TOL)
    if cell.infeasible:
        # The bundle cannot prove it, and must not claim anything either.
        assert result.status is Status.NOT_SEPARABLE or solver is solve_bundle
        assert result.certificate.primal == np.inf
        return
    assert result.status is Status.OPTIMAL, result.message
    cell.check_value(result.certificate, TOL)
    weights = result.candidate.weights
    cell.check_weights(problem.kernel_part(weights), weights[-1] if problem.learns_ridge else None)


def test_the_reference_solutions_are_certified_too(cell):
    """The certificate accepts an answer from anywhere: here from the conic solvers."""
    if cell.infeasible:
        return
    problem, result = problem_of(cell), cell.result
    weights = np.maximum(np.array(result["mu"] + ([result["tau_opt"]] if problem.learns_ridge else [])), 0.0)
    weights *= problem.budget / (weights @ problem.all_prices)
    judged = problem.certify(
        stack_of(cell, "dense"), Candidate(weights=weights, alpha=np.maximum(np.array(result["alpha"])[None], 0.0))
    )
    low, high = result["bracket"]
    assert judged.dual <= high * (1 + 1e-9) and judged.primal >= low * (1 - 1e-9)


@pytest.mark.parametrize("solver", ["auto", "bundle", "interior_point"])
def test_public_api(cell, solver):
    result, n, n_tr = cell.result, cell.instance["n"], cell.instance["n_tr"]
    margin = {"auto_c": "l2"}.get(result["margin"], result["margin"])
    C = {"auto_c": "auto", "hard": 1.0, "l1": result["C"], "l2": result["tau"] and 1.0 / result["tau"]}[
        result["margin"]
    ]
    model = MKLClassifier(
        [(f"k{i}", Precomputed(K), [0]) for i, K in enumerate(cell.kernels)],
        margin=margin,
        C=C,
        normalize=None,
        trace=result["trace_budget"],
        tol=TOL,
        solver=solver,
    )
    rows = np.arange(n)[:, None]
    if cell.infeasible:
        with pytest.raises(NotSeparableError, match="no combination of these kernels separates") as caught:
            model.fit(rows[:n_tr], cell.labels, X_unlabeled=rows[n_tr:])
        return check_direction(cell, caught.value.direction[0])
    model.fit(rows[:n_tr], cell.labels, X_unlabeled=rows[n_tr:])
    cell.check_value(model.certificate_, TOL)
    assert model.objective_ == model.certificate_.primal and model.dual_gap_ == model.certificate_.gap
    learned = result["margin"] == "auto_c"
    cell.check_weights(model.kernel_weights_, 1.0 / model.C_ if learned else None)
    spent = model.kernel_weights_ @ cell.traces + (n / model.C_ if learned else 0.0)
    assert spent == pytest.approx(result["trace_budget"], rel=1e-9)
    assert model.transduction_.shape == (n - n_tr,)


def check_direction(cell, direction):
    """Nonnegative, equal mass in both classes, and invisible to every kernel."""
    beta = cell.labels * direction
    assert (direction >= 0).all() and direction.sum() == pytest.approx(2.0) and abs(beta.sum()) < 1e-9
    for K in cell.kernels:
        block = K[: len(beta), : len(beta)]
        assert beta @ block @ beta <= 1e-9 * (direction @ np.diag(block))
