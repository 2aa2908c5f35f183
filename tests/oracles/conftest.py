"""Reference values from general conic solvers, and how to compare with them.

A test module names the sets of weights it is about in ``WEIGHTS``; each of its tests that asks for a
``cell`` runs once for every instance and criterion with such weights.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

# A weight must lie in its range, widened by this share of the largest one (the accuracy of the ranges).
WIDENED = 0.02


@dataclass(frozen=True)
class Cell:
    """One instance and one criterion of System A, with its reference values."""

    instance: dict
    result: dict

    def __str__(self):
        return f"{self.instance['id']}-{self.result['margin']}-{self.result['weights']}"

    @cached_property
    def factors(self):
        """Columns (n, rank) of each kernel over all samples."""
        if self.result["weights"] == "rank_one":
            return [_read_only(np.array(v)[:, None]) for v in self.instance["rank_one_vectors"]]
        return [_root(np.array(K)) for K in self.instance["kernels"]]

    @cached_property
    def kernels(self):
        """Matrices (n, n) over all samples."""
        if self.result["weights"] == "rank_one":
            return [_read_only(z @ z.T) for z in self.factors]
        return [_read_only(np.array(K)) for K in self.instance["kernels"]]

    @cached_property
    def traces(self):
        return np.array([np.trace(K) for K in self.kernels])

    @property
    def labels(self):
        return np.array(self.instance["y"][: self.instance["n_tr"]], dtype=float)

    @property
    def infeasible(self):
        return self.result["status"] == "infeasible"

    def check_value(self, certificate, tol):
        """Certified; the objective is the reference value; the certified interval meets the reference one."""
        assert certificate.relative_gap <= tol
        omega, (low, high) = self.result["omega"], self.result["bracket"]
        if self.result["agreed_digits"] >= 7:
            assert abs(certificate.primal - omega) <= 1e-6 * omega
        rounding = 1e-10 * omega
        assert certificate.dual <= high + rounding
        assert certificate.primal >= low - rounding

    def check_weights(self, weights, ridge=None):
        """Each weight is in its range (in shares of the budget too, where scales differ); the ridge as well."""
        low = np.array([-np.inf if v is None else v for v in self.result["mu_lo"]])
        high = np.array([np.inf if v is None else v for v in self.result["mu_hi"]])
        weights = np.asarray(weights)
        assert weights.shape == low.shape and (weights >= 0).all()
        if self.instance["kind"] == "dup_useless" and self.result["weights"] == "nonnegative":
            # Of the two equal kernels only the sum is determined.
            joined = [[0, 1], [2], [3]]
            low, high, weights = (np.array([v[i].sum() for i in joined]) for v in (low, high, weights))
            traces = self.traces[[0, 2, 3]]
        else:
            traces = self.traces
        for unit in (np.ones_like(traces), traces):
            slack = WIDENED * (weights * unit).max()
            assert (weights * unit >= low * unit - slack).all()
            assert (weights * unit <= high * unit + slack).all()
        if ridge is not None:
            known = [v for v in (self.result["tau_lo"], self.result["tau_hi"]) if v is not None]
            assert min(known) * 0.98 <= ridge <= max(known) * 1.02


def _read_only(array):
    array.flags.writeable = False
    return array


def _root(K):
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-15 * values[-1]
    return _read_only(vectors[:, kept] * np.sqrt(values[kept]))


def pytest_generate_tests(metafunc):
    if "cell" not in metafunc.fixturenames:
        return
    with open(Path(__file__).parent / "system_a.json", encoding="utf-8") as file:
        stored = json.load(file)
    instances = {instance["id"]: instance for instance in stored["instances"]}
    chosen = [r for r in stored["results"] if r["weights"] in metafunc.module.WEIGHTS and r["margin"] != "alignment"]
    assert chosen
    metafunc.parametrize("cell", [Cell(instances[r["instance"]], r) for r in chosen], ids=str)
