"""The linear system of one Newton step, in the samples.

    H d = rhs,     H = sigma K_S J K_S' + diag(shift),

or, with a free bias, the same on the directions with sum d = 0: H d + delta = rhs for some delta.
J the derivative of the proximity operator, on its support S. Two ways: few columns, by the Woodbury
identity on the square root of J; many columns, by a running n x n sum to which only the columns
whose factor has changed are added. Factors that change continuously may lag behind by a bounded
ratio, and the sum is kept in single precision while that suffices: conjugate gradients on the exact
H, preconditioned by the approximate one, make up for both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.solvers.mixed_norm.columns import WorkingColumns, add_outer
from kernelweave.solvers.mixed_norm.jacobian import ProxJacobian

__all__ = ["NewtonSystem"]

_FEW = 0.6  # columns per sample up to which the Woodbury side is cheaper
_LAG = 2.0 / 3.0  # a factor is refreshed when it is off by more than this part of the larger one
_EXACT, _SAME_SCALE = 1e-12, 0.1
_RESIDUAL, _CG_STEPS = 1e-2, 12
_SINGLE_FROM = 400  # samples from which single precision pays

Solve = Callable[[FloatArray], FloatArray]


class NewtonSystem:
    """Solves the Newton systems of one run, remembering the running sum between them.

    Parameters
    ----------
    columns : WorkingColumns
        The columns of K; the set may grow between calls.
    n_samples : int
        Length of a column.
    """

    def __init__(self, columns: WorkingColumns, n_samples: int) -> None:
        self._columns = columns
        self._n = n_samples
        self._dtype = np.dtype(np.float32 if n_samples >= _SINGLE_FROM else np.float64)
        self._forget()

    def read_from(self, columns: WorkingColumns) -> None:
        """Go on with the same columns, held in another way."""
        self._columns = columns

    def _forget(self) -> None:
        # Only the lower triangle is ever written or read.
        self._sum = np.zeros((self._n, self._n), dtype=self._dtype, order="F")
        self._factors = np.zeros(0)
        self._names: IntArray = np.zeros(0, dtype=np.intp)
        self._sums, self._weights = np.zeros((0, self._n)), np.zeros(0)

    def solve(
        self, jacobian: ProxJacobian, sigma: float, shift: FloatArray, rhs: FloatArray, balanced: bool
    ) -> FloatArray:
        """Direction d with H d = rhs, to a relative residual of about a hundredth.

        Parameters
        ----------
        jacobian : ProxJacobian
            J and its support.
        sigma : float
            Step length of the coefficients.
        shift : ndarray of shape (n_samples,)
            Positive diagonal.
        rhs : ndarray of shape (n_samples,)
            Right-hand side.
        balanced : bool
            Stay on the directions of sum zero.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        numpy.linalg.LinAlgError
            When the system is not numerically positive definite.
        """
        if len(jacobian.support) < _FEW * self._n:
            plain = self._woodbury(jacobian, sigma, shift)
            return (_balancing(plain, self._n) if balanced else plain)(rhs)

        def times(d: FloatArray) -> FloatArray:
            inner = np.zeros(len(self._columns))
            inner[jacobian.support] = sigma * jacobian.times(self._columns.adjoint_at(jacobian.support, d))
            return self._columns.apply(inner) + shift * d

        try:
            plain, exact = self._factorise(jacobian, sigma, shift)
        except np.linalg.LinAlgError:
            # Single precision, or rounding left over from columns that came and went: once more from nothing.
            self._dtype = np.dtype(np.float64)
            self._forget()
            plain, exact = self._factorise(jacobian, sigma, shift)
        solve = _balancing(plain, self._n) if balanced else plain
        if exact:
            return solve(rhs)
        direction, converged = _conjugate_gradients(times, solve, rhs, balanced)
        if not converged and self._dtype == np.float32:
            self._dtype = np.dtype(np.float64)
            self._forget()
        return direction

    def _woodbury(self, jacobian: ProxJacobian, sigma: float, shift: FloatArray) -> Solve:
        root = self._columns.rows(jacobian.support)
        root *= np.sqrt(jacobian.across)[:, None]
        members = jacobian.members
        if len(members):
            g = jacobian.groups[members]
            tilt = (np.sqrt(jacobian.along) - np.sqrt(jacobian.group_across()))[g] * jacobian.direction[members]
            root[members] += tilt[:, None] * self._group_sums(jacobian)[g]
        root *= np.sqrt(sigma)
        scaled = root / np.sqrt(shift)
        small = scaled @ scaled.T
        small[np.diag_indices_from(small)] += 1.0 + 1e-14 * np.trace(small)
        factor = scipy.linalg.cho_factor(small.T, lower=False, overwrite_a=True, check_finite=False)

        def solve(rhs: FloatArray) -> FloatArray:
            start = rhs / shift
            return start - (scipy.linalg.cho_solve(factor, root @ start, check_finite=False) @ root) / shift

        return solve

    def _group_sums(self, jacobian: ProxJacobian) -> FloatArray:
        """``K_g d_g`` of every group, shape (n_groups, n_samples)."""
        return self._columns.sums(jacobian.support, jacobian.groups, jacobian.direction, len(jacobian.along))

    def _factorise(self, jacobian: ProxJacobian, sigma: float, shift: FloatArray) -> tuple[Solve, bool]:
        """Factor of an approximation of H, and whether it is H itself."""
        lagging = self._refresh_columns(jacobian, sigma)
        sums = self._group_sums(jacobian)
        if jacobian.by_pattern:
            self._refresh_groups(jacobian.names, sums, sigma * (jacobian.along - jacobian.group_across()))
        matrix = self._sum.copy(order="F")
        if len(jacobian.along) and not jacobian.by_pattern:
            # What the lagging sum holds in the direction of a group is replaced by what belongs there.
            held = np.full(len(jacobian.along), np.inf)
            np.minimum.at(held, jacobian.groups, self._factors[jacobian.support])
            add_outer(sums, sigma * jacobian.along - held, matrix)
        matrix[np.diag_indices(self._n)] += shift
        factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(b: FloatArray) -> FloatArray:
            return scipy.linalg.cho_solve(factor, b.astype(self._sum.dtype), check_finite=False).astype(np.float64)

        return solve, not lagging and self._dtype == np.float64

    def _refresh_columns(self, jacobian: ProxJacobian, sigma: float) -> bool:
        """Bring the running sum of the columns up to date; whether some factors are left lagging."""
        wanted = np.zeros(len(self._columns))
        wanted[jacobian.support] = sigma * jacobian.across
        have = np.zeros(len(wanted))
        have[: len(self._factors)] = self._factors
        have *= self._rescale(wanted, have)
        slack = np.full(len(wanted), _LAG)
        if jacobian.by_pattern:
            # Here the groups' own terms are subtracted from the sum: they have to cancel to the last digit.
            slack[jacobian.support[jacobian.members]] = _EXACT
        off = np.abs(wanted - have) > slack * np.maximum(wanted, have)
        if off.sum() > len(jacobian.support) and not len(self._names):
            self._sum[:] = 0.0
            have[:], off = 0.0, wanted > 0
        self._add_columns(np.flatnonzero(off), (wanted - have)[off])
        have[off] = wanted[off]
        self._factors = have
        return bool((np.abs(wanted - have) > 1e-6 * np.maximum(wanted, have)).any())

    def _rescale(self, wanted: FloatArray, have: FloatArray) -> float:
        """Multiply the sum by the ratio that suits most columns (a new step length suits them all)."""
        both = (wanted > 0) & (have > 0)
        if not both.any():
            return 1.0
        ratio = float(np.median(wanted[both] / have[both]))
        if abs(ratio - 1.0) <= _SAME_SCALE:
            return 1.0
        self._sum *= ratio
        self._weights = self._weights * ratio
        return ratio

    def _add_columns(self, chosen: IntArray, change: FloatArray) -> None:
        for sign in (1.0, -1.0):
            part = np.flatnonzero(sign * change > 0)
            self._columns.add_outer(chosen[part], change[part], self._sum)

    def _refresh_groups(self, names: IntArray, sums: FloatArray, weights: FloatArray) -> None:
        """Bring the groups' terms (of negative weight) in the running sum up to date."""
        at = np.searchsorted(self._names, names)
        at[at == len(self._names)] = 0
        known = self._names[at] == names if len(self._names) else np.zeros(len(names), dtype=bool)
        same = known.copy()
        same[known] = (np.abs(weights[known] / self._weights[at[known]] - 1.0) <= _EXACT) & (
            sums[known] == self._sums[at[known]]
        ).all(axis=1)
        gone = np.ones(len(self._names), dtype=bool)
        gone[at[same]] = False
        add_outer(self._sums[gone], -self._weights[gone], self._sum)
        add_outer(sums[~same], weights[~same], self._sum)
        self._names, self._sums, self._weights = names, sums, weights


def _balancing(solve: Solve, n: int) -> Solve:
    """The solver of ``H d + delta = rhs, sum d = 0`` from the one of ``H d = rhs``."""
    ones = solve(np.ones(n))
    total = float(ones.sum())

    def balanced(rhs: FloatArray) -> FloatArray:
        d = solve(rhs)
        d = d - ones * (d.sum() / total)
        return np.asarray(d - d.mean())

    return balanced


def _conjugate_gradients(times: Solve, precondition: Solve, rhs: FloatArray, balanced: bool) -> tuple[FloatArray, bool]:
    """Preconditioned conjugate gradients to a loose relative residual, and whether that was reached."""

    def centred(r: FloatArray) -> FloatArray:
        return r - r.mean() if balanced else r

    x = precondition(rhs)
    residual = centred(rhs - times(x))
    enough = _RESIDUAL * float(np.linalg.norm(centred(rhs)))
    direction, previous = np.zeros_like(rhs), 0.0
    for _ in range(_CG_STEPS):
        if float(np.linalg.norm(residual)) <= enough:
            return x, True
        z = precondition(residual)
        product = float(residual @ z)
        direction = z + (product / previous if previous > 0 else 0.0) * direction
        image = times(direction)
        step = product / float(direction @ image)
        x = x + step * direction
        residual = residual - step * centred(image)
        previous = product
    return x, float(np.linalg.norm(residual)) <= enough
