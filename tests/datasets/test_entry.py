from __future__ import annotations

import numpy as np
import pytest

from kernelweave.datasets.entry import Entry, assemble, check
from kernelweave.exceptions import DatasetDamagedError

ENTRY = Entry(
    name="toy",
    title="three toys",
    loader="load_toy()",
    file="toy.npz",
    sha256="0" * 64,
    samples=3,
    features=(2, 4),
    source="a shelf",
    terms="share",
    classes={"red": 2, "blue": 1},
)
SHAPES = [(3, 2), (3, 4)]
TARGET = np.array([0, 1, 0])


def test_right_sizes_pass():
    check(ENTRY, SHAPES, TARGET)


@pytest.mark.parametrize(
    ("shapes", "target"),
    [
        ([(3, 2)], TARGET),
        ([(3, 2), (3, 5)], TARGET),
        ([(4, 2), (4, 4)], TARGET),
        (SHAPES, TARGET[:2]),
        (SHAPES, np.array([0, 1, 1])),
        (SHAPES, np.array([0, 1, -1])),
        (SHAPES, np.array([0, 0, 1, 2])),
    ],
)
def test_other_sizes_do_not(shapes, target):
    with pytest.raises(DatasetDamagedError, match=r"not the data set 'toy'.*Delete toy\.npz"):
        check(ENTRY, shapes, target)


def test_description_holds_the_facts():
    text = ENTRY.describe()
    assert text.startswith("toy: three toys\n")
    for fact in ("3 samples, 2 + 4 features", "red 2, blue 1", "Source: a shelf", "Terms: share"):
        assert fact in text


def test_assembled_names_are_in_the_order_of_the_codes():
    bunch = assemble(ENTRY, target=TARGET)
    assert bunch.target_names[bunch.target].tolist() == ["red", "blue", "red"]
    assert ENTRY.describe() == bunch.DESCR
    assert assemble(ENTRY, target_names=["x"]).target_names == ["x"]
