"""What a setting derives: cone matrices with the ridge, mixtures, combinations on the pivots."""

import numpy as np
import pytest

from kernelweave.gram.dense import DenseStack
from kernelweave.problems.psd_margin import PSDMarginProblem
from kernelweave.solvers.semidefinite.psd_primal_dual import margin_settings
from kernelweave.solvers.semidefinite.whole import whitened_kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
LABELS = np.where(np.arange(16) % 2 > 0, 1.0, -1.0)[None]


def setting_of(kernels, auto=False):
    gram = DenseStack(kernels)
    problem = PSDMarginProblem(LABELS, np.full(16, np.inf), np.ones(16), gram.traces(), 20.0, 20.0 if auto else None)
    return next(margin_settings(problem, gram)), gram


def gaussian(width):
    return np.exp(-((X[:, None] - X) ** 2).sum(-1) / width)


@pytest.mark.parametrize("auto", [False, True])
def test_cone_matrices_of_the_coordinates(auto):
    setting, gram = setting_of([gaussian(1.0), gaussian(5.0), X @ X.T], auto)
    assert setting.ridge == auto
    small = setting.small_problem(whitened_kernels(setting))
    xi = RNG.normal(size=small.matrices.shape[0])
    x = setting.span @ xi
    whitened = np.linalg.solve(setting.face.factor, setting.combination(xi))
    whitened = np.linalg.solve(setting.face.factor, whitened.T)
    X_cone = np.tensordot(xi, small.matrices, 1)
    np.testing.assert_allclose(X_cone[setting.ridge :, setting.ridge :], whitened, atol=1e-6)
    if auto:
        assert X_cone[0, 0] == pytest.approx(x[-1]) and not X_cone[0, 1:].any()
    np.testing.assert_allclose(setting.combination(xi), gram.combine(setting.units * x[:3]), atol=1e-12)


def test_combination_on_pivots():
    setting, gram = setting_of([X @ X.T, X[:, :2] @ X[:, :2].T])
    xi = RNG.normal(size=2)
    whole = gram.combine(setting.units * (setting.span @ xi))
    np.testing.assert_allclose(
        setting.combination(xi), whole[np.ix_(setting.face.pivots, setting.face.pivots)], atol=1e-12
    )
    assert len(setting.face.pivots) == 3


@pytest.mark.parametrize("auto", [False, True])
def test_mixtures_keep_the_budget_and_the_ridge(auto):
    setting, _ = setting_of([gaussian(1.0), gaussian(5.0), X @ X.T], auto)
    x = np.array([1.5, -0.9, 0.1, 0.3])[: 3 + auto]
    xi = np.linalg.solve(setting.span, x)
    K0, K = setting.face.uniform, setting.combination(xi)
    negative = -np.linalg.eigvalsh(np.linalg.solve(K0, K))[0] + 0.1
    negative = max(negative, -np.linalg.eigvals(np.linalg.solve(K0, K)).real.min())
    mixed = setting.span @ setting.mixed(xi, negative)
    assert mixed[:3].sum() == pytest.approx(x[:3].sum())
    np.testing.assert_allclose(mixed[3:], x[3:], atol=1e-9)
    assert np.linalg.eigvalsh(setting.combination(np.linalg.solve(setting.span, mixed)))[0] > -1e-8
    np.testing.assert_allclose(setting.mixed(xi, 0.0), xi)
