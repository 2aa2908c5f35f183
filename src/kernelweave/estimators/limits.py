"""Parameters that estimators share: tolerance, budgets of the solver, and the soft margin."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from kernelweave.gram.base import FloatArray

__all__ = ["box_and_ridge", "check_choice", "check_limits"]


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a value that is not among those allowed.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
        What was given.
    allowed : tuple
        What may be given.

    Raises
    ------
    ValueError
        Naming all of them.
    """
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
        raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")


def check_limits(tol: float, max_iter: int | None, time_limit: float | None) -> None:
    """Refuse a tolerance or budgets that make no sense.

    Parameters
    ----------
    tol : float
        Relative duality gap to reach.
    max_iter : int or None
        Largest number of solver iterations.
    time_limit : float or None
        Seconds.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    if not (isinstance(tol, Real) and tol > 0):
        raise ValueError(f"tol must be a positive number; got {tol!r}.")
    if max_iter is not None and not (isinstance(max_iter, Integral) and max_iter >= 1):
        raise ValueError(f"max_iter must be a whole number of at least 1 or None; got {max_iter!r}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit >= 0):
        raise ValueError(f"time_limit must be a number of seconds (0 or more) or None; got {time_limit!r}.")


def box_and_ridge(margin: str, C: float, sample_weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Upper bounds of the dual variables and ridge of a margin; a sample of weight s counts as s copies.

    Parameters
    ----------
    margin : {"hard", "l1", "l2"}
        Which one.
    C : float
        Penalty; of no meaning for the hard margin.
    sample_weight : ndarray of shape (n,)
        Positive.

    Returns
    -------
    box, ridge : ndarray of shape (n,)
        ``s C`` and zeros for "l1", infinity and ``1 / (s C)`` for "l2", infinity and zeros for "hard".
    """
    box, ridge = np.full(len(sample_weight), np.inf), np.zeros(len(sample_weight))
    if margin == "l1":
        box = C * sample_weight
    elif margin == "l2":
        ridge = 1.0 / (C * sample_weight)
    return box, ridge
