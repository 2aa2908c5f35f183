"""What a new process pays before it does anything."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.harness import Row

__all__ = ["rows"]

_FIT = """
import time
import sklearn.svm, sklearn.datasets, sklearn.utils.estimator_checks
X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
began = time.perf_counter()
from kernelweave import MKLClassifier
MKLClassifier().fit(X[:200], y[:200])
first = time.perf_counter() - began
began = time.perf_counter()
MKLClassifier().fit(X[:200], y[:200])
print(first - (time.perf_counter() - began))
"""


def rows(*, large: bool = False) -> list[Row]:
    """Import, help, and the first fit of a second process; ``large`` changes nothing."""
    _python("-c", _FIT)  # fills the cache of compiled code
    return [
        Row("import kernelweave", _beyond_start("-c", "import kernelweave"), 0.1, "s"),
        Row("kernelweave --help", _beyond_start("-m", "kernelweave.cli", "--help"), 0.5, "s"),
        Row("first fit beyond scikit-learn's import", min(float(_python("-c", _FIT)) for _ in range(3)), 1.0, "s"),
    ]


def _python(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def _beyond_start(*arguments: str) -> float:
    """Seconds of a command beyond those of an idle interpreter, smallest of five."""

    def seconds(*words: str) -> float:
        began = time.perf_counter()
        _python(*words)
        return time.perf_counter() - began

    return max(min(seconds(*arguments) for _ in range(5)) - min(seconds("-c", "") for _ in range(5)), 0.0)
