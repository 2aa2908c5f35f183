"""The growing cone: fewer directions than samples, faces, and restarts inside the cone."""

import numpy as np

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.directions import Directions
from kernelweave.solvers.semidefinite.growing import _examine, _restart, solve_growing
from kernelweave.solvers.semidefinite.psd_primal_dual import margin_settings

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 5))
LABELS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=N) > 0, 1.0, -1.0)[None]
DISTANCES = ((X[:, None] - X) ** 2).sum(-1)
GRAM = DenseStack([np.exp(-DISTANCES / 2), np.exp(-DISTANCES / 10), X @ X.T + 0.01 * np.eye(N)])
PROBLEM = PSDMarginProblem(LABELS, np.full(N, 1.0), np.zeros(N), GRAM.traces(), float(N))


def test_each_look_is_sharper_and_directions_stay_few():
    looks, known = [], np.inf
    for candidate in solve_growing(next(margin_settings(PROBLEM, GRAM))):
        if candidate.gap < known:
            looks.append(candidate)
            known = candidate.gap
    assert looks[-1].gap < 1e-8
    sizes = [candidate.extras["cone_dual"].basis.shape[1] for candidate in looks]
    assert sizes == sorted(sizes) and sizes[-1] < N
    assert PROBLEM.certify(GRAM, looks[-1]).relative_gap < 1e-7


def test_a_round_starts_inside_the_grown_cone():
    setting = next(margin_settings(PROBLEM, GRAM))
    directions = Directions(GRAM, setting.face, setting.units)
    directions.start(1, 1)
    small = setting.small_problem(directions.blocks)
    point = small.start()
    for _ in range(4):
        point = small.at(point).advance()
    iteration = small.at(point)
    found = _examine(setting, iteration, 0.1)
    assert found.negative > 0.01
    values = np.linalg.eigvalsh(np.linalg.solve(setting.face.factor, setting.combination(found.xi)))
    assert values.min() > -1e-9 or np.linalg.eigvalsh(setting.combination(found.xi))[0] > -1e-9
    assert directions.add(found.vectors) > 0
    small = setting.small_problem(directions.blocks)
    again = _restart(setting, small, iteration, found)
    old = len(point.Z)
    assert np.linalg.eigvalsh(np.tensordot(again.xi, small.matrices, 1))[0] > 0
    assert np.linalg.eigvalsh(again.Z)[0] > 0 and len(again.Z) > old
    np.testing.assert_array_equal(again.Z[:old, :old], point.Z)
    small.at(again).advance()


def test_a_face_on_which_the_weights_are_indefinite_elsewhere_is_refused():
    twins = np.tile(np.arange(N // 2), 2)
    gram = GRAM.restrict(twins)
    problem = PSDMarginProblem(LABELS[:, : N // 2], np.full(N // 2, 1.0), np.zeros(N // 2), gram.traces(), float(N))
    setting = next(margin_settings(problem, gram))
    assert len(setting.face.pivots) == N // 2
    generator = solve_growing(setting)
    for candidate in generator:
        assert np.isfinite(candidate.weights).all()
    object.__setattr__(setting, "feasible", lambda xi: False)
    generator, refused = solve_growing(setting), None
    while refused is None:
        try:
            next(generator)
        except StopIteration as stop:
            refused = not stop.value
    assert refused
