"""Kernels written as TOML, and errors that name the table and the key."""

from __future__ import annotations

import pytest

from kernelweave.cli.kernel_file import KernelFileError, read_kernels
from kernelweave.kernels import RBF, Linear, MetricKernel, Polynomial, Product, Scaled, Sum, WidthFamily

GOOD = """
[[kernel]]
name = "plain"
type = "Linear"

[[kernel]]
name = "shape"
type = "RBF"
columns = ["a", "b"]
gamma = "median"

[[kernel]]
name = "widths"
type = "WidthFamily"
columns = "a"
kernel = { type = "RBF", gamma = 1 }
factors = [0.5, 2.0]

[[kernel]]
name = "both"
type = "Product"
left = { type = "Linear" }
right = { type = "Scaled", scale = 2.0, kernel = { type = "Polynomial", degree = 3 } }

[[kernel]]
name = "metric"
type = "MetricKernel"
metric = "laplacian"
params = { gamma = 0.1 }

[[kernel]]
name = "sum"
type = "Sum"
left.type = "Linear"
right.type = "Linear"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "k.toml").write_text(text, encoding="utf-8")
        return str(tmp_path / "k.toml")

    return write


def test_kernels_come_as_written(write):
    entries = read_kernels(write(GOOD))
    expected = [
        ("plain", Linear(), None),
        ("shape", RBF(gamma="median"), ["a", "b"]),
        ("widths", WidthFamily(RBF(gamma=1), [0.5, 2.0]), ["a"]),
        ("both", Product(Linear(), Scaled(Polynomial(3), 2.0)), None),
        ("metric", MetricKernel("laplacian", {"gamma": 0.1}), None),
        ("sum", Sum(Linear(), Linear()), None),
    ]
    assert [(name, repr(kernel), columns) for name, kernel, columns in entries] == [
        (name, repr(kernel), columns) for name, kernel, columns in expected
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no kernels; write each as a table"),
        ("kernel = 3", "has no kernels"),
        ("[[kernel", "is not valid TOML"),
        ("[[kernels]]\nname = 'a'", r"unknown key 'kernels'; each kernel is a table \[\[kernel\]\]"),
        ("[[kernel]]\ntype = 'RBF'", r"kernel 1: key 'name' must be a text .* got None"),
        ("[[kernel]]\nname = 'a__b'\ntype = 'RBF'", "kernel 1: key 'name' must be .* no '__', got 'a__b'"),
        ("[[kernel]]\nname = 'a'", r"kernel 1 \('a'\): key 'type' is missing; the types are .*Linear.*RBF"),
        ("[[kernel]]\nname = 'a'\ntype = 'rbf'", r"kernel 1 \('a'\): key 'type': there is no kernel 'rbf'"),
        ("[[kernel]]\nname = 'a'\ntype = 'FunctionKernel'", "there is no kernel 'FunctionKernel'"),
        ("[[kernel]]\nname = 'a'\ntype = 'NamedKernel'", "there is no kernel 'NamedKernel'"),
        ("[[kernel]]\nname = 'a'\ntype = ['RBF']", "there is no kernel"),
        ("[[kernel]]\nname = 'a'\ntype = 'RBF'\ngama = 1", r"\('a'\): unknown key 'gama'; RBF takes gamma"),
        ("[[kernel]]\nname = 'a'\ntype = 'Linear'\ngamma = 1", "unknown key 'gamma'; Linear has no parameters"),
        (
            "[[kernel]]\nname = 'a'\ntype = 'RBF'\ncolumns = []",
            r"key 'columns' must be a list of column names, got \[\]",
        ),
        ("[[kernel]]\nname = 'a'\ntype = 'RBF'\ncolumns = [1]", "key 'columns' must be a list of column names"),
        ("[[kernel]]\nname = 'a'\ntype = 'Scaled'", "key 'kernel' is missing; Scaled needs it"),
        (
            "[[kernel]]\nname = 'a'\ntype = 'Scaled'\nkernel = {type = 'RBF', x = 1}",
            r"kernel 1 \('a'\), key 'kernel': unknown key 'x'; RBF takes gamma",
        ),
        (
            "[[kernel]]\nname = 'a'\ntype = 'RBF'\n[[kernel]]\nname = 'a'\ntype = 'Linear'",
            "kernel 2: the name 'a' is used before",
        ),
    ],
)
def test_errors_name_the_file_the_table_and_the_key(write, text, message):
    with pytest.raises(KernelFileError, match=message) as caught:
        read_kernels(write(text))
    assert "k.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "k.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(KernelFileError, match="is not valid TOML"):
        read_kernels(str(tmp_path / "k.toml"))


def test_a_missing_file_is_the_system_s_business(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_kernels(str(tmp_path / "none.toml"))
