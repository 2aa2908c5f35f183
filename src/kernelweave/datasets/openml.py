"""Data sets from OpenML, through scikit-learn's client."""

from __future__ import annotations

import http.client

import numpy as np

from kernelweave.datasets.entry import Entry, FloatArray
from kernelweave.exceptions import DatasetUnavailableError

__all__ = ["fetch"]


def fetch(entry: Entry, data_id: int) -> tuple[FloatArray, list[str]]:
    """Download one table.

    Parameters
    ----------
    entry : Entry
        The data set it is for.
    data_id : int
        Number of the table at OpenML.

    Returns
    -------
    data : ndarray of shape (n_samples, n_features), dtype float64
        Features, NaN where a value is missing.
    labels : list of str
        Class of each sample, as OpenML spells it.

    Raises
    ------
    DatasetUnavailableError
        When OpenML cannot be reached or does not hand out the table.
    """
    from sklearn.datasets import fetch_openml

    try:
        # This parser needs no pandas. We keep a file of our own, so theirs would be a second copy.
        table = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", cache=False, n_retries=1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise DatasetUnavailableError(
            f"The data set '{entry.name}' could not be had from OpenML (number {data_id}): {error}. "
            f"Check the network, or put the file {entry.file} into the data folder (KERNELWEAVE_DATA)."
        ) from error
    return np.asarray(table.data, dtype=np.float64), [str(label) for label in table.target]
