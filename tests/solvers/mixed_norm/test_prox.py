"""Proximity operators against a conic solver, the printed formulas, and their definition."""

import numpy as np
import pytest

from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm.prox import entry_groups, prox, prox_entries

ALL = [MixedNorm(p, q, r) for p in (1, 2) for q in (1, 2) for r in (1, 2)]


def twin(penalty, u, lam):
    """[K09] Proposition 1 and section 3 in plain Python, the elitist case by sorting as printed."""
    rows = u if penalty.r == 1 else u.T
    out = np.zeros_like(rows)
    for g, row in enumerate(rows):
        for m, value in enumerate(row):
            if (penalty.p, penalty.q) == (1, 1):
                size = max(abs(value) - lam, 0.0)
            elif (penalty.p, penalty.q) == (2, 2):
                size = abs(value) / (1 + lam)
            elif penalty.p == 2:
                norm = sum(v * v for v in row) ** 0.5
                size = abs(value) * max(1 - lam / norm, 0.0) if norm > 0 else 0.0
            else:
                ordered = sorted((abs(v) for v in row), reverse=True)
                count = max(
                    (
                        k
                        for k in range(1, len(row) + 1)
                        if ordered[k - 1] > lam * sum(o - ordered[k - 1] for o in ordered[:k])
                    ),
                    default=0,
                )
                size = max(abs(value) - lam / (1 + lam * count) * sum(ordered[:count]), 0.0)
            out[g, m] = size if value > 0 else -size
    return out if penalty.r == 1 else out.T


def test_oracle(oracle):
    assert len(oracle["prox"]) == 24
    for entry in oracle["prox"]:
        u = np.array(entry["u"])
        u.flags.writeable = False
        result = prox(MixedNorm(entry["p"], entry["q"], entry["r"]), u, entry["lam"])
        np.testing.assert_allclose(result, entry["prox"], atol=1e-6)


@pytest.mark.parametrize("lam", [0.0, 0.3, 2.0, 50.0])
@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_printed_formulas(penalty, lam):
    rng = np.random.default_rng(0)
    for u in (rng.normal(size=(6, 4)), rng.integers(-2, 3, size=(5, 5)).astype(float), np.zeros((3, 2))):
        np.testing.assert_allclose(prox(penalty, u, lam), twin(penalty, u, lam), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_subset_of_entries_is_the_whole_with_zeros(penalty):
    rng = np.random.default_rng(1)
    full = rng.normal(size=(7, 4)) * (rng.random((7, 4)) < 0.6)
    entries = rng.permutation(np.flatnonzero(full))
    scratch = np.empty(7 if penalty.r == 1 else 4)
    u = full.ravel()[entries]
    result = prox_entries(penalty, u, entry_groups(penalty, entries, 4), scratch, 0.4)
    np.testing.assert_allclose(result, prox(penalty, full, 0.4).ravel()[entries], rtol=1e-13, atol=1e-15)
    out = np.empty_like(u)
    assert prox_entries(penalty, u, entry_groups(penalty, entries, 4), scratch, 0.4, out) is out


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_not_a_number_stays_visible(penalty):
    u = np.ones((3, 3))
    u[1, 1] = np.nan
    assert np.isnan(prox(penalty, u, 0.1)[1, 1])


def test_equal_entries_share():
    # All members are equal, so all survive: theta = lam * 3 / (1 + 3 lam).
    u = np.full((1, 3), 2.0)
    np.testing.assert_allclose(prox(MixedNorm(1, 2, 1), u, 1.0), np.full((1, 3), 0.5), rtol=1e-14)
