"""The monotone problem judges transforms: values from the definition, gradients, bounds of the relaxation."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import check_grad

from kernelweave.gram.ramps.directed import DirectedRampStack
from kernelweave.gram.ramps.ramps import RampStack
from kernelweave.kernels.monotone.ramps import Ramps
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.monotone import MonotoneProblem
from kernelweave.problems.svm import primal_value
from kernelweave.solvers.driver import run
from kernelweave.solvers.interior_point import solve_interior_point

RNG = np.random.default_rng(0)
N = 30
KNOTS = (np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-1.0, 0.0, 1.0]))
X = RNG.normal(size=(N, 3))
LABELS = np.stack([np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0), np.where(X[:, 1] > 0, 1.0, -1.0)])


def ramps_of(kind):
    groups = {"all": np.zeros(3, dtype=np.intp), "groups": np.array([0, 1, 0])}[kind.split("-")[0]]
    return Ramps(KNOTS[: groups.max() + 1], groups, anchored=kind.endswith("anchored"))


def stack_of(kind):
    ramps = ramps_of(kind)
    return RampStack(ramps.cells(scipy.sparse.csr_matrix(X) if ramps.anchored else X), ramps.n_ramps), ramps


def task_of(ramps, labels=LABELS, margin="l1"):
    box = np.full(N, 2.0 if margin == "l1" else np.inf)
    ridge = np.zeros(N) if margin == "l1" else np.full(N, 0.5)
    return MonotoneProblem(MarginProblem(labels, box, ridge, np.ones(ramps.n_ramps), 1.0, None, ramps.group_of_ramp))


def weights_of(ramps):
    return np.concatenate([RNG.dirichlet(np.ones(len(knots) - 1)) for knots in ramps.knots])


@pytest.mark.parametrize("kind", ["all", "groups", "all-anchored", "groups-anchored"])
def test_value_and_weights_follow_the_definition(kind):
    stack, ramps = stack_of(kind)
    task, m, alpha = task_of(ramps), weights_of(ramps), RNG.uniform(0, 1, LABELS.shape)
    alpha[0] *= np.where(LABELS[0] > 0, 1.0, alpha[0][LABELS[0] > 0].sum() / alpha[0][LABELS[0] < 0].sum())
    alpha[1] *= np.where(LABELS[1] > 0, 1.0, alpha[1][LABELS[1] > 0].sum() / alpha[1][LABELS[1] < 0].sum())
    alpha /= alpha.max()
    phi = ramps.transform(X, m)
    w = (LABELS * alpha) @ phi
    np.testing.assert_allclose(task.feature_weights(stack, m, alpha), w, atol=1e-12)
    np.testing.assert_allclose(task.scores(stack, m, w), w @ phi.T, atol=1e-12)
    expected = sum(
        primal_value(v @ v, phi @ v, y, task.convex.box, task.convex.ridge) for v, y in zip(w, LABELS, strict=True)
    )
    judged = task.certify(stack, Candidate(m, alpha))
    assert judged.primal == pytest.approx(expected, rel=1e-12)
    assert judged.dual == task.convex.certify(stack, Candidate(m, alpha)).dual <= judged.primal


@pytest.mark.parametrize("kind", ["all", "groups-anchored"])
def test_gradient(kind):
    stack, ramps = stack_of(kind)
    task = task_of(ramps, margin="l2")

    def solve(m):
        svm = MarginProblem(LABELS, task.convex.box, task.convex.ridge, np.ones(1), 1.0)
        return run(solve_interior_point, svm, stack.transformed(m), tol=1e-12)

    m = weights_of(ramps)
    error = check_grad(
        lambda v: solve(v).certificate.dual,
        lambda v: task.gradient(stack, v, solve(v).candidate.alpha),
        m,
        epsilon=1e-5,
    )
    assert error < 1e-3 * np.abs(task.gradient(stack, m, solve(m).candidate.alpha)).max()


def test_directions_restrict_features():
    stack, ramps = stack_of("all-anchored")
    directed = DirectedRampStack(stack.cells, ramps.n_ramps, np.array([1.0, -1.0, 0.0]))
    task, m, alpha = task_of(ramps), weights_of(ramps), RNG.uniform(0, 1, LABELS.shape)
    free, kept = (task.feature_weights(s, m, alpha) for s in (stack, directed))
    np.testing.assert_array_equal(kept, np.where(np.array([1.0, -1.0, 0.0]) * free >= 0, free, 0.0))
    assert not np.array_equal(free, kept)


def test_missing_and_infeasible_parts_bound_nothing():
    stack, ramps = stack_of("all")
    task, m = task_of(ramps), weights_of(ramps)
    for candidate in (Candidate(), Candidate(weights=m), Candidate(weights=-m, alpha=np.zeros((2, N)))):
        assert task.certify(stack, candidate).primal == np.inf
    with pytest.raises(ValueError, match="budget of one"):
        MonotoneProblem(MarginProblem(LABELS, np.ones(N), np.zeros(N), np.full(3, 2.0), 1.0))
