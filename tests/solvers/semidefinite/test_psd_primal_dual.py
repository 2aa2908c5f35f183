"""The whole cone by a primal-dual method: every reference cell, ill-conditioned kernels, hard cases."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.semidefinite.psd_primal_dual import solve_psd_primal_dual

ORACLES = json.loads((Path(__file__).parents[2] / "oracles" / "system_a.json").read_text())
INSTANCES = {entry["id"]: entry for entry in ORACLES["instances"]}
CELLS = [c for c in ORACLES["results"] if c["weights"] == "psd" and c["margin"] != "alignment"]
SOLVABLE = [pytest.param(c, id=f"{c['instance']}-{c['margin']}") for c in CELLS if c["omega"]]


def setting(cell, kernels=None):
    entry = INSTANCES[cell["instance"]]
    n, n_tr, auto = entry["n"], entry["n_tr"], cell["margin"] == "auto_c"
    kernels = np.array(entry["kernels"]) if kernels is None else kernels
    kernels.flags.writeable = False
    problem = PSDMarginProblem(
        np.array(entry["y"])[None, :n_tr],
        np.full(n_tr, cell["C"] if cell["margin"] == "l1" else np.inf),
        np.ones(n_tr) if auto else np.full(n_tr, cell["tau"]),
        np.trace(kernels, axis1=1, axis2=2),
        cell["trace_budget"],
        float(n) if auto else None,
    )
    return problem, DenseStack(kernels)


@pytest.mark.parametrize("cell", SOLVABLE)
@pytest.mark.parametrize("tol", [1e-6, 1e-8, 1e-10])
def test_reference_values(cell, tol):
    problem, gram = setting(cell)
    result = run(solve_psd_primal_dual, problem, gram, tol=tol)
    bounds, (low, high) = result.certificate, cell["bracket"]
    assert result.status is Status.OPTIMAL and result.n_iter < 25
    # The certified interval meets the reference's own; where its value is exact enough, ours is within tol of it.
    assert bounds.dual <= high * (1 + 1e-9) and bounds.primal >= low * (1 - 1e-9)
    if cell["agreed_digits"] >= 7:
        assert bounds.primal == pytest.approx(cell["omega"], rel=max(tol, 1e-8))


@pytest.mark.parametrize("cell", SOLVABLE)
def test_reference_weights(cell):
    problem, gram = setting(cell)
    weights = run(solve_psd_primal_dual, problem, gram, tol=1e-8).candidate.weights
    mu, traces = problem.kernel_part(weights), problem.prices
    if cell["instance"].startswith("dup_useless"):
        assert mu[0] == pytest.approx(mu[1], rel=1e-6)
    # Shares of the budget are comparable, whatever the scale of the kernel; some ranges are not known.
    largest = np.abs(np.array(cell["mu"]) * traces).max()
    for share, low, high, trace in zip(mu * traces, cell["mu_lo"], cell["mu_hi"], traces, strict=True):
        if low is not None and high is not None:
            assert low * trace - 0.02 * largest <= share <= high * trace + 0.02 * largest
    if problem.learns_ridge:
        assert cell["tau_lo"] - 0.02 <= weights[-1] <= cell["tau_hi"] + 0.02


def test_inseparable_labels_are_recognised():
    (cell,) = [c for c in CELLS if c["omega"] is None]
    problem, gram = setting(cell)
    result = run(solve_psd_primal_dual, problem, gram, tol=1e-6)
    assert result.status is Status.NOT_SEPARABLE
    (direction,) = result.candidate.ray
    signed = problem.labels[0] * direction
    assert signed.sum() == pytest.approx(0, abs=1e-12) and direction.min() >= 0 and direction.sum() == pytest.approx(2)
    padded = np.append(signed, np.zeros(gram.shape[0] - len(signed)))
    assert (gram.quadratic_forms(padded) <= 1e-12 * gram.diagonals().max()).all()


def test_rescaled_kernels_give_rescaled_weights():
    cell = next(c for c in CELLS if c["instance"] == "negative-1103" and c["margin"] == "l2")
    scales = np.array([1e4, 1e-5, 3.0])
    plain, gram = setting(cell)
    other, scaled = setting(cell, np.array(INSTANCES["negative-1103"]["kernels"]) * scales[:, None, None])
    one = run(solve_psd_primal_dual, plain, gram, tol=1e-9)
    two = run(solve_psd_primal_dual, other, scaled, tol=1e-9)
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(two.candidate.weights * scales, one.candidate.weights, rtol=1e-4)


def samples(n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def gaussians(X, widths):
    distances = ((X[:, None] - X) ** 2).sum(-1)
    return [np.exp(-distances / width) for width in widths]


def centred(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1)[:, None]


CONDITIONS = {
    "wide": lambda X: gaussians(X, [6.0, 60.0, 600.0, 6e3]),
    "close widths": lambda X: gaussians(X, [6.0, 6.06, 6.12]),
    "one feature": lambda X: gaussians(X[:, :1], [0.1, 1.0, 10.0, 100.0]),
    "low rank": lambda X: [X[:, i : i + 2] @ X[:, i : i + 2].T for i in range(4)],
    "centred": lambda X: [centred(K) for K in [X @ X.T, *gaussians(X, [6.0, 60.0])]],
    "twins": lambda X: [np.tile(K, (2, 2)) for K in [X[:30] @ X[:30].T, *gaussians(X[:30], [6.0])]],
    "given twice": lambda X: [*gaussians(X, [6.0, 6.0]), X @ X.T, 5.0 * X @ X.T],
    "zero rows": lambda X: [np.where(np.arange(60) < 50, 1, 0) * np.where(np.arange(60) < 50, 1, 0)[:, None] * K
                            for K in gaussians(X, [6.0, 2.0])],
}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("margin", ["l1", "l2", "auto"])
def test_ill_conditioned_kernels_certify(name, margin):
    X, y = samples()
    K = np.array(CONDITIONS[name](X))
    n = len(K[0])
    n_tr = int(0.75 * n)
    problem = PSDMarginProblem(
        y[None, :n_tr],
        np.full(n_tr, 1.0 if margin == "l1" else np.inf),
        np.full(n_tr, {"l2": 0.1, "auto": 1.0}.get(margin, 0.0)),
        np.trace(K, axis1=1, axis2=2),
        float(n),
        float(n) if margin == "auto" else None,
    )
    result = run(solve_psd_primal_dual, problem, DenseStack(K), tol=1e-6)
    assert result.status is Status.OPTIMAL, result.message
    combined = np.tensordot(problem.kernel_part(result.candidate.weights), K, axes=1)
    assert np.linalg.eigvalsh(combined)[0] >= -1e-8 * combined.diagonal().max()


def test_factors_and_dense_matrices_agree():
    X, y = samples()
    factors = [X[:, :3], X[:, 2:], X[:, [0]], X[:, 1:2] * X[:, 2:3]]
    stacks = FactorStack(factors), DenseStack([z @ z.T for z in factors])
    problem = PSDMarginProblem(y[None], np.full(60, 1.0), np.zeros(60), stacks[0].traces(), 60.0)
    values = [run(solve_psd_primal_dual, problem, stack, tol=1e-9).certificate.primal for stack in stacks]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
