"""News stories with several topics: Reuters-21578 ([L04], Figure 1)."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelweave.datasets.entry import Entry, assemble
from kernelweave.datasets.storage import locate, reading
from kernelweave.exceptions import DatasetDamagedError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["ENTRIES", "load_reuters"]

# The five topics of [L04], with the number of documents in both parts.
_TOPICS = {"earn": 3964, "acq": 2369, "money-fx": 717, "grain": 582, "crude": 578}
_N_TRAIN = 9603

_REUTERS = Entry(
    name="reuters",
    title="Reuters-21578, Distribution 1.0, the ModApte split: 9603 news stories to train, 3299 to test",
    loader="load_reuters()",
    file="reuters21578_modapte.jsonl.gz",
    sha256="49bd9e30e860cf57cf2f9e0a651e7c79aefe4e6edb69d384ba05b22ca9aa88b9",
    samples=12902,
    features=(),
    source="github colibri17/TextCategorization at b6c2ca3, reuters21578/reut2-000.sgm to reut2-021.sgm",
    terms="copyright Reuters Ltd., for research only; to be named 'Reuters-21578, Distribution 1.0'",
)
ENTRIES = (_REUTERS,)


def load_reuters(*, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Reuters-21578, ModApte split, with the five largest topics as labels ([L04], Figure 1).

    Parameters
    ----------
    data_home : path-like, optional
        Folder that holds ``reuters21578_modapte.jsonl.gz``: one JSON object a line with ``split``
        ("train" or "test"), ``topics`` (list), ``title`` and ``body``. There is no download; the
        error says where the data are public.

    Returns
    -------
    Bunch
        ``data``, list of 12902 texts (title, line break, body); ``target`` (12902, 5) int64, one column
        of 0 and 1 for each of ``target_names``; ``topics``, all topics of each text; ``train`` (9603,)
        and ``test`` (3299,) int64, row numbers; ``DESCR``.

    Raises
    ------
    DatasetUnavailableError
        When the file is not there.
    DatasetDamagedError
        When the file is not what it should be.

    Examples
    --------
    >>> from kernelweave.datasets import load_reuters
    >>> load_reuters().target_names  # doctest: +SKIP
    array(['earn', 'acq', 'money-fx', 'grain', 'crude'], dtype='<U8')
    """
    path = locate(_REUTERS, data_home)
    with reading(path):
        documents = _read_lines(path)
        texts = [f"{document['title']}\n{document['body']}" for document in documents]
        topics = [tuple(document["topics"]) for document in documents]
        is_train = np.array([document["split"] == "train" for document in documents], dtype=bool)
    target = np.array([[topic in of_text for topic in _TOPICS] for of_text in topics], dtype=np.int64)
    counts = dict(zip(_TOPICS, target.sum(axis=0).tolist(), strict=True)) if len(target) else {}
    if counts != _TOPICS or len(texts) != _REUTERS.samples or is_train.sum() != _N_TRAIN:
        raise DatasetDamagedError(
            f"{path} is not the ModApte split: {len(texts)} texts, {is_train.sum()} to train, topics {counts}; "
            f"expected {_REUTERS.samples}, {_N_TRAIN} and {_TOPICS}."
        )
    return assemble(
        _REUTERS,
        data=texts,
        target=target,
        target_names=np.array(list(_TOPICS)),
        topics=topics,
        train=np.flatnonzero(is_train).astype(np.int64),
        test=np.flatnonzero(~is_train).astype(np.int64),
    )


def _read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
