"""One driver for every algorithm.

A solver is a generator of candidates. Tolerance, budgets, history, callbacks, the
non-finite check, the status and the best point so far live here and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from kernelweave.problems.base import Candidate, Certificate, Problem

__all__ = ["Progress", "Result", "Status", "run"]

_PATIENCE = 5  # iterations between certificates when the solver believes it is done but is not

Solver = Callable[..., Iterator[Candidate]]


class Status(Enum):
    """How a run ended; the value says what to do."""

    OPTIMAL = "the certified gap is below the tolerance"
    ITERATION_LIMIT = "the iteration limit was reached; raise max_iter or accept the gap"
    TIME_LIMIT = "the time limit was reached; raise time_limit or accept the gap"
    LOCAL_MINIMUM = "a local minimum of a problem that is not convex; another start may end lower"
    STALLED = "no further progress in floating point; accept the gap, raise tol, or rescale the kernels"
    NOT_SEPARABLE = "the hard margin has no solution; use a soft margin (margin='l1' or margin='l2')"
    INTERRUPTED = "stopped by the callback; the best point so far is kept"
    NUMERICAL_FAILURE = "the solver produced non-finite numbers; check the kernels for extreme scales"


@dataclass(frozen=True)
class Progress:
    """One line of the history.

    Parameters
    ----------
    iteration : int
        Number of candidates seen, from 1.
    seconds : float
        Time since the start of the run.
    gap : float
        Relative gap: certified where ``certified`` is true, else the one the solver believes in.
    certified : bool
        Whether the gap was computed by the problem.
    """

    iteration: int
    seconds: float
    gap: float
    certified: bool


@dataclass(frozen=True)
class Result:
    """What a run hands back, always in this form.

    Parameters
    ----------
    candidate : Candidate
        The certified point with the best primal value.
    dual_candidate : Candidate
        The certified point with the best dual value (often the same).
    certificate : Certificate
        Best primal and best dual value, as computed by the problem.
    status : Status
        How the run ended.
    n_iter : int
        Number of candidates the solver produced.
    seconds : float
        Time of the whole run.
    history : list of Progress
        One entry an iteration.
    """

    candidate: Candidate
    dual_candidate: Candidate
    certificate: Certificate
    status: Status
    n_iter: int
    seconds: float
    history: list[Progress] = field(default_factory=list)

    @property
    def message(self) -> str:
        """Status, gap reached and advice, in one sentence."""
        return (
            f"{self.status.name.lower().replace('_', ' ')} after {self.n_iter} iterations "
            f"with a relative duality gap of {self.certificate.relative_gap:.1e}: {self.status.value}."
        )


class _Best:
    """Best primal and best dual point among the certified candidates."""

    def __init__(self, problem: Problem, gram: Any) -> None:
        self.problem, self.gram = problem, gram
        self.certificate = Certificate(float("inf"), -float("inf"), float("inf"))
        self.primal: Candidate | None = None
        self.dual: Candidate | None = None

    def certify(self, candidate: Candidate) -> None:
        judged = self.problem.certify(self.gram, candidate)
        if self.primal is None or judged.primal < self.certificate.primal:
            self.primal = candidate
        if self.dual is None or judged.dual > self.certificate.dual:
            self.dual = candidate
        self.certificate = self.certificate.best_of(judged)


def run(
    solver: Solver,
    problem: Problem,
    gram: Any,
    *,
    tol: float,
    max_iter: int | None = None,
    time_limit: float | None = None,
    start: Candidate | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Result:
    """Run a solver until the problem certifies the tolerance, or a budget ends.

    Parameters
    ----------
    solver : callable
        ``solver(problem, gram, start=..., deadline=...)`` returning an iterator of candidates.
    problem : Problem
        Judges the candidates.
    gram : GramStack
        The kernels.
    tol : float
        Relative duality gap to reach.
    max_iter : int, optional
        Largest number of candidates to ask for.
    time_limit : float, optional
        Seconds.
    start : Candidate, optional
        Warm start.
    callback : callable, optional
        Called with a `Progress` after each candidate; a true return value stops the run.

    Returns
    -------
    Result
        Best point so far, certificate and status. Nothing is raised or warned here.
    """
    began = time.perf_counter()
    deadline = None if time_limit is None else began + time_limit
    best = _Best(problem, gram)
    history: list[Progress] = []
    status, last, pending = Status.STALLED, Candidate(), False
    schedule, closest = _Schedule(tol), Candidate()  # the uncertified point that the solver believes in most
    for last in solver(problem, gram, start=start, deadline=deadline):
        if last.ray is not None:
            status = Status.NOT_SEPARABLE
            break
        if not _finite(last):
            status, last = Status.NUMERICAL_FAILURE, best.primal or replace(last, gap=float("inf"))
            break
        certified = schedule.is_due(last.gap)
        pending = not certified
        if last.gap < closest.gap:
            closest = Candidate(gap=last.gap) if certified else last
        if certified:
            best.certify(last)
        gap = best.certificate.relative_gap if certified else last.gap
        history.append(Progress(len(history) + 1, time.perf_counter() - began, gap, certified))
        if best.certificate.relative_gap <= tol:
            status = Status.OPTIMAL
            break
        if callback is not None and callback(history[-1]):
            status = Status.INTERRUPTED
            break
        if max_iter is not None and len(history) >= max_iter:
            status = Status.ITERATION_LIMIT
            break
        if deadline is not None and time.perf_counter() > deadline:
            status = Status.TIME_LIMIT
            break
    if status is Status.STALLED and last.extras.get("local_minimum"):
        status = Status.LOCAL_MINIMUM
    if pending or best.primal is None:
        best.certify(last)
    # Near the floor of floating point gaps go up again, and the last point is not the best one.
    if best.certificate.relative_gap > tol and closest.gap < last.gap and _says_something(closest):
        best.certify(closest)
    if best.certificate.relative_gap <= tol:
        status = Status.OPTIMAL
    primal, dual = best.primal or last, best.dual or last
    if status is Status.NOT_SEPARABLE:
        primal = last
    seconds = time.perf_counter() - began
    return Result(primal, dual, best.certificate, status, len(history), seconds, history)


class _Schedule:
    """When to certify: a certificate costs a pass over the kernels."""

    def __init__(self, tol: float) -> None:
        self.tol = self.below = tol
        self.waited = 0

    def is_due(self, gap: float) -> bool:
        # A solver that believed too early is asked again after real progress, or a few iterations.
        self.waited += 1
        due = gap <= self.below or (gap <= self.tol and self.waited >= _PATIENCE)
        if due:
            self.below, self.waited = 0.5 * max(gap, 0.0), 0
        return due


def _says_something(candidate: Candidate) -> bool:
    return candidate.weights is not None or candidate.alpha is not None or bool(candidate.extras)


def _finite(candidate: Candidate) -> bool:
    parts = (candidate.weights, candidate.alpha, candidate.bias)
    return all(part is None or bool(np.isfinite(part).all()) for part in parts)
