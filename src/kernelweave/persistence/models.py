"""Write fitted models to files and read them back.

A model file is the zip archive of skops (arrays and a description of the objects; loading it
runs no code from the file) with one member of ours, ``kernelweave.json``, that says what it is.
The metadata are read first, so a file of a newer version is recognised before anything is built.
"""

from __future__ import annotations

import io
import json
import os
import platform
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelweave import __version__
from kernelweave.exceptions import ModelFileError, import_extra
from kernelweave.persistence.files import write_atomically
from kernelweave.persistence.storable import restored, storable
from kernelweave.persistence.trusted import ESTIMATORS, refuse_unstorable, trusted_names

__all__ = ["load_model", "read_metadata", "save_model"]

# Raised whenever a file of this version could not be read by the version before.
_FORMAT = 1
_MEMBER = "kernelweave.json"


def save_model(model: Any, path: str | os.PathLike[str], *, facts: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file that holds data, never code.

    The file of a kernel method contains the training samples (in the columns that the kernels read),
    because it compares new samples with them; that of a monotone transform does not. It is written in
    one step: an interrupted call leaves what was there before.

    Parameters
    ----------
    model : estimator
        A fitted estimator of ours, or a fitted scikit-learn ``Pipeline`` that ends in one.
    path : str or path-like
        Where to; by convention with the suffix ``.skops``.
    facts : mapping, optional
        More for `read_metadata`, in terms of JSON; replaces the entry of the same name.

    Raises
    ------
    ValueError
        For kernels or columns given as functions, which are code, naming the kernel; for another
        kind of model.
    sklearn.exceptions.NotFittedError
        When the model is not fitted.
    MissingExtraError
        When skops is not installed.

    See Also
    --------
    load_model : Read it back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernelweave import MKLClassifier, load_model, save_model
    >>> X, y = [[0.5], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = MKLClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, pathlib.Path(folder, "model.skops"))
    ...     load_model(pathlib.Path(folder, "model.skops")).predict([[0.7], [4.5]])
    array(['low', 'high'], dtype='<U4')
    """
    skops = import_extra("skops.io", "cli", "Saving a model")
    final = _final(model)
    if not isinstance(final, ESTIMATORS):
        known = ", ".join(kind.__name__ for kind in ESTIMATORS)
        raise ValueError(f"a model file holds {known}, or a Pipeline that ends in one; got {type(final).__name__}")
    check_is_fitted(final)
    refuse_unstorable(final)
    data = skops.dumps(storable(model), compression=zipfile.ZIP_DEFLATED)
    foreign = set(skops.get_untrusted_types(data=data)) - set(trusted_names())
    if foreign:
        raise ValueError(f"a model file cannot hold objects of {', '.join(sorted(foreign))}, which this model contains")
    archive = io.BytesIO(data)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as members:
        text = json.dumps(_metadata(model, final) | dict(facts or {}), indent=1, allow_nan=False)
        members.writestr(_MEMBER, text)
    write_atomically(path, archive.getvalue())


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` or ``kernelweave fit`` wrote.

    Nothing in the file is run: only types of kernelweave and those that skops trusts are built.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        The fitted model; it predicts exactly what the saved one did.

    Raises
    ------
    ModelFileError
        (A ``ValueError``.) For a damaged file, one that kernelweave did not write, one of a newer
        version, or one that asks for other types.
    OSError
        When the file cannot be read.
    MissingExtraError
        When skops, or the data frame library that the model was fitted with, is not installed.

    See Also
    --------
    save_model : Write it.
    """
    skops = import_extra("skops.io", "cli", "Loading a model")
    data = Path(path).read_bytes()
    _read_metadata(data, path)
    try:
        foreign = set(skops.get_untrusted_types(data=data)) - set(trusted_names())
    except Exception as error:
        raise _damaged(path, error) from error
    if foreign:
        raise ModelFileError(
            f"'{path}' asks for {', '.join(sorted(foreign))}, which no model file of kernelweave contains; "
            "it was changed after it was written. Nothing was loaded."
        )
    try:
        model = restored(skops.loads(data, trusted=trusted_names()))
    except ImportError:
        raise
    except Exception as error:
        raise _damaged(path, error) from error
    if not isinstance(_final(model), ESTIMATORS):
        raise ModelFileError(f"'{path}' holds {type(model).__name__}, which is no model of kernelweave.")
    return model


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says about itself, without loading the model.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict
        ``format``, ``kernelweave`` (version that wrote it), ``created`` (UTC), ``versions`` (of
        Python, numpy, scikit-learn), ``estimator``, ``n_samples``, ``n_features``, ``columns``
        (None, or one ``{"name": ..., "dtype": ..., "numeric": ...}`` each), ``classes``, and the facts given
        to `save_model`.

    Raises
    ------
    ModelFileError
        For a damaged file, one that kernelweave did not write, or one of a newer version.
    OSError
        When the file cannot be read.
    """
    return _read_metadata(Path(path).read_bytes(), path)


def _final(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _metadata(model: Any, final: Any) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    samples: Any = getattr(getattr(final, "_expansion", None), "X", None)
    known = dict(zip(samples.columns, map(str, samples.dtypes), strict=True)) if hasattr(samples, "columns") else {}
    return {
        "format": _FORMAT,
        "kernelweave": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "estimator": type(final).__name__,
        "n_samples": _n_samples(final),
        "n_features": int(model.n_features_in_),
        "columns": None if names is None else [_column(name, known.get(name)) for name in names],
        "classes": [label if isinstance(label, str | int | bool) else str(label) for label in _classes(final)],
    }


def _n_samples(final: Any) -> int:
    """Number of labelled training samples, of which a sparse model keeps only some."""
    if hasattr(final, "n_samples_fit_"):
        return int(final.n_samples_fit_)
    # Training samples of weight zero have a place in dual_coef_ only.
    return int((final.dual_coef_ if hasattr(final, "dual_coef_") else final._expansion.coefficients).shape[1])


def _classes(final: Any) -> list[Any]:
    # A regressor has none.
    return list(final.classes_.tolist()) if hasattr(final, "classes_") else []


def _column(name: str, dtype: str | None) -> dict[str, Any]:
    numeric = None if dtype is None else dtype.lower().startswith(("int", "uint", "float", "bool"))
    return {"name": name, "dtype": dtype, "numeric": numeric}


def _read_metadata(data: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    if not data:
        raise ModelFileError(f"'{path}' is empty; fit and save the model again.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            names = members.namelist()
            metadata = json.loads(members.read(_MEMBER)) if _MEMBER in names else None
    except zipfile.BadZipFile as error:
        if data[:4] == b"PK\x03\x04":
            raise _damaged(path, error) from error
        raise ModelFileError(f"'{path}' is no model file of kernelweave; it is no zip archive at all.") from None
    except Exception as error:
        raise _damaged(path, error) from error
    if not isinstance(metadata, dict) or not isinstance(metadata.get("format"), int):
        kind = "a skops file, but not one of" if "schema.json" in names else "a zip archive, but no model file of"
        raise ModelFileError(f"'{path}' is {kind} kernelweave.")
    if metadata["format"] > _FORMAT:
        raise ModelFileError(
            f"'{path}' was written by kernelweave {metadata.get('kernelweave')} in a newer format than this version "
            f"({__version__}) reads. Upgrade: pip install --upgrade kernelweave"
        )
    return metadata


def _damaged(path: str | os.PathLike[str], error: Exception) -> ModelFileError:
    detail = " ".join(str(error).split())[:120] or type(error).__name__
    return ModelFileError(
        f"'{path}' is damaged or incomplete ({detail}). Copy it again, or fit and save the model again."
    )
