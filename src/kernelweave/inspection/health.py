"""What is wrong with which kernel, before anything is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelweave.exceptions import import_extra
from kernelweave.gram.preparing.checks import psd_tolerance
from kernelweave.kernels.entries import resolve_entries
from kernelweave.kernels.evaluate import NamedKernel, freeze_kernels, iter_grams

__all__ = ["KernelHealth", "KernelReport", "kernel_health"]

_SYMMETRIC = 1e-8
_CONSTANT = 1e-12
_EQUAL = 1e-10
_NATIVE = "MixedNormClassifier, which needs no property of a kernel"


@dataclass(frozen=True)
class KernelReport:
    """What was found about one kernel; numbers are NaN where they could not be had.

    Parameters
    ----------
    name : str
        Name of the kernel.
    verdict : {"ok", "indefinite", "not symmetric", "constant", "zero", "not finite", "error"}
        The worst that was found.
    smallest_eigenvalue : float
        Of the symmetric part; with more than ``max_samples`` samples of a part of them, and then
        never smaller than that of all.
    negative_share : float
        Sum of the absolute negative eigenvalues over that of all.
    asymmetry : float
        Largest ``|K_ij - K_ji|`` over the largest ``|K_ij|``.
    scale : float
        Mean of the diagonal ``k(x, x)``.
    largest_entry : float
        Largest ``|K_ij|``.
    n_zero_rows : int
        Samples that are like nothing, themselves included.
    n_duplicates : int
        Samples that the kernel cannot tell from an earlier one.
    n_not_finite : int
        Entries that are NaN or infinite.
    advice : str
        What to do about it; empty for "ok".
    """

    name: str
    verdict: str
    smallest_eigenvalue: float = float("nan")
    negative_share: float = float("nan")
    asymmetry: float = float("nan")
    scale: float = float("nan")
    largest_entry: float = float("nan")
    n_zero_rows: int = 0
    n_duplicates: int = 0
    n_not_finite: int = 0
    advice: str = ""


@dataclass(frozen=True, repr=False)
class KernelHealth:
    """A table of reports, one a kernel; it prints as one.

    Parameters
    ----------
    rows : tuple of KernelReport
        In the order of the kernels.
    n_samples : int
        Number of samples looked at.
    n_spectrum : int
        Number of samples that the eigenvalues are of.
    """

    rows: tuple[KernelReport, ...]
    n_samples: int
    n_spectrum: int

    def __iter__(self) -> Iterator[KernelReport]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> KernelReport:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"there is no kernel '{name}'; the kernels are {', '.join(row.name for row in self.rows)}")

    def to_frame(self) -> Any:
        """The table as a pandas data frame, one row a kernel, indexed by name.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        frames = import_extra("pandas", "cli", "A table as a data frame")
        return frames.DataFrame([asdict(row) for row in self.rows]).set_index("name")

    def __repr__(self) -> str:
        cells = [_HEADER, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADER))]
        lines = [
            "  ".join(
                text.ljust(width) if column < 2 else text.rjust(width)
                for column, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        notes = [f"{row.name}: {row.advice}" for row in self.rows if row.advice]
        return "\n".join([*lines, *([""] if notes else []), *notes, *self._footnote()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in (*_HEADER, "advice"))
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in (*_cells(row), row.advice)) + "</tr>"
            for row in self.rows
        )
        foot = "".join(f"<p>{escape(text)}</p>" for text in self._footnote())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def _footnote(self) -> list[str]:
        if self.n_spectrum == self.n_samples:
            return []
        return [f"Eigenvalues of {self.n_spectrum} of the {self.n_samples} samples: those of all reach further down."]


def kernel_health(kernels: Any, X: Any, y: Any = None, *, max_samples: int = 1000) -> KernelHealth:
    """Look at the matrix of each kernel and report, instead of raising, what is wrong with it.

    Parameters
    ----------
    kernels : "auto" or list
        As for `MKLClassifier`.
    X : array, sparse matrix, pandas or polars frame, or list
        Samples.
    y : array-like of shape (n_samples,), optional
        Their classes, for kernels that learn from labels.
    max_samples : int, default=1000
        Eigenvalues cost n^3: of more samples than this, those of a part are taken (always the same one).

    Returns
    -------
    KernelHealth
        One `KernelReport` a kernel; a kernel that cannot be evaluated is reported with its error.

    Raises
    ------
    ValueError, TypeError
        When ``kernels`` is not a list of kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.inspection import kernel_health
    >>> from kernelweave.kernels import RBF, Sigmoid
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [-1.0, 3.0]])
    >>> health = kernel_health([("rbf", RBF(gamma=0.5)), ("tanh", Sigmoid(gamma=1.0, coef0=-1.0))], X)
    >>> [(row.name, row.verdict) for row in health]
    [('rbf', 'ok'), ('tanh', 'indefinite')]
    """
    reports, n, n_spectrum = [], 0, 0
    for entry in resolve_entries(kernels):
        try:
            members = freeze_kernels([entry], X, y)
        except Exception as error:
            reports.append(KernelReport(entry.name, "error", advice=_message(error)))
            continue
        for member in members:
            report, n, n_spectrum = _looked_at(member, X, max_samples, n, n_spectrum)
            reports.append(report)
    return KernelHealth(tuple(reports), n, n_spectrum)


def _looked_at(member: NamedKernel, X: Any, max_samples: int, n: int, n_spectrum: int) -> tuple[KernelReport, int, int]:
    try:
        with warnings.catch_warnings():
            # What overflows here is counted below.
            warnings.simplefilter("ignore", RuntimeWarning)
            ((_, matrix, _),) = iter_grams([member], X, check_finite=False)
    except Exception as error:
        return KernelReport(member.name, "error", advice=_message(error)), n, n_spectrum
    return _report(member.name, matrix, max_samples), len(matrix), min(len(matrix), max_samples)


def _message(error: Exception) -> str:
    # The name of the kernel is in the table already.
    return str(error.__cause__ or error) or type(error).__name__


def _report(name: str, matrix: npt.NDArray[Any], max_samples: int) -> KernelReport:
    n = len(matrix)
    n_not_finite = int(matrix.size - np.count_nonzero(np.isfinite(matrix)))
    found: dict[str, Any] = {
        "n_zero_rows": int(n - np.count_nonzero(np.any(matrix != 0, axis=1))),
        "n_duplicates": _duplicates(matrix),
        "n_not_finite": n_not_finite,
        "scale": float(np.diagonal(matrix).mean(dtype=np.float64)),
    }
    if n_not_finite:
        rows = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        advice = f"{n_not_finite} entries are NaN or infinite, the first in row {rows[0]}; check those samples."
        return KernelReport(name, "not finite", **found, advice=advice)
    found["largest_entry"] = size = float(np.abs(matrix).max(initial=0.0))
    if size == 0:
        return KernelReport(name, "zero", **found, advice="It says nothing about these samples; leave it out.")
    found["asymmetry"] = float(np.abs(matrix - matrix.T).max()) / size
    part = matrix
    if n > max_samples:
        rows = np.sort(np.random.default_rng(0).choice(n, max_samples, replace=False))
        part = matrix[np.ix_(rows, rows)]
    values = np.linalg.eigvalsh(0.5 * (part + part.T).astype(np.float64))
    found["smallest_eigenvalue"] = float(values[0])
    found["negative_share"] = float(
        np.abs(np.minimum(values, 0.0)).sum() / max(np.abs(values).sum(), np.finfo(float).tiny)
    )
    tolerance = max(psd_tolerance(matrix, matrix.dtype), 0.0)
    verdict, advice = _verdict(matrix, found, tolerance)
    return KernelReport(name, verdict, **found, advice=advice)


def _duplicates(matrix: npt.NDArray[Any]) -> int:
    """Rows equal to another one up to rounding, less one of each group."""
    finite = np.nan_to_num(matrix, nan=0.0, posinf=0.0, neginf=0.0)
    # Equal rows have equal products with any vector, so that sorting brings them together.
    order = np.argsort(finite @ np.random.default_rng(0).normal(size=len(matrix)))
    steps = np.abs(np.diff(finite[order], axis=0)).max(axis=1, initial=0.0)
    return int(np.count_nonzero(steps <= _EQUAL * float(np.abs(finite).max(initial=0.0))))


def _verdict(matrix: npt.NDArray[Any], found: dict[str, Any], tolerance: float) -> tuple[str, str]:
    # As fits ask for it (see `kernelweave.gram.preparing.checks`).
    symmetric = _SYMMETRIC if matrix.dtype == np.float64 else len(matrix) * float(np.finfo(np.float32).eps)
    if float(np.ptp(matrix)) <= _CONSTANT * found["largest_entry"]:
        return "constant", "It tells no sample from another; centring leaves nothing of it."
    if found["asymmetry"] > symmetric:
        return "not symmetric", f"Take {_NATIVE}, or the mean of it and its transpose."
    if found["smallest_eigenvalue"] < -tolerance:
        return "indefinite", f"Take {_NATIVE}, or let MKLClassifier repair it (psd_repair='clip', 'flip' or 'shift')."
    return "ok", ""


_HEADER = (
    "kernel",
    "verdict",
    "smallest eigenvalue",
    "negative share",
    "asymmetry",
    "scale",
    "zero rows",
    "duplicates",
    "not finite",
)


def _cells(row: KernelReport) -> tuple[str, ...]:
    return (
        row.name,
        row.verdict,
        _number(row.smallest_eigenvalue),
        "" if np.isnan(row.negative_share) else f"{row.negative_share:.1%}",
        _number(row.asymmetry),
        _number(row.scale),
        str(row.n_zero_rows),
        str(row.n_duplicates),
        str(row.n_not_finite),
    )


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}"
