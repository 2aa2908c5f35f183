"""What holds for every margin problem and every candidate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.margin import MarginProblem
from kernelweave.problems.svm import SVMProblem, feasible_dual, optimal_bias, primal_value
from kernelweave.solvers.bundle.smo import solve_smo

QUICK = settings(max_examples=30, deadline=None)
SLACK = 1e-9

entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, allow_subnormal=False))
positive = st.one_of(st.sampled_from([1e-6, 1e-3, 1.0, 1e3]), st.floats(0.01, 10))


def read_only(array):
    array.flags.writeable = False
    return array


@st.composite
def labels(draw, n, n_columns=1):
    signs = draw(arrays(np.float64, (n_columns, n), elements=st.sampled_from([-1.0, 1.0])))
    signs[:, 0], signs[:, 1] = 1.0, -1.0  # both classes in every column
    return read_only(signs)


@st.composite
def losses(draw, n, kinds=("l1", "l2", "hard", "both"), positive=positive):
    """Box and ridge per sample."""
    kind = draw(st.sampled_from(kinds))
    box = draw(arrays(np.float64, n, elements=positive)) if kind in ("l1", "both") else np.full(n, np.inf)
    ridge = draw(arrays(np.float64, n, elements=positive)) if kind in ("l2", "both") else np.zeros(n)
    return read_only(box), read_only(ridge)


@st.composite
def kernels(draw, n, m):
    z = draw(arrays(np.float64, (m, n, 3), elements=entries))
    z[:, 0, 0] += 4.0  # no kernel is zero
    return read_only(z @ z.transpose(0, 2, 1))


@st.composite
def problems(draw, kinds=("l1", "l2", "hard", "both", "auto")):
    n, m, k = draw(st.integers(2, 7)), draw(st.integers(1, 4)), draw(st.integers(1, 2))
    K, y = draw(kernels(n, m)), draw(labels(n, k))
    kind = draw(st.sampled_from(kinds))
    box, ridge = draw(losses(n, ("l2" if kind == "auto" else kind,)))
    prices = draw(st.sampled_from(["traces", "other"]))
    prices = np.trace(K, axis1=1, axis2=2) if prices == "traces" else draw(arrays(np.float64, m, elements=positive))
    ridge_price = draw(positive) if kind == "auto" else None
    return MarginProblem(y, box, ridge, prices, draw(positive), ridge_price), K


@st.composite
def feasible_weights(draw, problem):
    shares = draw(arrays(np.float64, len(problem.all_prices), elements=st.floats(0, 1, allow_subnormal=False)))
    assume(shares.sum() > 1e-3)
    return read_only(shares / shares.sum() * problem.budget / problem.all_prices)


@st.composite
def feasible_alphas(draw, problem):
    alpha = draw(arrays(np.float64, problem.labels.shape, elements=st.floats(0, 5, allow_subnormal=False)))
    for _ in range(2):  # the first repair of a wild point leaves rounding of the size of what it took away
        alpha = np.stack([feasible_dual(a, y, problem.box)[0] for a, y in zip(alpha, problem.labels, strict=True)])
        alpha[alpha < 1e-12] = 0.0
    alpha = np.stack([feasible_dual(a, y, problem.box)[0] for a, y in zip(alpha, problem.labels, strict=True)])
    return read_only(alpha)


problem_and_points = problems().flatmap(
    lambda p: st.tuples(st.just(p), feasible_weights(p[0]), feasible_alphas(p[0]), feasible_alphas(p[0]))
)


@QUICK
@given(problem_and_points)
def test_weak_duality(drawn):
    """Any dual point is below any weights with any w."""
    (problem, K), weights, alpha, other = drawn
    certificate = problem.certify(DenseStack(K), Candidate(weights=weights, alpha=alpha, dual_alpha=other))
    assert certificate.infeasibility < 1e-9
    assert not np.isnan(certificate.primal) and not np.isnan(certificate.dual)
    assert certificate.dual <= certificate.primal + SLACK * (1 + abs(certificate.dual))
    assert certificate.dual > -np.inf


@QUICK
@given(problem_and_points)
def test_a_candidate_is_judged_alone(drawn):
    """Neither bound depends on the other half of the candidate, and nothing is written."""
    (problem, K), weights, alpha, other = drawn
    stack = DenseStack(K)
    both = problem.certify(stack, Candidate(weights=weights, alpha=alpha, dual_alpha=other))
    assert problem.certify(stack, Candidate(weights=weights, alpha=alpha)).primal == both.primal
    assert problem.certify(stack, Candidate(dual_alpha=other)).dual == both.dual
    assert problem.certify(stack, Candidate(dual_alpha=other)).primal == np.inf


wild = st.one_of(st.sampled_from([np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 5e-324]), st.floats())
anything = st.one_of(
    st.none(),
    array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=8).flatmap(
        lambda shape: arrays(np.float64, shape, elements=wild)
    ),
)


@settings(max_examples=100, deadline=None)
@given(problems(), anything, anything, anything, st.data())
def test_invalid_candidates_bound_nothing_and_raise_nothing(drawn, weights, alpha, dual_alpha, data):
    problem, K = drawn
    if data.draw(st.booleans(), label="of the right shapes"):
        weights = data.draw(arrays(np.float64, problem.all_prices.shape, elements=wild))
        alpha = data.draw(arrays(np.float64, problem.labels.shape, elements=wild))
    certificate = problem.certify(DenseStack(K), Candidate(weights=weights, alpha=alpha, dual_alpha=dual_alpha))
    assert not np.isnan(certificate.primal) and not np.isnan(certificate.dual)
    assert certificate.primal >= 0 and certificate.dual < np.inf
    assert not np.isnan(certificate.infeasibility) and certificate.infeasibility >= 0
    single = SVMProblem(problem.labels[0], problem.box, problem.ridge, np.ones(len(K)))
    certificate = single.certify(DenseStack(K), Candidate(alpha=alpha))
    assert not np.isnan(certificate.primal) and not np.isnan(certificate.dual)
    assert certificate.primal >= 0 and certificate.dual < np.inf


@QUICK
@given(problem_and_points, st.sampled_from([1e-6, 0.5, 1e4]))
def test_common_scale(drawn, s):
    """Certificates of scaled points on scaled problems are scaled: omega_{sC,tau/s}(K/s) = s omega_{C,tau}(K)."""
    (problem, K), weights, alpha, _ = drawn
    one = problem.certify(DenseStack(K), Candidate(weights=weights, alpha=alpha))
    scaled = replace(problem, box=s * problem.box, ridge=problem.ridge / s)
    two = scaled.certify(DenseStack(K / s), Candidate(weights=weights, alpha=s * alpha))
    assert two.primal == pytest.approx(s * one.primal, rel=1e-6)
    assert two.dual == pytest.approx(s * one.dual, rel=1e-6, abs=1e-9 * s)


@QUICK
@given(problem_and_points, st.randoms(use_true_random=False))
def test_order_of_samples_and_kernels(drawn, random):
    (problem, K), weights, alpha, _ = drawn
    n, m = problem.labels.shape[1], len(K)
    rows, order = random.sample(range(n), n), random.sample(range(m), m)
    all_order = [*order, m] if problem.learns_ridge else order
    shuffled = replace(
        problem,
        labels=problem.labels[:, rows],
        box=problem.box[rows],
        ridge=problem.ridge[rows],
        prices=problem.prices[order],
    )
    one = problem.certify(DenseStack(K), Candidate(weights=weights, alpha=alpha))
    two = shuffled.certify(
        DenseStack(K[order][:, rows][:, :, rows]), Candidate(weights=weights[all_order], alpha=alpha[:, rows])
    )
    assert two.primal == pytest.approx(one.primal, rel=1e-6)
    assert two.dual == pytest.approx(one.dual, rel=1e-6, abs=1e-9)


@QUICK
@given(problem_and_points, st.floats(0, 1, allow_subnormal=False))
def test_a_kernel_given_twice(drawn, share):
    """Splitting the weight of a kernel between two copies of it changes nothing."""
    (problem, K), weights, alpha, _ = drawn
    one = problem.certify(DenseStack(K), Candidate(weights=weights, alpha=alpha))
    twice = replace(problem, prices=np.append(problem.prices[0], problem.prices))
    split = np.append(share * weights[0], [(1 - share) * weights[0], *weights[1:]])
    two = twice.certify(DenseStack(np.concatenate([K[:1], K])), Candidate(weights=split, alpha=alpha))
    assert two.primal == pytest.approx(one.primal, rel=1e-6)
    assert two.dual == pytest.approx(one.dual, rel=1e-9)


@st.composite
def machines(draw):
    """One SVM: labels, box, ridge, and two kernels."""
    n = draw(st.integers(2, 8))
    # Tame ones: pairwise steps take for ever to full accuracy where the ridge nearly vanishes.
    box, ridge = draw(losses(n, ("l1", "l2", "both"), st.floats(0.05, 10)))
    return draw(labels(n))[0], box, ridge, draw(kernels(n, 2))


def omega(K, y, box, ridge):
    """Bounds of omega(K), certified."""
    beta = np.zeros(len(y))
    solve_smo(K, y, box, ridge, beta, tol=1e-9)
    judged = SVMProblem(y, box, ridge, np.ones(1)).certify(DenseStack([K]), Candidate(alpha=(y * beta)[None]))
    return judged.dual, judged.primal


@QUICK
@given(machines(), st.floats(0.05, 0.95))
def test_omega_is_convex_in_the_weights(drawn, share):
    y, box, ridge, (one, two) = drawn
    middle = omega(share * one + (1 - share) * two, y, box, ridge)[0]
    ends = share * omega(one, y, box, ridge)[1] + (1 - share) * omega(two, y, box, ridge)[1]
    assert middle <= ends * (1 + 1e-6)


@QUICK
@given(machines())
def test_omega_falls_in_the_loewner_order(drawn):
    y, box, ridge, (one, two) = drawn
    assert omega(one + two, y, box, ridge)[0] <= omega(one, y, box, ridge)[1] * (1 + 1e-6)


@QUICK
@given(st.data())
def test_the_bias_is_a_minimiser(data):
    n = data.draw(st.integers(2, 8))
    y = data.draw(labels(n))[0]
    box, ridge = data.draw(losses(n))
    scores = read_only(data.draw(arrays(np.float64, n, elements=entries)))
    bias = optimal_bias(scores, y, box, ridge)
    best = primal_value(0.0, scores, y, box, ridge)
    if np.isinf(box).any() and not ridge.any():
        margin = (y * (scores + bias)).min()
        assert all((y * (scores + bias + step)).min() <= margin + 1e-12 for step in (-1.0, -1e-3, 1e-3, 1.0))
        return
    for step in (0.0, *(sign * 10.0**k for sign in (-1, 1) for k in range(-6, 2))):
        assert best <= loss_at(bias + step, scores, y, box, ridge) * (1 + 1e-9) + 1e-12


def loss_at(bias, scores, y, box, ridge):
    slack = np.maximum(1.0 - y * (scores + bias), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(slack > 0, np.minimum(np.where(ridge > 0, slack / ridge, np.inf), box), 0.0)
    return (2 * a * slack - ridge * a**2).sum()


@QUICK
@given(st.data())
def test_repaired_dual_variables_are_feasible(data):
    n = data.draw(st.integers(2, 8))
    y = data.draw(labels(n))[0]
    box, _ = data.draw(losses(n))
    alpha = read_only(data.draw(arrays(np.float64, n, elements=st.floats(-2, 1e4, allow_subnormal=False))))
    feasible, violation = feasible_dual(alpha, y, box)
    assert (feasible >= 0).all() and (feasible <= box).all()
    clipped = np.clip(alpha, 0, box)
    assert abs(feasible @ y) <= 1e-14 * clipped.sum() * n
    assert (feasible <= clipped).all()  # mass is only ever taken away
    again, none = feasible_dual(feasible, y, box)
    np.testing.assert_allclose(again, feasible, rtol=1e-12, atol=1e-14 * clipped.sum())
    assert violation >= 0 and (none <= 1e-12 or violation > 0.1)
