"""Mixed norms of the coefficients of indefinite kernels ([K09] (4), (5)).

Coefficients alpha have one row a sample (expansion point) and one column a kernel. Groups are
the rows (r = 1) or the columns (r = 2); p is the norm within a group, q the one across groups:

    Omega(alpha) = (1/q) sum_g ||alpha_g||_p^q,      p, q in {1, 2}.

With p' conjugate to p and z = K'w, the convex conjugate of lam Omega is the indicator of
max_g ||z_g||_p' <= lam for q = 1, and sum_g ||z_g||_p'^2 / (2 lam) for q = 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelweave.problems.base import FloatArray

__all__ = ["MixedNorm", "penalty_named"]

_NAMES = {"l1": (1, 1), "l2": (2, 2), "group": (2, 1), "elitist": (1, 2)}
_STRUCTURES = {"samples": 1, "kernels": 2}


@dataclass(frozen=True)
class MixedNorm:
    """The penalty ``(1/q) ||alpha||_{pq;r}^q``.

    Parameters
    ----------
    p : {1, 2}
        Norm within a group.
    q : {1, 2}
        Norm across groups.
    r : {1, 2}
        Groups are samples (rows of alpha) for 1, kernels (columns) for 2. Of no consequence when p = q.

    Raises
    ------
    ValueError
        When p, q or r is neither 1 nor 2.

    Examples
    --------
    >>> import numpy as np
    >>> MixedNorm(2, 1, 2).value(np.array([[3.0, 0.0], [4.0, 1.0]]))
    6.0
    """

    p: int
    q: int
    r: int = 2

    def __post_init__(self) -> None:
        if not {self.p, self.q, self.r} <= {1, 2}:
            raise ValueError(f"p, q and r must be 1 or 2; got p={self.p}, q={self.q}, r={self.r}.")

    @property
    def name(self) -> str:
        """The penalty in plain words: "l1", "l2", "group" or "elitist"."""
        return next(name for name, norms in _NAMES.items() if norms == (self.p, self.q))

    @property
    def separable(self) -> bool:
        """Whether the penalty is a sum over single entries, so that groups do not matter."""
        return self.p == self.q

    def value(self, alpha: FloatArray) -> float:
        """Omega at coefficients of shape (n_samples, n_kernels)."""
        norms = self._group_norms(alpha, self.p)
        return float(norms.sum()) if self.q == 1 else 0.5 * float(norms @ norms)

    def dual_norms(self, z: FloatArray) -> FloatArray:
        """``||z_g||_p'`` of every group, for z of shape (n_samples, n_kernels)."""
        return self._group_norms(z, 2 if self.p == 2 else np.inf)

    def dual_norm(self, z: FloatArray) -> float:
        """``||z||_{p' inf; r}``: the largest strength at which z is no longer a subgradient at zero, for q = 1."""
        return float(self.dual_norms(z).max())

    def conjugate(self, z: FloatArray) -> float:
        """``||z||_{p'2;r}^2 / 2``: the conjugate of Omega for q = 2."""
        norms = self.dual_norms(z)
        return 0.5 * float(norms @ norms)

    def _group_norms(self, values: FloatArray, order: float) -> FloatArray:
        if self.separable:
            return np.abs(values).ravel()
        axis = 1 if self.r == 1 else 0
        if order == 2:
            return np.sqrt(np.einsum("it,it->i" if axis == 1 else "it,it->t", values, values))
        magnitudes = np.abs(values)
        return magnitudes.max(axis=axis) if order == np.inf else magnitudes.sum(axis=axis)


def penalty_named(penalty: str, structure: str = "kernels") -> MixedNorm:
    """The mixed norm behind the public names.

    Parameters
    ----------
    penalty : {"l1", "l2", "group", "elitist"}
        "group" keeps or drops whole groups; "elitist" makes the members of each group compete.
    structure : {"kernels", "samples"}
        What the groups are.

    Returns
    -------
    MixedNorm

    Raises
    ------
    ValueError
        For another name; the message lists the ones there are.

    Examples
    --------
    >>> penalty_named("elitist", "samples")
    MixedNorm(p=1, q=2, r=1)
    """
    if penalty not in _NAMES:
        raise ValueError(f"penalty must be one of {sorted(_NAMES)}; got {penalty!r}.")
    if structure not in _STRUCTURES:
        raise ValueError(f"structure must be one of {sorted(_STRUCTURES)}; got {structure!r}.")
    return MixedNorm(*_NAMES[penalty], _STRUCTURES[structure])
