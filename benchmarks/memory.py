"""Peak memory of a fit, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.harness import Row

__all__ = ["rows"]

_FIT = """
import re, sys
import numpy as np
from kernelweave import MKLClassifier
from kernelweave.kernels import RBF
n, m, dtype = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 10))
y = X[:, 0] + X[:, 1] ** 2 > 1
MKLClassifier([RBF(0.1)]).fit(X[:50], y[:50])
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak()
kernels = [(f"k{i}", RBF(10 ** (-2 + 3 * i / m))) for i in range(m)]
MKLClassifier(kernels, dtype=dtype).fit(X, y)
print(peak() - before)
"""


def rows(*, large: bool = False) -> list[Row]:
    """Peak over the size of the stack, for both storage types; ``large`` adds n = 5000 in gigabytes."""
    n, m = 1500, 20
    stack = 8.0 * m * n * n
    result = [
        Row(f"n={n} m={m} float64: peak over stack", _peak(n, m, "float64") / stack, 1.3, "x"),
        Row(f"n={n} m={m} float32: peak over float64 stack", _peak(n, m, "float32") / stack, 0.65, "x"),
    ]
    if large:
        result.append(Row("n=5000 m=20 float32: peak", _peak(5000, 20, "float32") / 1e9, 3.0, "GB"))
    return result


def _peak(n: int, m: int, dtype: str) -> float:
    command = [sys.executable, "-c", _FIT, str(n), str(m), dtype]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
