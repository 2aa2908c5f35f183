"""A conformance suite for solvers, also for those written elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray, GramStack
from kernelweave.gram.dense import DenseStack
from kernelweave.problems.base import Candidate, Problem
from kernelweave.problems.margin import MarginProblem
from kernelweave.solvers.driver import Progress, Result, Solver, Status, run
from kernelweave.testing.requirements import Requirements, protected

__all__ = ["check_solver"]

# Rounding between two ways to compute one bound, relative to it.
_ROUNDING = 1e-9
_ENOUGH_CANDIDATES = 20
_STUCK = 5_000  # iterations after which a solver is taken to go on for ever


def check_solver(
    solver: Solver, problem: Problem, gram: GramStack, *, tol: float = 1e-6, optimum: float | None = None
) -> None:
    """Check that a solver keeps the contract of `kernelweave.solvers.driver`.

    Checked are: that it reaches the tolerance, as certified by the problem; that runs cut short (by
    iterations, by time, by the callback) never pass for optimal unless they are, and keep their best
    point; that candidates are finite and of the right shape; that a warm start helps to the same
    tolerance; that it writes neither into the problem nor the kernels. For a `MarginProblem`, that the
    optimum obeys its symmetries: the common scale ``omega_{C,tau}(K) = omega_{sC,tau/s}(K/s) / s``, scales of
    single kernels and their prices, the order of samples and of kernels, a kernel given twice.

    Parameters
    ----------
    solver : callable
        ``solver(problem, gram, start=..., deadline=...)``, an iterator of candidates.
    problem : Problem
        The problem.
    gram : GramStack
        The kernels; small ones, it is solved about a dozen times.
    tol : float, default=1e-6
        Relative gap to reach.
    optimum : float, optional
        Its value, where it is known; inf for a hard margin without solution, of which the solver must
        give the proof or at least no answer.

    Raises
    ------
    AssertionError
        Naming the solver and what it breaks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelweave.gram.dense import DenseStack
    >>> from kernelweave.problems.margin import MarginProblem
    >>> from kernelweave.solvers.interior_point import solve_interior_point
    >>> from kernelweave.testing import check_solver
    >>> y = np.array([[1.0, 1.0, -1.0, -1.0]])
    >>> problem = MarginProblem(y, np.full(4, np.inf), np.zeros(4), np.array([4.0, 4.0]), 4.0)
    >>> check_solver(solve_interior_point, problem, DenseStack([np.eye(4), np.eye(4)]), optimum=4.0)
    """
    suite = _Suite(solver, _protected(problem), gram, tol)
    kernels = _everything(gram)
    if optimum == np.inf:
        suite.check_no_solution()
    else:
        whole = suite.check_optimum(optimum)
        suite.check_candidates()
        suite.check_iteration_limit()
        suite.check_time_limit()
        suite.check_interruption()
        suite.check_start(whole)
        if isinstance(suite.problem, MarginProblem):
            for name, other, stack, scale in _symmetries(suite.problem, kernels):
                suite.check_symmetry(whole, name, other, stack, scale)
    suite.require(np.array_equal(_everything(gram), kernels), "writes into the kernels")


class _Suite:
    """One solver on one problem."""

    def __init__(self, solver: Solver, problem: Problem, gram: GramStack, tol: float) -> None:
        self.solver, self.problem, self.gram, self.tol = solver, problem, gram, tol
        self.require = Requirements(getattr(solver, "__name__", repr(solver)), "what it was given")

    def run(self, stage: str, problem: Problem | None = None, gram: GramStack | None = None, **options: Any) -> Result:
        problem, gram = problem or self.problem, gram or self.gram
        with self.require.nothing_raised(stage):
            result = run(self.solver, problem, gram, tol=self.tol, **{"max_iter": _STUCK, **options})
        if result.status is Status.OPTIMAL:
            # Judged anew, so that neither the solver nor the driver marks its own homework.
            primal = problem.certify(gram, result.candidate).primal
            gap = primal - problem.certify(gram, result.dual_candidate).dual
            self.require(gap <= self.tol * abs(primal), f"passes for optimal {stage}, with a gap of {gap:.1e}")
        return result

    def check_optimum(self, optimum: float | None) -> Result:
        result = self.run("on the problem")
        self.require(result.status is Status.OPTIMAL, f"does not reach the tolerance: {result.message}")
        self.require(len(result.history) == result.n_iter >= 1, "has a history that is not its iterations")
        if optimum is not None:
            slack = _ROUNDING * abs(optimum)
            bounds = result.certificate
            self.require(
                bounds.dual - slack <= optimum <= bounds.primal + slack,
                f"certifies [{bounds.dual:.10g}, {bounds.primal:.10g}], which misses the optimum {optimum:.10g}",
            )
        return result

    def check_no_solution(self) -> None:
        result = self.run("without a solution")
        self.require(result.status is not Status.OPTIMAL, "passes for optimal where there is no solution")
        if result.status is Status.NOT_SEPARABLE and isinstance(self.problem, MarginProblem):
            self._check_ray(self.problem, result.candidate.ray)

    def _check_ray(self, problem: MarginProblem, ray: FloatArray | None) -> None:
        self.require(ray is not None and ray.shape == problem.labels.shape, "gives no ray for its verdict")
        assert ray is not None
        self.require((ray >= 0).all() and ray.any(), "gives a ray that is negative or zero")
        self.require(np.abs((ray * problem.labels).sum(axis=1)).max() <= 1e-9 * ray.sum(), "gives an unbalanced ray")
        forms = self.gram.quadratic_forms((ray * problem.labels).T).sum(axis=1)
        sizes = self.gram.diagonals() @ (ray**2).sum(axis=0)
        self.require((forms <= _ROUNDING * sizes).all(), "gives a ray along which some kernel still separates")

    def _candidates(self, **options: Any) -> Iterator[Candidate]:
        with self.require.nothing_raised("when asked for candidates"):
            yield from islice(
                self.solver(self.problem, self.gram, **{"start": None, "deadline": None, **options}), _ENOUGH_CANDIDATES
            )

    def check_candidates(self) -> None:
        shapes: dict[str, set[Any]] = {"weights": set(), "alpha": set(), "bias": set(), "dual_alpha": set()}
        for candidate in self._candidates():
            self.require(isinstance(candidate, Candidate), f"yields {type(candidate).__name__}, not Candidate")
            self.require(not np.isnan(candidate.gap), "believes in a gap that is not a number")
            for part, seen in shapes.items():
                value = getattr(candidate, part)
                if value is not None:
                    self.require(np.isfinite(value).all(), f"yields a candidate whose {part} is not finite")
                    seen.add(value.shape)
                    self.require(len(seen) == 1, f"yields {part} of changing shapes {seen}")
            if candidate.gap <= self.tol:
                break

    def check_iteration_limit(self) -> None:
        for limit in (1, 2):
            result = self.run(f"after {limit} iterations", max_iter=limit)
            self.require(result.n_iter <= limit, f"runs {result.n_iter} iterations when cut to {limit}")
            allowed = (Status.OPTIMAL, Status.STALLED, Status.ITERATION_LIMIT)
            self.require(result.status in allowed, f"ends with {result.status.name} when cut to {limit} iterations")

    def check_time_limit(self) -> None:
        result = self.run("without time", time_limit=0.0)
        self.require(result.n_iter <= 1, f"runs {result.n_iter} iterations when it has no time")
        allowed = (Status.OPTIMAL, Status.STALLED, Status.TIME_LIMIT)
        self.require(result.status in allowed, f"ends with {result.status.name} when it has no time")

    def check_interruption(self) -> None:
        seen: list[Progress] = []

        def stop(progress: Progress) -> bool:
            seen.append(progress)
            return True

        result = self.run("when interrupted", callback=stop)
        allowed = (Status.OPTIMAL, Status.STALLED, Status.INTERRUPTED)
        self.require(result.status in allowed, f"ends with {result.status.name} when interrupted")
        self.require(len(seen) <= 1, "goes on after the callback stopped it")

    def check_start(self, whole: Result) -> None:
        rough = self.run("after one iteration", max_iter=1).candidate
        for start, stage in ((whole.candidate, "from its own solution"), (rough, "from its first candidate")):
            result = self.run(stage, start=_protected(start))
            self.require(result.status is Status.OPTIMAL, f"does not reach the tolerance {stage}: {result.message}")
            self._require_meeting(whole, result, 1.0, stage)

    def check_symmetry(self, whole: Result, name: str, problem: MarginProblem, stack: GramStack, scale: float) -> None:
        result = self.run(name, problem, stack)
        self.require(result.status is Status.OPTIMAL, f"does not reach the tolerance {name}: {result.message}")
        self._require_meeting(whole, result, scale, name)

    def _require_meeting(self, first: Result, second: Result, scale: float, stage: str) -> None:
        # Both intervals hold their optimum, and the optima are equal: so the intervals meet.
        one, two = first.certificate, second.certificate
        slack = _ROUNDING * abs(one.primal)
        meeting = one.dual - slack <= two.primal / scale and two.dual / scale <= one.primal + slack
        self.require(
            meeting,
            f"has another optimum {stage}: [{two.dual / scale:.10g}, {two.primal / scale:.10g}], "
            f"not [{one.dual:.10g}, {one.primal:.10g}]",
        )


def _everything(gram: GramStack) -> FloatArray:
    return gram.read(np.arange(gram.n_kernels, dtype=np.intp), np.arange(gram.shape[0], dtype=np.intp))


def _protected(record: Any) -> Any:
    """A dataclass with read-only copies of its arrays."""
    arrays = {f.name: getattr(record, f.name) for f in fields(record)}
    return replace(record, **{k: protected(v) for k, v in arrays.items() if isinstance(v, np.ndarray)})


def _symmetries(problem: MarginProblem, K: FloatArray) -> Iterator[tuple[str, MarginProblem, GramStack, float]]:
    """Problems with the same optimum, up to a scale."""
    rng = np.random.default_rng(0)
    m, n = len(K), K.shape[1]
    for s in (100.0, 0.01):
        scaled = replace(problem, box=s * problem.box, ridge=problem.ridge / s)
        yield f"with kernels divided by {s:g}", scaled, DenseStack(K / s), s
    sizes = 10.0 ** np.linspace(-3, 3, m)
    repriced = replace(problem, prices=sizes * problem.prices)
    yield "with kernels of other scales", repriced, DenseStack(sizes[:, None, None] * K), 1.0
    order = rng.permutation(n)
    shuffled = replace(problem, labels=problem.labels[:, order], box=problem.box[order], ridge=problem.ridge[order])
    yield "with samples in another order", shuffled, DenseStack(K[:, order][:, :, order]), 1.0
    turned = replace(problem, prices=problem.prices[::-1])
    yield "with kernels in another order", turned, DenseStack(K[::-1]), 1.0
    twice = replace(problem, prices=np.append(problem.prices, problem.prices[0]))
    yield "with a kernel given twice", twice, DenseStack(np.concatenate([K, K[:1]])), 1.0
