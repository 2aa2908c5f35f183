"""Generalised derivative of the proximity operators, and penalties on some of the entries.

At x = prox(u) every operator of [K09] has, group by group and on the support S of x, the derivative

    J_g = across_g (I - d d') + along_g d d',      d a unit vector in the group,

penalty    across_g            along_g               d
l1         1                   1
l2         1 / (1 + lam)       1 / (1 + lam)
group      1 - lam / ||u_g||   1                     u_g / ||u_g||
elitist    1                   1 / (1 + lam M_g)     sign(x_g) / sqrt(M_g),   M_g members in S

so one form serves all: products, square roots and sums over columns follow from it. Where the groups
have steps of their own, lam is multiplied by the step of the group, and so is J.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.problems.penalties import MixedNorm
from kernelweave.solvers.mixed_norm.prox import entry_groups, group_count, prox_entries

__all__ = ["EntryPenalty", "ProxJacobian"]


@dataclass(frozen=True)
class ProxJacobian:
    """The derivative above.

    Parameters
    ----------
    support : ndarray of shape (n_support,), dtype intp
        Positions with a non-zero entry.
    across : ndarray of shape (n_support,)
        Factor of each entry outside the direction of its group.
    groups : ndarray of shape (n_support,), dtype intp
        Group of each entry, counted from 0 over ``along``; -1 for entries that stand alone.
    direction : ndarray of shape (n_support,)
        Unit vector of each group.
    along : ndarray of shape (n_groups,)
        Factor in the direction of the group.
    names : ndarray of shape (n_groups,), dtype intp
        The groups' own numbers (row or column of alpha).
    by_pattern : bool
        Whether ``direction`` depends on signs alone, so that most groups stay as they are between steps.
    """

    support: IntArray
    across: FloatArray
    groups: IntArray
    direction: FloatArray
    along: FloatArray
    names: IntArray
    by_pattern: bool = False

    @property
    def members(self) -> IntArray:
        """Which support entries belong to a group."""
        return np.flatnonzero(self.groups >= 0)

    def group_across(self) -> FloatArray:
        """``across`` of each group."""
        result = np.ones(len(self.along))
        member = self.members
        result[self.groups[member]] = self.across[member]
        return result

    def times(self, values: FloatArray) -> FloatArray:
        """Product with a vector on the support."""
        result = self.across * values
        if len(self.along):
            m = self.members
            g, d = self.groups[m], self.direction[m]
            share = np.bincount(g, d * values[m], len(self.along))
            result[m] += d * ((self.along - self.group_across()) * share)[g]
        return result


class EntryPenalty:
    """A mixed norm of some of the entries, the others being zero.

    Parameters
    ----------
    penalty : MixedNorm
        The norm of all entries.
    entries : ndarray of shape (n_entries,), dtype intp
        Positions in the row-major (n_points, n_kernels) array.
    shape : tuple of int
        (n_points, n_kernels).
    steps : ndarray of shape (n_groups,), optional
        Relative step length of each group; ones when None.

    Attributes
    ----------
    entry_steps : ndarray of shape (n_entries,)
        The step of each entry.
    """

    def __init__(
        self, penalty: MixedNorm, entries: IntArray, shape: tuple[int, int], steps: FloatArray | None = None
    ) -> None:
        self.penalty = penalty
        self._groups = entry_groups(penalty, entries, shape[1])
        self._steps = np.ones(group_count(penalty, shape)) if steps is None else steps
        self._scratch = np.empty(len(self._steps))
        self.entry_steps: FloatArray = self._steps[self._groups]

    def prox(self, u: FloatArray, lam: float) -> FloatArray:
        """Proximity operator of ``lam Omega`` in the metric of the steps."""
        return prox_entries(self.penalty, u, self._groups, self._scratch, lam * self._steps)

    def value(self, x: FloatArray) -> float:
        """Omega."""
        if self.penalty.separable:
            return float(np.abs(x).sum()) if self.penalty.q == 1 else 0.5 * float(x @ x)
        size = len(self._steps)
        if self.penalty.p == 2:
            return float(np.sqrt(np.bincount(self._groups, x * x, size)).sum())
        norms = np.bincount(self._groups, np.abs(x), size)
        return 0.5 * float(norms @ norms)

    def jacobian(self, u: FloatArray, x: FloatArray, lam: float) -> ProxJacobian:
        """Derivative of the proximity operator at u, times the steps, where ``x = prox(u, lam)``."""
        support = np.flatnonzero(x)
        if self.penalty.separable:
            steps = self.entry_steps[support]
            across = steps if self.penalty.q == 1 else steps / (1.0 + lam * steps)
            alone, nothing = np.full(len(support), -1, dtype=np.intp), np.zeros(0)
            return ProxJacobian(support, across, alone, np.zeros(len(support)), nothing, nothing.astype(np.intp))
        names, groups, sizes = np.unique(self._groups[support], return_inverse=True, return_counts=True)
        steps = self._steps[names]
        if self.penalty.p == 2:
            inside = u[support]
            norms = np.sqrt(np.bincount(groups, inside * inside))
            across = steps * (1.0 - lam * steps / norms)
            return ProxJacobian(support, across[groups], groups, inside / norms[groups], steps, names)
        return _elitist(support, np.sign(x[support]), names, groups, sizes, lam * steps, steps)


def _elitist(
    support: IntArray,
    signs: FloatArray,
    names: IntArray,
    groups: IntArray,
    sizes: IntArray,
    lam: FloatArray,
    steps: FloatArray,
) -> ProxJacobian:
    # An entry alone in its group has no direction to distinguish: its factor is the one along it.
    alone = sizes == 1
    across = np.where(alone, steps / (1.0 + lam), steps)[groups]
    number = np.where(alone, -1, np.cumsum(~alone) - 1)
    direction = signs / np.sqrt(sizes[groups])
    along = (steps / (1.0 + lam * sizes))[~alone]
    return ProxJacobian(support, across, number[groups], direction, along, names[~alone], by_pattern=True)
