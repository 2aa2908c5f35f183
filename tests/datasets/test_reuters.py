from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets import load_reuters
from kernelweave.exceptions import DatasetDamagedError, DatasetUnavailableError

FILE = "reuters21578_modapte.jsonl.gz"
TOPICS = {"earn": (2877, 1087), "acq": (1650, 719), "money-fx": (538, 179), "grain": (433, 149), "crude": (389, 189)}
N_TRAIN, N_TEST = 9603, 3299


def documents():
    """Short texts with as many topics in each part as the real set has."""
    lines = []
    for part, (split, n) in enumerate([("train", N_TRAIN), ("test", N_TEST)]):
        topics = [[] for _ in range(n)]
        for topic, counts in TOPICS.items():
            # From both ends, so that some texts carry several topics.
            where = range(counts[part]) if topic != "crude" else range(n - counts[part], n)
            for number in where:
                topics[number].append(topic)
        lines += [
            {"split": split, "topics": given, "title": f"{split} {number}", "body": "text"}
            for number, given in enumerate(topics)
        ]
    return lines


def test_from_the_folder(put):
    put(FILE, documents())
    bunch = load_reuters()
    assert bunch.target.shape == (N_TRAIN + N_TEST, 5)
    assert bunch.target.dtype == np.int64
    assert bunch.target_names.tolist() == list(TOPICS)
    assert bunch.data[0] == "train 0\ntext"
    assert bunch.topics[0] == ("earn", "acq", "money-fx", "grain")
    assert bunch.target[0].tolist() == [1, 1, 1, 1, 0]
    assert bunch.train.tolist() == list(range(N_TRAIN))
    assert bunch.test.tolist() == list(range(N_TRAIN, N_TRAIN + N_TEST))
    assert "for research only" in bunch.DESCR


def test_missing_file_says_where_it_is_public():
    with pytest.raises(DatasetUnavailableError, match="colibri17/TextCategorization"):
        load_reuters()


def test_another_split_is_refused(put):
    lines = documents()
    for wrong in (
        lines[:-1],
        [{**lines[0], "split": "test"}, *lines[1:]],
        [{**lines[0], "topics": []}, *lines[1:]],
        [],
    ):
        put(FILE, wrong)
        with pytest.raises(DatasetDamagedError, match="not the ModApte split"):
            load_reuters()


def test_damaged_lines(put):
    for wrong in ('{"split": "train"', '{"split": "train", "topics": []}\n'):
        put(FILE, wrong)
        with pytest.raises(DatasetDamagedError, match="damaged"):
            load_reuters()


def test_real_counts(real_data):
    bunch = load_reuters(data_home=real_data)
    assert len(bunch.data) == 12902
    for column, counts in enumerate(TOPICS.values()):
        assert bunch.target[bunch.train, column].sum() == counts[0]
        assert bunch.target[bunch.test, column].sum() == counts[1]
    assert sum(bool(bunch.topics[row]) for row in bunch.train) == 7775
    assert sum(bool(bunch.topics[row]) for row in bunch.test) == 3019
