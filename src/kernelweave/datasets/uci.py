"""The four UCI tables of [L04]: sonar, ionosphere, heart and breast cancer.

Each comes from the data folder or from OpenML. What OpenML hands out is first written into the
data folder in the folder's own format and then read back: both ways end in one reader, so they
give the same arrays, column names and class codes.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernelweave.datasets import openml
from kernelweave.datasets.entry import Entry, FloatArray, IntArray, assemble, check
from kernelweave.datasets.storage import locate, read_table, reading
from kernelweave.exceptions import DatasetDamagedError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_breast_cancer_wisconsin", "load_heart", "load_ionosphere", "load_sonar"]

_TERMS = "UCI Machine Learning Repository, CC BY 4.0 as far as known; check at the source"


@dataclass(frozen=True)
class _Table:
    """A table in the data folder and at OpenML."""

    entry: Entry
    openml_id: int
    columns: tuple[str, ...]
    spellings: tuple[tuple[str, ...], ...]  # of each class, ours first

    def code(self, label: str) -> int:
        for code, known in enumerate(self.spellings):
            if label in known:
                return code
        raise DatasetDamagedError(f"The data set '{self.entry.name}' has no class '{label}'.")

    def build(self, path: Path) -> None:
        """Write the file of the data folder from OpenML's table."""
        data, labels = openml.fetch(self.entry, self.openml_id)
        if data.shape[1] != len(self.columns):
            raise DatasetDamagedError(
                f"OpenML's table {self.openml_id} has {data.shape[1]} features, "
                f"'{self.entry.name}' has {len(self.columns)}."
            )
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.columns, "label"])
        for row, label in zip(data.tolist(), labels, strict=True):
            # n.b. repr of a float reads back as the same float.
            numbers = ["?" if math.isnan(value) else repr(value) for value in row]
            writer.writerow([*numbers, self.spellings[self.code(label)][0]])
        with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
            file.write(text.getvalue().encode("utf-8"))
        self.read(path)  # a table that fails the checks is not kept

    def read(self, path: Path) -> tuple[FloatArray, IntArray]:
        """Features and class codes of the complete rows."""
        header, rows = read_table(path)
        first = 1 if header[:1] == ["id"] else 0
        if tuple(header[first:]) != (*self.columns, "label"):
            raise DatasetDamagedError(f"{path} has other columns than the data set '{self.entry.name}'.")
        complete = [row for row in rows if "?" not in row]
        with reading(path):
            data = np.array([row[first:-1] for row in complete], dtype=np.float64).reshape(
                len(complete), len(self.columns)
            )
        target = np.array([self.code(row[-1]) for row in complete], dtype=np.int64)
        check(self.entry, [data.shape], target)
        return data, target

    def load(self, data_home: str | os.PathLike[str] | None, download_if_missing: bool) -> Bunch:
        path = locate(self.entry, data_home, download_if_missing=download_if_missing, build=self.build)
        data, target = self.read(path)
        return assemble(self.entry, data=data, target=target, feature_names=list(self.columns))


_SONAR = _Table(
    Entry(
        name="sonar",
        title="sonar echoes of rocks and of metal cylinders, energy in 60 frequency bands",
        loader="load_sonar()",
        file="uci_sonar.csv.gz",
        sha256="0e73b2cc2d429887475f4a0517890f57f61d7c20da246dbff0f081a0576920a2",
        samples=208,
        features=(60,),
        classes={"rock": 97, "mine": 111},
        source="OpenML 40; UCI, Connectionist Bench (Sonar, Mines vs. Rocks)",
        terms=_TERMS,
    ),
    openml_id=40,
    columns=tuple(f"f{i:02d}" for i in range(1, 61)),
    spellings=(("R", "Rock"), ("M", "Mine")),
)
_IONOSPHERE = _Table(
    Entry(
        name="ionosphere",
        title="radar returns that show structure in the ionosphere (good) or not (bad)",
        loader="load_ionosphere()",
        file="uci_ionosphere.csv.gz",
        sha256="1083df2c3a7438f0c1882ba4739e1d53222bbcbc09c6d7c5049c8cb0e817cdcf",
        samples=351,
        features=(34,),
        classes={"bad": 126, "good": 225},
        source="OpenML 59; UCI, Ionosphere",
        terms=_TERMS,
    ),
    openml_id=59,
    columns=tuple(f"f{i:02d}" for i in range(1, 35)),
    spellings=(("b",), ("g",)),
)
_HEART = _Table(
    Entry(
        name="heart",
        title="presence of heart disease from 13 clinical findings",
        loader="load_heart()",
        file="uci_statlog_heart.csv.gz",
        sha256="2dd48f15482d358b71204790453a0bf087d712ab3cdc31b8261f83f749e89b89",
        samples=270,
        features=(13,),
        classes={"absent": 150, "present": 120},
        source="OpenML 53; UCI, Statlog (Heart)",
        terms=_TERMS,
    ),
    openml_id=53,
    columns=(
        *("age", "sex", "chest_pain", "rest_bp", "cholesterol", "fasting_bs", "rest_ecg", "max_hr", "ex_angina"),
        *("oldpeak", "slope", "vessels", "thal"),
    ),
    spellings=(("1", "absent"), ("2", "present")),
)
_BREAST = _Table(
    Entry(
        name="breast_cancer_wisconsin",
        title="benign and malignant breast tumours, nine cytological grades from 1 to 10",
        loader="load_breast_cancer_wisconsin()",
        file="uci_breast_cancer_wisconsin_original.csv.gz",
        sha256="d04995af9b183a233121944780b5a90912064595bc891b4e5f9d9dc608bc5653",
        samples=683,
        features=(9,),
        classes={"benign": 444, "malignant": 239},
        source="OpenML 15; UCI, Breast Cancer Wisconsin (Original)",
        terms=_TERMS,
    ),
    openml_id=15,
    columns=(
        *("clump_thickness", "cell_size_uniformity", "cell_shape_uniformity", "marginal_adhesion"),
        *("single_epithelial_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses"),
    ),
    spellings=(("2", "benign"), ("4", "malignant")),
)
ENTRIES = tuple(table.entry for table in (_SONAR, _IONOSPHERE, _HEART, _BREAST))


def load_sonar(*, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True) -> Bunch:
    """Sonar, mines against rocks ([L04]).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_sonar.csv.gz`` or is to hold it; see
        `kernelweave.datasets.data_folder` for the default.
    download_if_missing : bool, default=True
        Whether to fetch the set from OpenML when the file is not there.

    Returns
    -------
    Bunch
        ``data`` (208, 60) float64; ``target`` (208,) int64, codes of ``target_names``
        (rock, mine); ``feature_names``; ``DESCR`` with source and terms of use.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there and cannot be had.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_sonar
    >>> load_sonar().data.shape  # doctest: +SKIP
    (208, 60)
    """
    return _SONAR.load(data_home, download_if_missing)


def load_ionosphere(*, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True) -> Bunch:
    """Ionosphere ([L04]); the second feature is zero throughout, and some papers leave it out.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_ionosphere.csv.gz`` or is to hold it, as in `load_sonar`.
    download_if_missing : bool, default=True
        Whether to fetch the set from OpenML when the file is not there.

    Returns
    -------
    Bunch
        As in `load_sonar`: ``data`` (351, 34), classes bad and good.

    Examples
    --------
    >>> from kernelweave.datasets import load_ionosphere
    >>> load_ionosphere().data.shape  # doctest: +SKIP
    (351, 34)
    """
    return _IONOSPHERE.load(data_home, download_if_missing)


def load_heart(*, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True) -> Bunch:
    """Heart disease, the Statlog version ([L04]); raw values, which want scaling.

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_statlog_heart.csv.gz`` or is to hold it, as in `load_sonar`.
    download_if_missing : bool, default=True
        Whether to fetch the set from OpenML when the file is not there.

    Returns
    -------
    Bunch
        As in `load_sonar`: ``data`` (270, 13), classes absent and present.

    Examples
    --------
    >>> from kernelweave.datasets import load_heart
    >>> load_heart().data.shape  # doctest: +SKIP
    (270, 13)
    """
    return _HEART.load(data_home, download_if_missing)


def load_breast_cancer_wisconsin(
    *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Bunch:
    """Breast cancer, the original Wisconsin set without its 16 incomplete rows ([L04]).

    Not the set that `sklearn.datasets.load_breast_cancer` returns (569 rows, 30 features).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``uci_breast_cancer_wisconsin_original.csv.gz`` or is to hold it, as in
        `load_sonar`.
    download_if_missing : bool, default=True
        Whether to fetch the set from OpenML when the file is not there.

    Returns
    -------
    Bunch
        As in `load_sonar`: ``data`` (683, 9), classes benign and malignant.

    Examples
    --------
    >>> from kernelweave.datasets import load_breast_cancer_wisconsin
    >>> load_breast_cancer_wisconsin().data.shape  # doctest: +SKIP
    (683, 9)
    """
    return _BREAST.load(data_home, download_if_missing)
