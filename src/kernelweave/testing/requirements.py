"""What the conformance suites share: conditions whose failure names the part that broke them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Requirements", "protected"]

# What two ways of rounding may give, in double and in single precision.
_TOLERANCE, _SINGLE = 1e-9, 1e-5


class Requirements:
    """Raises an AssertionError that names the part under test.

    Parameters
    ----------
    part : str
        How messages call it.
    inputs : str
        What it is given and must not write into.
    """

    def __init__(self, part: str, inputs: str = "its input") -> None:
        self.part, self.inputs = part, inputs

    def __call__(self, condition: Any, message: str) -> None:
        if not condition:
            raise AssertionError(f"{self.part} {message}")

    def close(self, values: Any, expected: npt.NDArray[Any], message: str, rtol: float | None = None) -> None:
        """Require equal shapes, and values equal up to ``rtol`` of the largest expected one."""
        values = np.asarray(values)
        self(values.shape == expected.shape, f"{message}: shape {values.shape}, expected {expected.shape}")
        scale = float(np.abs(expected).max(initial=0.0))
        if rtol is None:
            rtol = _SINGLE if np.float32 in (values.dtype, expected.dtype) else _TOLERANCE
        error = float(np.abs(values.astype(np.float64) - expected).max(initial=0.0))
        self(error <= rtol * scale, f"{message}: they differ by {error:.2g}")

    @contextmanager
    def nothing_raised(self, stage: str) -> Iterator[None]:
        """Turn an exception into a failure that says when it came."""
        try:
            yield
        except AssertionError:
            raise
        except Exception as error:
            if "read-only" in str(error):
                raise AssertionError(f"{self.part} writes into {self.inputs} ({error})") from error
            raise AssertionError(f"{self.part} raises {type(error).__name__} {stage}: {error}") from error


def protected(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """A copy that cannot be written into unnoticed."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
