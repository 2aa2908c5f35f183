"""Run an experiment: what is saved is taken, the rest is computed, in several processes if wanted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from joblib import Parallel, delayed

from kernelweave.experiments.experiment import Experiment, Settings
from kernelweave.experiments.result import Result, summarise
from kernelweave.experiments.splits import Outcome, SplitStore

__all__ = ["run_experiment"]


def run_experiment(
    experiment: Experiment,
    settings: Settings,
    *,
    folder: Path,
    n_splits: int | None = None,
    n_jobs: int = 1,
    advance: Callable[[float, str], None] | None = None,
) -> Result:
    """Run what is not yet saved, and gather.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    settings : Settings
        How.
    folder : Path
        Folder of the finished splits; whatever ends the run early, they are kept there.
    n_splits : int or None, default=None
        Splits of each part; None for the experiment's own number.
    n_jobs : int, default=1
        Processes, as in joblib.
    advance : callable or None, default=None
        Called with the share that is done and a text.

    Returns
    -------
    Result
    """
    n_splits = experiment.n_splits if n_splits is None else n_splits
    store = SplitStore(folder, experiment, settings)
    # Splits in the outer loop: a run that is stopped early has the same splits of all parts.
    tasks = [(part, split) for split in range(n_splits) for part in experiment.parts]
    done = {task: outcome for task in tasks if (outcome := store.load(*task)) is not None}
    missing = [task for task in tasks if task not in done]
    advance = advance or (lambda share, text: None)
    advance(len(done) / len(tasks), f"{len(done)} of {len(tasks)}")
    # Each process saves its own splits, so nothing is lost that was finished.
    jobs = (delayed(_run_and_save)(experiment, settings, store, *task) for task in missing)
    for outcome in Parallel(n_jobs=n_jobs, return_as="generator")(jobs) if missing else ():
        done[outcome.part, outcome.split] = outcome
        advance(len(done) / len(tasks), f"{len(done)} of {len(tasks)}")
    return summarise(
        experiment, settings, n_splits, [done[part, split] for part, split in sorted(tasks, key=_order(experiment))]
    )


def _order(experiment: Experiment) -> Callable[[tuple[str, int]], tuple[int, int]]:
    return lambda task: (experiment.parts.index(task[0]), task[1])


def _run_and_save(experiment: Experiment, settings: Settings, store: SplitStore, part: str, split: int) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        values = dict(experiment.run(part, split, settings))
    outcome = Outcome(part, split, values, tuple(" ".join(str(warning.message).split()) for warning in caught))
    store.save(outcome)
    return outcome
