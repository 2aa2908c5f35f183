"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex

import pytest
from sklearn.datasets import load_wine

from kernelweave.cli.kernel_file import read_kernels
from kernelweave.cli.main import main
from kernelweave.cli.parser import build_parser

PAGES = ["README.md", "docs/command-line.md", "docs/errors.md", "docs/mixed-norms.md"]
EXAMPLES = ["docs/learning-kernels.md", "docs/indefinite-kernels.md", "docs/monotone.md", "docs/mixed-norms.md"]


@pytest.fixture
def page(request):
    return lambda name: (request.config.rootpath / name).read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_python_example(page):
    (example,) = blocks(page("README.md"), "python")
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", "README.md", 0)
    assert len(test.examples) <= 15
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert report == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_a_page(page, name):
    example = "".join(blocks(page(name), "python"))
    test = doctest.DocTestParser().get_doctest(example, {}, name, name, 0)
    assert test.examples
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert report == []


@pytest.mark.parametrize("name", PAGES)
def test_commands_and_their_options_exist(page, name):
    commands = re.findall(r"^(?:\$ | {4})(kernelweave [^\n]*?)(?: {3}.*)?$", page(name), re.MULTILINE)
    for command in commands:
        build_parser().parse_args(shlex.split(command)[1:])
    assert len(commands) == {"README.md": 2, "docs/command-line.md": 6}.get(name, 0)


def shape(text):
    """The text without the digits, and without what depends on them: the length of bars, the padding."""
    return re.sub(r"[ #]+", " ", re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "0", text)).replace(" \n", "\n").strip()


def test_the_example_of_the_command_line(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wine = load_wine(as_frame=True)
    wine.data.assign(cultivar=wine.target_names[wine.target]).to_csv("wine.csv", index=False)
    (session,) = blocks(page("README.md"), "console")
    parts = re.findall(r"^\$ kernelweave (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert [command.split()[0] for command, _ in parts] == ["fit", "predict"]
    for command, shown in parts:
        assert main(shlex.split(command)) == 0
        assert shape(capsys.readouterr().out) == shape(shown)


def test_the_kernel_file_can_be_read(page, tmp_path):
    (text,) = blocks(page("docs/command-line.md"), "toml")
    (tmp_path / "k.toml").write_text(text, encoding="utf-8")
    assert [name for name, _, _ in read_kernels(str(tmp_path / "k.toml"))] == ["acids", "colour", "interaction"]


def test_every_option_of_fit_is_described(page):
    text = page("docs/command-line.md")
    for action in build_parser()._subparsers._group_actions[0].choices["fit"]._actions:
        for option in action.option_strings:
            assert option in ("-h", "--help") or f"`{option}" in text, option


def test_pictures_are_there_and_small(request):
    root = request.config.rootpath
    for name in PAGES:
        for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", (root / name).read_text(encoding="utf-8")):
            assert (root / name).parent.joinpath(path).stat().st_size < 60_000


@pytest.mark.parametrize("name", [*PAGES, *EXAMPLES, "CONTRIBUTING.md", "docs/reproductions/findings.md"])
def test_links_lead_somewhere(request, name):
    path = request.config.rootpath / name
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert target.startswith("http") or path.parent.joinpath(target).exists(), target


def test_the_script_makes_the_picture(request, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    script = runpy.run_path(str(request.config.rootpath / "docs" / "make_images.py"))
    path = script["demo_weights"](tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size < 60_000
