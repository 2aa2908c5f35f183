"""Parameters of named kernels as parameters of the estimator, as in scikit-learn's ColumnTransformer."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

__all__ = ["KernelParameters"]


class KernelParameters(BaseEstimator):
    """Mixin for estimators with a parameter ``kernels``.

    ``estimator.set_params(expression__gamma=0.1)`` reaches the kernel called "expression",
    ``estimator.set_params(expression=RBF())`` replaces it.
    """

    kernels: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator and, with ``deep``, of its named kernels.

        Parameters
        ----------
        deep : bool, default=True
            Include the kernels and their parameters.

        Returns
        -------
        dict
            Names to values.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, kernel in self._named_kernels():
                params[name] = kernel
                if hasattr(kernel, "get_params"):
                    params |= {f"{name}__{key}": value for key, value in kernel.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or of its named kernels.

        Parameters
        ----------
        **params : dict
            ``C=10``, ``expression__gamma=0.1`` or ``expression=RBF()``.

        Returns
        -------
        self
        """
        if "kernels" in params:
            self.kernels = params.pop("kernels")
        names = [name for name, _ in self._named_kernels()]
        for name in [key for key in params if key in names]:
            self._replace(name, params.pop(name))
        super().set_params(**params)
        return self

    def _named_kernels(self) -> list[tuple[str, Any]]:
        if not isinstance(self.kernels, list | tuple):
            return []
        entries = [item for item in self.kernels if isinstance(item, tuple) and len(item) in (2, 3)]
        return [(item[0], item[1]) for item in entries if isinstance(item[0], str)]

    def _replace(self, name: str, kernel: Any) -> None:
        self.kernels = [
            (name, kernel, *item[2:]) if isinstance(item, tuple) and item[0] == name else item for item in self.kernels
        ]
