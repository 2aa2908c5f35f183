"""Which entries join the working set."""

import numpy as np
import pytest

from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm import working_set as module
from kernelweave.solvers.mixed_norm.working_set import violators

RNG = np.random.default_rng(0)
SHAPE = (8, 5)


def positions(mask):
    return set(np.flatnonzero(mask).tolist())


@pytest.fixture
def state():
    alpha = RNG.normal(size=SHAPE) * (RNG.random(SHAPE) < 0.2)
    return alpha, RNG.normal(size=SHAPE) * 2, alpha != 0


def test_single_entries(state):
    alpha, z, inside = state
    chosen = violators(MixedNorm(1, 1), 1.0, alpha, z, inside)
    assert set(chosen.tolist()) == positions((np.abs(z) > 1.0) & ~inside)


def test_only_the_worst_join(state, monkeypatch):
    _, z, _ = state
    monkeypatch.setattr(module, "_FIRST", 3)
    chosen = violators(MixedNorm(1, 1), 1.0, np.zeros(SHAPE), z, np.zeros(SHAPE, dtype=bool))
    assert set(chosen.tolist()) == set(np.argsort(-np.abs(z).ravel())[:3].tolist())


@pytest.mark.parametrize("r", [1, 2])
def test_whole_groups(r, state):
    alpha, z, _ = state
    axis = 1 if r == 1 else 0
    inside = np.zeros(SHAPE, dtype=bool)
    if r == 1:
        inside[2] = True
    else:
        inside[:, 1] = True
    norms = np.linalg.norm(z, axis=axis)
    norms[2 if r == 1 else 1] = 0.0
    strength = float(np.sort(norms)[-2]) - 1e-9
    mask = np.zeros(SHAPE, dtype=bool)
    for g in np.flatnonzero(norms > strength):
        mask[g if r == 1 else slice(None), slice(None) if r == 1 else g] = True
    chosen = violators(MixedNorm(2, 1, r), strength, alpha * 0, z, inside)
    assert set(chosen.tolist()) == positions(mask)
    assert len(chosen) == 2 * (5 if r == 1 else 8)


@pytest.mark.parametrize("r", [1, 2])
def test_elitist_members_must_beat_their_group(r, state):
    alpha, z, inside = state
    axis = 1 if r == 1 else 0
    held = 0.3 * np.abs(alpha).sum(axis=axis, keepdims=True)
    allowed = positions((np.abs(z) > held) & ~inside)
    chosen = violators(MixedNorm(1, 2, r), 0.3, alpha, z, inside)
    assert len(set(chosen.tolist())) == len(chosen)
    if r == 2:
        assert set(chosen.tolist()) == allowed
        return
    assert set(chosen.tolist()) <= allowed
    for i in range(SHAPE[0]):
        row = [k for k in allowed if k // SHAPE[1] == i]
        best = sorted(row, key=lambda k: -abs(z.ravel()[k]))[:2]
        assert {k for k in chosen.tolist() if k // SHAPE[1] == i} == set(best)


@pytest.mark.parametrize("penalty", [MixedNorm(1, 1), MixedNorm(2, 1, 1), MixedNorm(2, 1, 2)], ids=str)
def test_nothing_joins_at_the_optimum(penalty):
    z = np.ones(SHAPE)
    strength = penalty.dual_norm(z)
    assert len(violators(penalty, strength, np.zeros(SHAPE), z, np.zeros(SHAPE, dtype=bool))) == 0
