"""Proximity operators of the mixed norms: what makes them such."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm.prox import prox

PENALTIES = st.sampled_from([MixedNorm(p, q, r) for p in (1, 2) for q in (1, 2) for r in (1, 2)])
ENTRIES = st.floats(-100, 100, allow_subnormal=False)
PAIRS = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 6), st.integers(1, 6)), elements=ENTRIES)
STRENGTHS = st.floats(1e-3, 100)
quickly = settings(max_examples=60, deadline=None)


@quickly
@given(PENALTIES, PAIRS, STRENGTHS)
def test_firmly_nonexpansive(penalty, pair, lam):
    u, v = pair
    a, b = prox(penalty, u, lam), prox(penalty, v, lam)
    scale = 1 + np.abs(pair).max() ** 2
    assert ((a - b) ** 2).sum() <= ((a - b) * (u - v)).sum() + 1e-11 * scale


@quickly
@given(PENALTIES, PAIRS, STRENGTHS)
def test_no_point_is_better(penalty, pair, lam):
    u, other = pair

    def value(a):
        return 0.5 * ((a - u) ** 2).sum() + lam * penalty.value(a)

    best = prox(penalty, u, lam)
    for share in (1.0, 0.1, 1e-3):
        assert value(best) <= value(best + share * other) * (1 + 1e-11) + 1e-11


@quickly
@given(PENALTIES, PAIRS, STRENGTHS)
def test_moreau_identity(penalty, pair, lam):
    """u - prox(u) is the dual part: a subgradient of lam Omega at prox(u)."""
    u = pair[0]
    a = prox(penalty, u, lam)
    z = u - a
    scale = 1 + np.abs(u).max() ** 2
    if penalty.q == 1:
        # Projection on the ball of the dual norm, with equality in Hoelder's inequality.
        assert penalty.dual_norm(z) <= lam * (1 + 1e-12) + 1e-12
        assert (a * z).sum() == pytest.approx(lam * penalty.value(a), abs=1e-11 * scale)
    else:
        # Fenchel-Young equality: (lam Omega)*(z) = conjugate(z) / lam.
        assert (a * z).sum() == pytest.approx(lam * penalty.value(a) + penalty.conjugate(z) / lam, abs=1e-10 * scale)


@quickly
@given(PENALTIES, PAIRS, STRENGTHS)
def test_rows_and_columns_mirror_each_other(penalty, pair, lam):
    u = pair[0]
    mirrored = MixedNorm(penalty.p, penalty.q, 3 - penalty.r)
    np.testing.assert_allclose(prox(mirrored, u.T.copy(), lam).T, prox(penalty, u, lam), rtol=1e-12, atol=1e-12)
