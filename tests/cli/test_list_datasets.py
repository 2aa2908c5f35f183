"""``kernelweave datasets``: the list of what can be loaded."""

from __future__ import annotations

from kernelweave.datasets import available


def test_the_list(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWEAVE_DATA", str(tmp_path))
    outcome = run("datasets")
    assert outcome.status == 0 and outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["name", "samples", "features", "at", "hand", "loader"]
    assert lines[1].split() == ["sonar", "208", "60", "no", "load_sonar()"]
    assert f"Folder: {tmp_path} " in outcome.out
    for entry in available():
        assert entry.loader in outcome.out and f"{entry.name}: {entry.source}" in outcome.out


def test_json(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWEAVE_DATA", str(tmp_path))
    data = run("datasets", "--json").data
    assert data["folder"] == str(tmp_path)
    assert [entry["name"] for entry in data["datasets"]] == [entry.name for entry in available()]
    assert data["datasets"][0] | {"source": ""} == {
        "name": "sonar", "loader": "load_sonar()", "source": "", "samples": 208, "features": [60], "cached": False
    }  # fmt: skip
