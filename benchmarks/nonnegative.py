"""Nonnegative weights: time in SVC units, against cutting planes."""

from __future__ import annotations

import numpy as np

from benchmarks.cutting_planes import cutting_planes
from benchmarks.harness import Row, cpu_seconds, svc_unit
from benchmarks.problems import kernel_cube, margin_problem, samples
from kernelweave.gram.base import FloatArray, IntArray
from kernelweave.gram.dense import DenseStack
from kernelweave.solvers.bundle.bundle import solve_bundle
from kernelweave.solvers.driver import Result, run
from kernelweave.solvers.interior_point import solve_interior_point

__all__ = ["rows"]


def rows(*, large: bool = False) -> list[Row]:
    """All figures; ``large`` adds n = 3000 and the baselines that take minutes."""
    result = [*_against_cutting_planes(300, 20, 8.0), *_against_cutting_planes(1000, 20, 8.0), _seconds(300, 100, 0.6)]
    result.append(_passes(500, 1000, 20.0))
    if large:
        result += _against_cutting_planes(3000, 20, 6.0)
        result += _against_cutting_planes(1000, 100, 60.0)
        result += _margins(3000, 20, {"l1 C=0.1": 4, "l1 C=1": 12, "l1 C=100": 6, "hard": 6, "auto": 6, "l2": 20})
    return result


def _against_cutting_planes(n: int, m: int, goal: float) -> list[Row]:
    X, y = samples(n)
    kernels, cube = cpu_seconds(lambda: kernel_cube(X, m), repeats=1, warm_up=0)
    stack, problem = DenseStack(cube), margin_problem(y, m, "l1")
    repeats = 15 if n < 1000 else 5
    unit = svc_unit(cube.mean(axis=0), y, repeats)
    ours, coarse = cpu_seconds(lambda: run(solve_bundle, problem, stack, tol=1e-4), repeats)
    fine, exact = cpu_seconds(lambda: run(solve_bundle, problem, stack, tol=1e-6), repeats)
    theirs, (gap, steps) = cpu_seconds(lambda: cutting_planes(cube, y, 1.0, 1e-4), repeats=1, warm_up=0)
    name = f"n={n} m={m} l1 C=1"
    return [
        Row(f"{name} gap 1e-4", ours / unit, goal, "units", _against(theirs / unit, gap, steps), _told(coarse)),
        Row(f"{name} gap 1e-6 over gap 1e-4", fine / ours, 2.0, "x", note=_told(exact)),
        Row(f"{name} learning over computing the kernels", ours / kernels, 1.0, "x"),
    ]


def _against(units: float, gap: float, steps: int) -> str:
    return f"{units:.1f} units (cutting planes, {steps} steps, gap {gap:.0e})"


def _told(result: Result) -> str:
    return f"{result.n_iter} steps, certified {result.certificate.relative_gap:.0e}"


def _seconds(n: int, m: int, goal: float) -> Row:
    X, y = samples(n)
    stack, problem = DenseStack(kernel_cube(X, m)), margin_problem(y, m, "l1")
    ours, result = cpu_seconds(lambda: run(solve_bundle, problem, stack, tol=1e-4), repeats=3)
    quoted = "5.3 s (cutting planes), 16 s (SHOGUN 3.2.1), quoted"
    return Row(f"n={n} m={m} l1 C=1 gap 1e-4", ours, goal, "s", quoted, _told(result))


class _CountingStack(DenseStack):
    """Counts how many entries are read, as a share of all (the compiled passes read lower triangles)."""

    passes = 0.0

    def combine(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        self.passes += 0.5 * np.count_nonzero(weights) / self.n_kernels
        return super().combine(weights, out)

    def support_products(self, vector: FloatArray, kernels: IntArray | None = None) -> FloatArray:
        rows = np.flatnonzero(vector)
        share = 2.0 * float((rows + 1.0).sum()) / len(vector) ** 2
        self.passes += 0.5 * share * (self.n_kernels if kernels is None else len(kernels)) / self.n_kernels
        return super().support_products(vector, kernels)

    def matvec(self, weights: FloatArray, block: FloatArray) -> FloatArray:
        self.passes += np.count_nonzero(weights) / self.n_kernels * np.any(block != 0, axis=1).mean()
        return super().matvec(weights, block)


def _passes(n: int, m: int, goal: float) -> Row:
    X, y = samples(n)
    stack, problem = _CountingStack(kernel_cube(X, m, np.float32)), margin_problem(y, m, "l1")
    result = run(solve_interior_point, problem, stack, tol=1e-6)
    return Row(f"n={n} m={m} l1 C=1 gap 1e-6", stack.passes, goal, "passes over the stack", note=_told(result))


def _margins(n: int, m: int, goals: dict[str, float]) -> list[Row]:
    X, y = samples(n)
    cube = kernel_cube(X, m)
    stack, repeats = DenseStack(cube), 3 if n <= 1000 else 1
    unit, result = svc_unit(cube.mean(axis=0), y), []
    for name, goal in goals.items():
        margin, _, C = name.partition(" C=")
        problem = margin_problem(y, m, margin, float(C or 1.0))
        ours, found = cpu_seconds(lambda p=problem: run(solve_bundle, p, stack, tol=1e-6, max_iter=200), repeats)
        result.append(Row(f"n={n} m={m} {name} gap 1e-6", ours / unit, goal, "units", note=_told(found)))
    return result
