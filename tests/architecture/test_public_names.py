"""What a package offers exists, and its docstring names every parameter."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
import types

import pytest


def all_faults(name: str) -> list[str]:
    """Entries of ``__all__`` that are no strings or do not exist; imports the module."""
    module = importlib.import_module(name)
    faults = []
    for entry in getattr(module, "__all__", ()):
        if not isinstance(entry, str):
            faults.append(f"{name}.__all__ holds {entry!r}, not a string")
            continue
        try:
            getattr(module, entry)
        except AttributeError:
            faults.append(f"{name}.__all__ names {entry}, which does not exist")
        except ModuleNotFoundError as error:
            faults.append(f"{name}.{entry} needs the missing module {error.name}")
    return faults


def docstring_faults(name: str, thing: object) -> list[str]:
    """What the docstring of a class or function lacks."""
    if not isinstance(thing, type | types.FunctionType):
        return []
    text = inspect.getdoc(thing) if thing.__doc__ else None
    if not text:
        return [f"{name} has no docstring"]
    parameters, described = _parameters(thing), _described(text)
    needed = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    faults = [f"{name} does not describe its parameter {p}" for p in needed if p not in described]
    known = {p.name for p in parameters}
    return faults + [f"{name} describes {p}, which is no parameter" for p in described if p not in known]


def _parameters(thing: type | types.FunctionType) -> list[inspect.Parameter]:
    # Members of an enum and implementations of a protocol are not built with arguments of ours.
    if isinstance(thing, type) and (issubclass(thing, enum.Enum) or getattr(thing, "_is_protocol", False)):
        return []
    return list(inspect.signature(thing).parameters.values())


def _described(text: str) -> list[str]:
    """Names in the numpydoc section ``Parameters``: unindented lines ``a, b : type``."""
    section = re.search(r"^(?:Other )?Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r"^(\S[^:\n]*?) ?:", section[1], re.MULTILINE) if section else []
    return [part.strip().lstrip("*") for name in names for part in name.split(",")]


def public_things(modules) -> dict[str, object]:
    """Classes and functions that packages (not single modules) offer."""
    things = {}
    for module in modules.values():
        loaded = importlib.import_module(module.name) if module.path.name == "__init__.py" else None
        for entry in getattr(loaded, "__all__", ()):
            things[f"{module.name}.{entry}"] = getattr(loaded, entry)
    return things


def test_public_names_exist(modules):
    assert [fault for name in modules for fault in all_faults(name)] == []


def test_public_names_are_documented(modules):
    things = public_things(modules)
    assert [fault for name, thing in things.items() for fault in docstring_faults(name, thing)] == []


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write and import a package of one file; forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> str:
        (tmp_path / "fakeweave").mkdir()
        (tmp_path / "fakeweave" / "__init__.py").write_text(text)
        return "fakeweave"

    yield write
    sys.modules.pop("fakeweave", None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("__all__ = ['f']\ndef f(): ...", None),
        ("__all__ = ['g']\ndef f(): ...", "does not exist"),
        ("def f(): ...\n__all__ = [f]", "not a string"),
        ("__all__ = ['f']\ndef __getattr__(name):\n    import fakeweave.gone", "missing module fakeweave.gone"),
    ],
)
def test_existence_check_fails_where_it_should(package, text, fault):
    faults = all_faults(package(text))
    assert len(faults) == (fault is not None)
    assert all(fault in found for found in faults)


def _documented(a, *, b=1, **rest):
    """Do it.

    Parameters
    ----------
    a : int
        First: with a colon.
    b : int
        Second.
    **rest : dict
        Others.

    Returns
    -------
    c : int
        No parameter.
    """


def _together(a, b):
    """Do it.

    Parameters
    ----------
    a, b : int
        Both.
    """


def _forgotten(a, b):
    """Do it.

    Parameters
    ----------
    a : int
        First.
    """


def _renamed(a):
    """Do it.

    Parameters
    ----------
    b : int
        Was called so once.
    """


def _no_section(a):
    """Do it with a : int."""


def _bare(a): ...


class _Inherits(dict):
    pass


class _Colour(enum.Enum):
    """A colour."""

    RED = 1


@pytest.mark.parametrize(
    ("thing", "n_faults"),
    [
        (_documented, 0),
        (_together, 0),
        (_forgotten, 1),
        (_renamed, 2),
        (_no_section, 1),
        (_bare, 1),
        (_Inherits, 1),
        (_Colour, 0),
        (3.0, 0),
    ],
)
def test_docstring_check_fails_where_it_should(thing, n_faults):
    assert len(docstring_faults("thing", thing)) == n_faults
