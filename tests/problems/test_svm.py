"""One SVM: bias, primal value, repair of dual variables, certificate."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.svm import FEASIBILITY_TOLERANCE, SVMProblem, feasible_dual, optimal_bias, primal_value

RNG = np.random.default_rng(0)
N = 21
Y = np.where(np.arange(N) % 3 > 0, 1.0, -1.0)
SCORES = RNG.normal(size=N)
LOSSES = {
    "hinge": (np.full(N, 0.7), np.zeros(N)),
    "weighted hinge": (0.1 + np.arange(N) / N, np.zeros(N)),
    "squared hinge": (np.full(N, np.inf), np.full(N, 0.4)),
    "weighted squared hinge": (np.full(N, np.inf), 0.1 + np.arange(N) / N),
    "both": (np.full(N, 0.7), np.full(N, 0.4)),
    "some boxes": (np.where(np.arange(N) < 9, 0.5, np.inf), np.full(N, 0.4)),
}


def plain_loss(slack, box, ridge):
    """Largest 2 a s - ridge a^2 over a in the box, sample by sample."""
    total = 0.0
    for s, c, r in zip(slack, box, ridge, strict=True):
        a = 0.0 if s <= 0 else min(c, s / r if r > 0 else np.inf)
        total += 2 * a * s - r * a * a
    return total


def value_at(bias, scores, y, box, ridge):
    return plain_loss(1.0 - y * (scores + bias), box, ridge)


@pytest.mark.parametrize("loss", LOSSES)
def test_bias_is_the_minimiser(loss):
    box, ridge = LOSSES[loss]
    bias = optimal_bias(SCORES, Y, box, ridge)
    best = minimize_scalar(value_at, bracket=(-3, 3), args=(SCORES, Y, box, ridge), options={"xtol": 1e-12})
    assert value_at(bias, SCORES, Y, box, ridge) <= best.fun * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_primal_value_is_norm_and_loss_at_that_bias(loss):
    box, ridge = LOSSES[loss]
    bias = optimal_bias(SCORES, Y, box, ridge)
    expected = 3.0 + value_at(bias, SCORES, Y, box, ridge)
    assert primal_value(3.0, SCORES, Y, box, ridge) == pytest.approx(expected, rel=1e-12)


def test_bias_of_a_flat_piece_is_its_middle():
    y = np.array([1.0, -1.0])
    # Both are right by a margin for every b between -1 and 1.
    assert optimal_bias(np.array([2.0, -2.0]), y, np.ones(2), np.zeros(2)) == 0.0
    assert optimal_bias(np.array([3.0, -2.0]), y, np.ones(2), np.zeros(2)) == -0.5


def test_bias_with_ties():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert optimal_bias(np.zeros(4), y, np.ones(4), np.zeros(4)) == 0.0
    assert optimal_bias(np.zeros(4), y, np.full(4, np.inf), np.ones(4)) == pytest.approx(0.0)


def test_bias_of_the_hard_margin_is_midway():
    scores, y = np.array([5.0, 2.0, -1.0, -7.0]), np.array([1.0, 1.0, -1.0, -1.0])
    assert optimal_bias(scores, y, np.full(4, np.inf), np.zeros(4)) == -0.5


def test_hard_margin_value():
    scores, y, box = np.array([5.0, 2.0, -1.0]), np.array([1.0, 1.0, -1.0]), np.full(3, np.inf)
    # Margins 1.5 after the bias: w shrinks by 1.5, its square by 2.25.
    assert primal_value(9.0, scores, y, box, np.zeros(3)) == pytest.approx(4.0)
    assert primal_value(9.0, -scores, y, box, np.zeros(3)) == np.inf
    assert primal_value(0.0, np.zeros(3), y, box, np.zeros(3)) == np.inf


def test_a_margin_missed_by_rounding_does_not_cost_the_box():
    y, box = np.array([1.0, -1.0]), np.full(2, 1e9)
    value = primal_value(1.0, np.array([1.0, -1.0]) * (1 - 1e-12), y, box, np.zeros(2))
    assert value == pytest.approx(1.0, rel=1e-11)
    # What really misses it does.
    assert primal_value(1.0, np.array([0.9, -0.9]), y, box, np.zeros(2)) == pytest.approx(1 + 4e8)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_certificate_of_somebody_elses_solution(C):
    # Small integers: libsvm holds the kernel in single precision.
    X = RNG.integers(-3, 4, size=(N, 3)).astype(float)
    K = X @ X.T + np.eye(N)
    svc = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, Y)
    alpha = np.zeros((1, N))
    alpha[0, svc.support_] = np.abs(svc.dual_coef_[0])
    problem = SVMProblem(Y, np.full(N, C), np.zeros(N), np.ones(1))
    certificate = problem.certify(DenseStack([K]), Candidate(alpha=alpha))
    assert certificate.relative_gap < 1e-6
    signed = Y * alpha[0]
    assert certificate.dual == pytest.approx(2 * alpha.sum() - signed @ K @ signed, rel=1e-6)


PROBLEM = SVMProblem(Y, np.full(N, 1.0), np.zeros(N), np.ones(1))
STACK = DenseStack([np.eye(N)])


@pytest.mark.parametrize(
    "alpha",
    [
        None,
        np.full((1, N), np.nan),
        np.full((1, N), np.inf),
        np.ones((1, N - 1)),
        np.ones((2, N)),
        np.ones(N),
        np.ones((0, N)),
    ],
    ids=["none", "nan", "inf", "short", "two rows", "flat", "empty"],
)
def test_what_is_no_dual_point_bounds_nothing(alpha):
    certificate = PROBLEM.certify(STACK, Candidate(alpha=alpha))
    assert (certificate.primal, certificate.dual) == (np.inf, -np.inf)
    assert certificate.infeasibility == np.inf


@pytest.mark.parametrize("alpha", [-np.ones((1, N)), np.full((1, N), 2.0), (Y > 0)[None] * 1.0])
def test_infeasible_dual_points_bound_nothing_from_below(alpha):
    certificate = PROBLEM.certify(STACK, Candidate(alpha=alpha))
    assert certificate.dual == -np.inf and certificate.infeasibility > 0.1
    assert np.isfinite(certificate.primal)  # any w is a primal point


def test_zero_is_a_dual_point():
    certificate = PROBLEM.certify(STACK, Candidate(alpha=np.zeros((1, N))))
    # Without w every sample of the smaller class is wrong by two.
    assert certificate.dual == 0.0
    assert certificate.primal == pytest.approx(4 * min((Y > 0).sum(), (Y < 0).sum()))


def test_feasible_dual_repairs_rounding_exactly():
    box = np.full(N, 1.0)
    alpha = np.where(Y > 0, 0.5, 1.0)
    feasible, violation = feasible_dual(alpha, Y, box)
    assert np.array_equal(feasible, alpha) and violation == 0.0
    noisy = alpha * (1 + 1e-9 * RNG.normal(size=N))
    feasible, violation = feasible_dual(noisy, Y, box)
    assert 0 < violation < 1e-8 < FEASIBILITY_TOLERANCE
    assert abs(feasible @ Y) <= 1e-15 * N and (feasible <= box).all() and (feasible >= 0).all()
    np.testing.assert_allclose(feasible, noisy, rtol=1e-7)


def test_feasible_dual_takes_from_inside_the_box_first():
    y, box = np.array([1.0, 1.0, -1.0]), np.full(3, 1.0)
    feasible, _ = feasible_dual(np.array([1.0, 0.3, 1.0]), y, box)
    np.testing.assert_allclose(feasible, [1.0, 0.0, 1.0], atol=1e-15)
    # Where that is not enough, the rest comes from all.
    feasible, _ = feasible_dual(np.array([1.0, 0.3, 0.4]), y, box)
    np.testing.assert_allclose(feasible, [0.4, 0.0, 0.4], atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.ones(N)}, "samples of both classes"),
        ({"y": 2 * Y}, "labels must be -1 or"),
        ({"box": np.ones(N - 1)}, "labels must have shape"),
        ({"box": np.zeros(N)}, "box must be positive"),
        ({"ridge": np.full(N, -1.0)}, "ridge nonnegative"),
    ],
)
def test_bad_problems_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(PROBLEM, **changes)


def test_feasible_dual_of_nothing_and_of_one_class():
    assert feasible_dual(np.zeros(3), np.array([1.0, -1.0, 1.0]), np.ones(3)) == (pytest.approx(np.zeros(3)), 0.0)
    feasible, violation = feasible_dual(np.array([1.0, 0.0, 1.0]), np.array([1.0, -1.0, 1.0]), np.ones(3))
    assert not feasible.any() and violation == 1.0


def test_feasible_dual_leaves_its_input_alone():
    alpha = np.array([-0.5, 2.0, 1.0])
    alpha.flags.writeable = False
    feasible_dual(alpha, np.array([1.0, -1.0, 1.0]), np.ones(3))
    assert alpha.tolist() == [-0.5, 2.0, 1.0]
