"""Newton steps of the joint system: residuals vanish, points stay inside, gaps are honest."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.cone import ConeDual
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.saddle import Saddle

N, M = 12, 3
RNG = np.random.default_rng(0)
HALF = RNG.normal(size=(M, N, N))
K = HALF @ HALF.transpose(0, 2, 1)
PRICES = np.trace(K, axis1=1, axis2=2)
LABELS = np.where(np.arange(N) % 2 > 0, 1.0, -1.0)[None]


def saddle_of(margin):
    auto = margin == "auto"
    problem = PSDMarginProblem(
        LABELS,
        np.full(N, 1.0 if margin == "l1" else np.inf),
        np.full(N, {"l2": 0.5, "auto": 1.0}.get(margin, 0.0)),
        PRICES,
        12.0,
        12.0 if auto else None,
    )
    scale = 12.0 / problem.all_prices
    parts = np.zeros((M + auto, N + auto, N + auto))
    parts[:M, int(auto) :, int(auto) :] = scale[:M, None, None] * K
    if auto:
        parts[-1, 0, 0] = 1.0
    return Saddle(problem, DenseStack(K), scale, np.eye(M + auto), parts)


@pytest.mark.parametrize("margin", ["l1", "l2", "hard", "auto"])
def test_full_steps_remove_the_residuals(margin):
    saddle = saddle_of(margin)
    point = saddle.start()
    np.testing.assert_allclose(saddle.span @ point.xi, 1 / len(point.xi))
    gaps = []
    for _ in range(25):
        iteration = saddle.at(point)
        gaps.append(iteration.relative_gap())
        if gaps[-1] < 1e-9:
            break
        point = iteration.advance()
        assert (point.columns.alpha > 0).all() and (point.columns.alpha < saddle.problem.box).all()
        assert np.linalg.eigvalsh(point.Z)[0] > 0
    assert gaps[-1] < 1e-9
    scale = point.t * np.abs(iteration.a).max()
    assert np.abs(iteration.r_forms).max() < 1e-8 * scale
    assert abs(iteration.r_budget) < 1e-12
    assert np.abs(iteration.columns.residual).max() < 1e-6
    # What the iterate believes is what the problem certifies.
    first = len(point.Z) - N
    cone = ConeDual(np.eye(N), point.Z[first:, first:])
    candidate = Candidate(iteration.weights, point.columns.alpha, extras={"cone_dual": cone})
    assert saddle.problem.certify(saddle.labelled, candidate).relative_gap < 1e-8


def test_gap_of_other_weights_is_larger():
    saddle = saddle_of("l2")
    point = saddle.start()
    for _ in range(8):
        point = saddle.at(point).advance()
    iteration = saddle.at(point)
    uniform = saddle.uniform
    assert iteration.relative_gap(uniform) > iteration.relative_gap()
    assert iteration.weights_at(2.0 * uniform) @ saddle.problem.all_prices == pytest.approx(12.0)


def test_a_point_outside_the_cone_is_refused():
    saddle = saddle_of("l2")
    point = saddle.start()
    with pytest.raises(np.linalg.LinAlgError):
        saddle.at(type(point)(point.columns, -point.xi, point.Z, point.t))
