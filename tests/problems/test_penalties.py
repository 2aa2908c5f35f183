"""Mixed norms: values, dual norms, conjugates, names."""

import numpy as np
import pytest

from kernelweave.problems.penalties import MixedNorm, penalty_named

ALL = [MixedNorm(p, q, r) for p in (1, 2) for q in (1, 2) for r in (1, 2)]
ALPHA = np.random.default_rng(0).normal(size=(5, 3))
ALPHA[2] = 0.0
ALPHA.flags.writeable = False


def twin_value(penalty, alpha):
    """[K09] (4), (5) as printed, with Python sums."""
    rows = alpha if penalty.r == 1 else alpha.T
    return sum(sum(abs(a) ** penalty.p for a in row) ** (penalty.q / penalty.p) for row in rows) / penalty.q


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_value_is_the_printed_norm(penalty):
    assert penalty.value(ALPHA) == pytest.approx(twin_value(penalty, ALPHA), rel=1e-14)


@pytest.mark.parametrize("penalty", [p for p in ALL if p.q == 1], ids=str)
def test_dual_norm_is_the_largest_inner_product_on_the_unit_ball(penalty):
    # The maximiser puts everything into the best group, along z (p = 2) or on its largest entry (p = 1).
    z = ALPHA
    groups = list(z) if penalty.r == 1 else list(z.T)
    if penalty.p == 1:
        expected = max(np.abs(g).max() for g in groups)
    else:
        expected = max(np.linalg.norm(g) for g in groups)
    assert penalty.dual_norm(z) == pytest.approx(expected, rel=1e-14)
    draws = np.random.default_rng(1).normal(size=(200, *z.shape))
    assert all((a * z).sum() <= penalty.value(a) * penalty.dual_norm(z) * (1 + 1e-12) for a in draws)


@pytest.mark.parametrize("penalty", [p for p in ALL if p.q == 2], ids=str)
def test_conjugate_bounds_and_is_attained(penalty):
    z = ALPHA
    draws = np.random.default_rng(1).normal(size=(200, *z.shape))
    assert all((a * z).sum() - penalty.value(a) <= penalty.conjugate(z) * (1 + 1e-12) for a in draws)
    if penalty.p == 2:
        best = z
    else:
        axis = 1 if penalty.r == 1 else 0
        best = z * (np.abs(z) == np.abs(z).max(axis=axis, keepdims=True))
    assert (best * z).sum() - penalty.value(best) == pytest.approx(penalty.conjugate(z), rel=1e-14)


def test_names_round_trip():
    for name in ("l1", "l2", "group", "elitist"):
        for structure in ("kernels", "samples"):
            assert penalty_named(name, structure).name == name
    assert penalty_named("group", "kernels") == MixedNorm(2, 1, 2)
    assert penalty_named("group", "samples").r == 1


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match=r"penalty must be one of .*'elitist'.*; got 'lasso'"):
        penalty_named("lasso")
    with pytest.raises(ValueError, match=r"structure must be one of .*'samples'.*; got 'rows'"):
        penalty_named("l1", "rows")
    with pytest.raises(ValueError, match="must be 1 or 2; got p=3"):
        MixedNorm(3, 1)
