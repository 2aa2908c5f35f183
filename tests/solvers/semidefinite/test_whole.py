"""The whole-cone loop: coordinates, finer faces, and when it stops."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.psd_primal_dual import margin_settings
from kernelweave.solvers.semidefinite.whole import solve_whole, whitened_kernels

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)[None]


def settings_of(widths, C=1.0):
    distances = (X[:, :1] - X[:, 0]) ** 2
    gram = DenseStack([np.exp(-distances / width) for width in widths])
    problem = PSDMarginProblem(LABELS, np.full(N, C), np.zeros(N), gram.traces(), float(N))
    return list(margin_settings(problem, gram)), problem, gram


def ending(generator):
    """Candidates and return value."""
    found = []
    while True:
        try:
            found.append(next(generator))
        except StopIteration as stop:
            return found, stop.value


def test_uniform_combination_is_the_identity():
    (setting, *_), _, _ = settings_of([0.1, 1.0, 10.0])
    whitened = whitened_kernels(setting)
    np.testing.assert_allclose(whitened.mean(axis=0), np.eye(len(setting.face.pivots)), atol=1e-6)


def test_it_stops_when_floating_point_has_no_more_to_give():
    (setting, *_), problem, gram = settings_of([0.1, 1.0])
    candidates, large_enough = ending(solve_whole(setting))
    assert large_enough and len(candidates) < 50
    assert min(c.gap for c in candidates) < 1e-10
    assert problem.certify(gram, min(candidates, key=lambda c: c.gap)).relative_gap < 1e-8


def test_a_face_on_which_the_weights_are_indefinite_elsewhere_is_refused(monkeypatch):
    (setting, *_), _, _ = settings_of([0.1, 1.0, 10.0, 100.0])
    assert len(setting.face.pivots) < N
    object.__setattr__(setting, "feasible", lambda xi: False)
    candidates, large_enough = ending(solve_whole(setting))
    assert not large_enough
    assert candidates[-1].gap <= 1e-5


def test_finer_faces_have_more_pivots():
    settings, _, _ = settings_of([0.1, 1.0, 10.0, 100.0])
    ranks = [len(setting.face.pivots) for setting in settings]
    assert ranks == sorted(ranks) and ranks[0] < ranks[-1]


@pytest.mark.parametrize("C", [1e-3, 1e3])
def test_penalties_far_from_the_start(C):
    (setting, *_), problem, gram = settings_of([0.1, 1.0], C)
    candidates, _ = ending(solve_whole(setting))
    assert min(problem.certify(gram, c).relative_gap for c in candidates[-8:]) < 1e-6
