"""Certificates of mixed norms against a conic solver's values and hand-made candidates."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelweave.gram.rectangular import RectangularStack
from kernelweave.problems.base import Candidate
from kernelweave.problems.losses import LogisticLoss, SquaredHingeLoss, SquaredLoss
from kernelweave.problems.mixed_norm import MixedNormProblem
from kernelweave.problems.penalties import MixedNorm

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "system_c.json").read_text())
DATA = {entry["id"]: entry for entry in ORACLE["datasets"]}
ALL = [MixedNorm(p, q, r) for p in (1, 2) for q in (1, 2) for r in (1, 2)]


def from_oracle(entry):
    data = DATA[entry["dataset"]]
    y = np.array(data["y"], dtype=float)
    penalty = MixedNorm(entry["p"], entry["q"], entry["r"])
    problem = MixedNormProblem(SquaredHingeLoss(y, np.ones(len(y))), penalty, entry["lam"], entry["intercept"])
    return problem, RectangularStack(np.array(data["K"]))


each_oracle = pytest.mark.parametrize(
    "entry", ORACLE["problems"], ids=lambda e: f"{e['dataset']}-{e['p']}{e['q']}{e['r']}-{e['intercept']}"
)


@each_oracle
def test_lower_bound_of_the_oracle_slopes(entry):
    problem, gram = from_oracle(entry)
    w = np.array(entry["v"]) * problem.loss.y
    nothing = np.zeros((gram.shape[1], gram.n_kernels))
    judged = problem.certify(gram, Candidate(alpha=nothing, dual_alpha=w[None]))
    assert judged.dual <= entry["objective"] * (1 + 1e-7) <= judged.primal * (1 + 2e-7)
    assert judged.dual >= entry["objective"] * (1 - 1e-5)


@each_oracle
def test_strength_from_which_nothing_is_left(entry):
    problem, gram = from_oracle(entry)
    largest = problem.alpha_max(gram)
    nothing = Candidate(alpha=np.zeros((gram.shape[1], gram.n_kernels)))
    if entry["lambda_max"] is None:
        assert largest == np.inf
        return
    assert largest == pytest.approx(entry["lambda_max"], rel=1e-12)
    assert abs(replace(problem, strength=largest * (1 + 1e-12)).certify(gram, nothing).relative_gap) < 1e-11
    assert replace(problem, strength=0.9 * largest).certify(gram, nothing).relative_gap > 1e-3
    assert entry["omega_zero"] == (entry["lam"] >= largest)


def any_problem(penalty, kind, intercept, n=8, n_points=6, n_kernels=3, seed=0):
    rng = np.random.default_rng(seed)
    gram = RectangularStack(rng.normal(size=(n_kernels, n, n_points)))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    loss = kind(rng.normal(size=n) if kind is SquaredLoss else y, rng.uniform(0.5, 2.0, n))
    return MixedNormProblem(loss, penalty, 0.8, intercept), gram, rng


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [SquaredHingeLoss, LogisticLoss, SquaredLoss])
@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_bounds_of_any_candidates_never_cross(penalty, kind, intercept):
    problem, gram, rng = any_problem(penalty, kind, intercept)
    judged = []
    for scale in (0.0, 0.01, 0.1, 1.0):
        alpha = scale * rng.normal(size=(gram.shape[1], gram.n_kernels))
        w = rng.normal(size=(1, gram.shape[0]))
        judged.append(problem.certify(gram, Candidate(alpha=alpha, bias=rng.normal(size=1), dual_alpha=w)))
    assert max(j.dual for j in judged) <= min(j.primal for j in judged)
    assert all(np.isfinite([j.primal, j.dual]).all() for j in judged)


def test_primal_value_is_written_out():
    problem, gram, rng = any_problem(MixedNorm(2, 1, 2), SquaredHingeLoss, True)
    alpha, b = rng.normal(size=(6, 3)), 0.3
    f = sum(gram.read(np.array([t]), np.arange(8))[0] @ alpha[:, t] for t in range(3)) + b
    slack = np.maximum(1 - problem.loss.y * f, 0)
    expected = (problem.loss.weight * slack**2).sum() + 0.8 * sum(np.linalg.norm(alpha, axis=0))
    assert problem.certify(gram, Candidate(alpha=alpha, bias=np.array([b]))).primal == pytest.approx(
        expected, rel=1e-13
    )
    # Without a bias the candidate is judged at the best one.
    assert problem.certify(gram, Candidate(alpha=alpha)).primal < expected


@pytest.mark.parametrize(
    "alpha",
    [None, np.zeros((3, 6)), np.full((6, 3), np.nan), np.full((6, 3), np.inf)],
    ids=["none", "shape", "nan", "inf"],
)
def test_unusable_candidates_bound_nothing(alpha):
    problem, gram, _ = any_problem(MixedNorm(1, 1), SquaredHingeLoss, True)
    judged = problem.certify(gram, Candidate(alpha=alpha))
    assert (judged.primal, judged.dual) == (np.inf, -np.inf)


def test_bad_problems_are_refused():
    loss = SquaredHingeLoss(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="both classes"):
        MixedNormProblem(loss, MixedNorm(1, 1), 1.0, intercept=True)
    assert MixedNormProblem(loss, MixedNorm(1, 1), 1.0, intercept=False).n_samples == 3
    for strength in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="strength of the penalty must be positive"):
            MixedNormProblem(loss, MixedNorm(1, 1), strength, intercept=False)
