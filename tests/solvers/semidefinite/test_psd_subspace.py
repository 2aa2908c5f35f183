"""The cone on a growing set of directions: the answers of the whole cone, and its own fallbacks."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.gram.factors.factor import FactorStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.driver import Status, run
from kernelweave.solvers.semidefinite import psd_subspace
from kernelweave.solvers.semidefinite.psd_primal_dual import solve_psd_primal_dual
from kernelweave.solvers.semidefinite.psd_subspace import solve_psd_subspace
from kernelweave.solvers.semidefinite.whole import solve_whole

N, N_TR = 160, 128
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, 8))
Y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)[:N_TR]


def gaussian(features, width):
    distances = ((features[:, None] - features) ** 2).sum(-1)
    return np.exp(-distances / width)


def cosine(K):
    scale = 1 / np.sqrt(K.diagonal())
    return scale[:, None] * K * scale


KERNELS = np.array(
    [cosine((1 + X @ X.T) ** 2), gaussian(X, 4.0), cosine(X @ X.T), gaussian(X, 16.0), gaussian(X[:, :3], 3.0)]
)


def psd_problem(margin, kernels=KERNELS, labels=Y, C=1.0):
    labels = np.atleast_2d(labels)
    n, n_tr = kernels.shape[1], labels.shape[1]
    return PSDMarginProblem(
        labels,
        np.full(n_tr, C if margin == "l1" else np.inf),
        np.full(n_tr, {"l2": 1 / C, "auto": 1.0}.get(margin, 0.0)),
        np.trace(kernels, axis1=1, axis2=2),
        float(n),
        float(n) if margin == "auto" else None,
    )


@pytest.mark.parametrize("margin", ["l1", "l2", "hard", "auto"])
def test_same_optimum_as_the_whole_cone(margin):
    problem, gram = psd_problem(margin), DenseStack(KERNELS)
    few = run(solve_psd_subspace, problem, gram, tol=1e-7)
    whole = run(solve_psd_primal_dual, problem, gram, tol=1e-7)
    assert few.status is Status.OPTIMAL and whole.status is Status.OPTIMAL
    assert few.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-7)
    np.testing.assert_allclose(few.candidate.weights, whole.candidate.weights, atol=2e-3)
    directions = few.candidate.extras["cone_dual"].basis.shape[1]
    assert directions < N / 2


@pytest.mark.parametrize("C", [1e-2, 1e2])
@pytest.mark.parametrize("margin", ["l1", "l2"])
def test_small_and_large_penalties(margin, C):
    result = run(solve_psd_subspace, psd_problem(margin, C=C), DenseStack(KERNELS), tol=1e-6)
    assert result.status is Status.OPTIMAL, result.message


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centred_kernels_have_no_interior_without_a_face(dtype):
    P = np.eye(N) - 1 / N
    kernels = np.array([P @ K @ P for K in KERNELS])
    kernels = (0.5 * (kernels + kernels.transpose(0, 2, 1))).astype(dtype)
    result = run(solve_psd_subspace, psd_problem("l1", kernels), DenseStack(kernels), tol=1e-6)
    assert result.status is Status.OPTIMAL, result.message


def test_three_classes_share_weights():
    labels = np.where(np.arange(N_TR) % 3 == np.arange(3)[:, None], 1.0, -1.0)
    problem, gram = psd_problem("l2", labels=labels), DenseStack(KERNELS)
    few = run(solve_psd_subspace, problem, gram, tol=1e-7)
    whole = run(solve_psd_primal_dual, problem, gram, tol=1e-7)
    assert few.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-7)


def test_candidates_within_a_round_claim_no_more_than_the_last_look():
    problem, gram = psd_problem("l1"), DenseStack(KERNELS)
    known, seen = np.inf, 0
    for candidate in solve_psd_subspace(problem, gram):
        if candidate.gap < known:
            # Only a look at the whole cone lowers the gap, and then its weights are feasible.
            assert problem.feasible_weights(gram, candidate.weights)[1] < 1e-9
            assert problem.certify(gram, candidate).relative_gap == pytest.approx(candidate.gap, rel=0.3, abs=1e-9)
            known, seen = candidate.gap, seen + 1
        if known < 1e-6:
            break
    assert seen >= 3


def test_low_ranks_go_to_the_whole_cone(monkeypatch):
    called = []
    monkeypatch.setattr(psd_subspace, "solve_whole", lambda setting: called.append(setting) or solve_whole(setting))
    factors = [X[:, :3], X[:, 2:], X[:, :1] * X]
    stack = FactorStack(factors)
    problem = PSDMarginProblem(Y[None], np.full(N_TR, 1.0), np.zeros(N_TR), stack.traces(), float(N))
    assert run(solve_psd_subspace, problem, stack, tol=1e-6).status is Status.OPTIMAL
    (setting,) = called
    assert len(setting.face.pivots) == 16


def test_inseparable_labels_are_recognised(monkeypatch):
    monkeypatch.setattr(psd_subspace, "_SMALL_RANK", 4)
    labels = np.where(RNG.random(N_TR) > 0.5, 1.0, -1.0)
    stack = FactorStack([X[:, :5], X[:, 2:]])
    problem = PSDMarginProblem(labels[None], np.full(N_TR, np.inf), np.zeros(N_TR), stack.traces(), float(N))
    assert run(solve_psd_subspace, problem, stack, tol=1e-6).status is Status.NOT_SEPARABLE
