"""Runs that are complete, cut short, taken up again, and shared among processes."""

from __future__ import annotations

import pytest

from kernelweave.experiments import Settings, run_experiment


def counted(tiny, fail_at=None, **changes):
    """The tiny experiment, and the list of the (part, split) it was asked for."""
    inner, asked = tiny().run, []

    def run(part, split, settings):
        if (part, split) == fail_at:
            raise KeyboardInterrupt
        asked.append((part, split))
        return inner(part, split, settings)

    return tiny(run=run, **changes), asked


def values(result):
    return {cell.key: cell.values for cell in result.cells}


def test_all_splits_of_all_parts(tiny, tmp_path):
    seen = []
    result = run_experiment(tiny(), Settings(), folder=tmp_path, advance=lambda share, text: seen.append((share, text)))
    assert values(result) == {
        ("first", "size", "ours"): (1.0, 2.0, 3.0),
        ("first", "margin", "ours"): (2.0, 2.0),
        ("second", "size", "ours"): (1.0, 2.0, 3.0),
        ("second", "margin", "ours"): (2.0, 2.0),
        ("first", "lost", "ours"): (),
    }
    assert result.notes == ("A remark.", "1 warnings, the first: second, split 2: stopped short, gap 0.5")
    assert seen[0] == (0.0, "0 of 6") and seen[-1] == (1.0, "6 of 6") and len(seen) == 7


def test_an_interrupted_run_goes_on_where_it_was(tiny, tmp_path):
    broken, before = counted(tiny, fail_at=("second", 1))
    with pytest.raises(KeyboardInterrupt):
        run_experiment(broken, Settings(), folder=tmp_path)
    whole, after = counted(tiny)
    result = run_experiment(whole, Settings(), folder=tmp_path)
    assert before == [("first", 0), ("second", 0), ("first", 1)]
    assert after == [("second", 1), ("first", 2), ("second", 2)]
    assert result == run_experiment(whole, Settings(), folder=tmp_path)
    assert values(result) == values(run_experiment(tiny(), Settings(), folder=tmp_path / "other"))


@pytest.mark.parametrize(("settings", "changes"), [(Settings(seed=1), {}), (Settings(), {"revision": 2})])
def test_saved_splits_of_other_settings_are_not_used(tiny, tmp_path, settings, changes):
    run_experiment(tiny(), Settings(), folder=tmp_path)
    experiment, asked = counted(tiny, **changes)
    run_experiment(experiment, settings, folder=tmp_path)
    assert len(asked) == 6


@pytest.mark.parametrize("text", ["", "{", "[]", '{"experiment": "tiny", "revision": 1, "seed": 0}'])
def test_a_damaged_split_is_done_again(tiny, tmp_path, text):
    run_experiment(tiny(), Settings(), folder=tmp_path)
    (tmp_path / "first-001.json").write_text(text)
    experiment, asked = counted(tiny)
    run_experiment(experiment, Settings(), folder=tmp_path)
    assert asked == [("first", 1)]


def test_more_splits_keep_the_first_ones(tiny, tmp_path):
    run_experiment(tiny(), Settings(), folder=tmp_path, n_splits=1)
    experiment, asked = counted(tiny)
    run_experiment(experiment, Settings(), folder=tmp_path, n_splits=2)
    assert asked == [("first", 1), ("second", 1)]


def test_processes_give_the_same(tiny, tmp_path):
    alone = run_experiment(tiny(), Settings(), folder=tmp_path / "alone")
    shared = run_experiment(tiny(), Settings(), folder=tmp_path / "shared", n_jobs=2)
    assert values(alone) == values(shared) and alone.notes == shared.notes
