"""Steps on simplexes are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelweave.solvers.simplex import Simplexes, _fill


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_a_step_meets_the_optimality_conditions_on_every_simplex(seed):
    rng = np.random.default_rng(seed)
    groups = np.append(rng.integers(0, 3, 9), [0, 1, 2])
    start = Simplexes(groups).normalised(rng.random(12) + 1e-3)
    gain, stiffness = rng.normal(size=12) * 3, rng.uniform(0.5, 5, 12)
    x = Simplexes(groups).step(start, gain, stiffness)
    slope = gain - stiffness * (x - start)
    for g in range(3):
        own = groups == g
        assert x[own].sum() == pytest.approx(1, abs=1e-12) and (x[own] >= 0).all()
        inside = own & (x > 1e-12)
        level = slope[inside]
        assert np.ptp(level) < 1e-9 and (slope[own] <= level.max() + 1e-9).all()


def test_compiled_and_plain_agree():
    rng = np.random.default_rng(0)
    bounds = np.array([0, 3, 4])
    start, gain, stiffness = rng.random(4), rng.normal(size=4), rng.random(4) + 0.5
    np.testing.assert_array_equal(_fill(start, gain, stiffness, bounds), _fill.py_func(start, gain, stiffness, bounds))
