"""Artificial problems of the benchmarks: 20 features, four of them matter, many kernels."""

from __future__ import annotations

import numpy as np

from kernelweave.problems.margin import MarginProblem

__all__ = ["kernel_cube", "margin_problem", "samples"]


def samples(n: int, d: int = 20, seed: int = 0, flipped: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Features and balanced labels in {-1, +1}, a few of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + 0.8 * X[:, 1] * X[:, 2] + 0.6 * (X[:, 3] ** 2 - 1) + 0.3 * rng.standard_normal(n)
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[rng.random(n) < flipped] *= -1
    return X, y


def kernel_cube(X: np.ndarray, m: int, dtype: type = np.float64, seed: int = 0) -> np.ndarray:
    """m cosine-normalised kernels: RBF, quadratic and linear on all features, the rest on random subsets."""
    n, d = X.shape
    rng = np.random.default_rng(seed + 77)
    kinds: list[tuple[str, np.ndarray, float]] = [
        ("rbf", np.arange(d), 1.0),
        ("quadratic", np.arange(d), 0.0),
        ("linear", np.arange(d), 0.0),
        ("rbf", np.arange(d), 0.1),
        ("rbf", np.arange(d), 10.0),
    ]
    while len(kinds) < m:
        columns = np.sort(rng.choice(d, size=rng.integers(1, 6), replace=False))
        kind = "rbf" if rng.random() < 0.8 else "quadratic"
        kinds.append((kind, columns, float(10 ** rng.uniform(-1, 1)) if kind == "rbf" else 0.0))
    cube = np.empty((m, n, n), dtype)
    for i, (kind, columns, width) in enumerate(kinds[:m]):
        cube[i] = _kernel(X[:, columns], kind, width)
    return cube


def _kernel(Z: np.ndarray, kind: str, width: float) -> np.ndarray:
    K = Z @ Z.T
    if kind == "rbf":
        squares = np.diagonal(K).copy()
        K = np.exp(-np.maximum(squares[:, None] + squares - 2 * K, 0) / (2 * width * Z.shape[1]))
        np.fill_diagonal(K, 1.0)
    elif kind == "quadratic":
        K = (1 + K) ** 2
    scale = 1 / np.sqrt(np.diagonal(K))
    return K * scale[:, None] * scale


def margin_problem(y: np.ndarray, m: int, margin: str, C: float = 1.0) -> MarginProblem:
    """Weights summing to one over unit-diagonal kernels (traces n), for "l1", "l2", "hard" or "auto"."""
    n = len(y)
    box = np.full(n, C if margin == "l1" else np.inf)
    ridge = np.full(n, {"l1": 0.0, "hard": 0.0, "l2": 1.0 / C, "auto": 1.0}[margin])
    return MarginProblem(y[None], box, ridge, np.full(m, float(n)), float(n), float(n) if margin == "auto" else None)
