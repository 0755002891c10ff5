"""`nar dev bench gpu`, rehearsed on the CPU: the one chance on a GPU is not lost to a typo."""

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nar_plugin.bench.gpu import measure, steps
from nar_plugin.bench.gpu_place import Skipped
from nar_plugin.bench.gpu_table import gpu_table
from nar_plugin.cli import app

PAGE = Path(__file__).parents[2] / "docs/benchmarks.md"


def test_each_step_is_bounded_kept_and_resumed(tmp_path):
    file, runs = tmp_path / "gpu.json", []

    def skipped(place):
        raise Skipped("no such library")

    def broken(place):
        raise RuntimeError("out of memory")

    todo = {
        "good": (5, lambda place: {"p50_ms": 1}),
        "missing": (5, skipped),
        "broken": (5, broken),
        "slow": (0.2, lambda place: time.sleep(20)),
        "last": (5, lambda place: {"written": sorted(json.loads(file.read_text())["steps"])}),
    }
    found = measure(file, todo, tell=runs.append)
    assert json.loads(file.read_text()) == found
    ends = found["steps"]
    assert ends["good"]["figures"] == {"p50_ms": 1}
    assert ends["missing"]["skipped"] == "no such library"
    assert ends["broken"]["failed"] == "RuntimeError: out of memory"
    assert "did not end within" in ends["slow"]["failed"]
    assert ends["last"]["figures"]["written"] == ["broken", "good", "missing", "slow"]
    again = measure(file, todo | {"good": (5, broken), "missing": (5, lambda place: {"n": 2})})
    assert again["steps"]["good"] == ends["good"]  # not asked again
    assert again["steps"]["missing"]["figures"] == {"n": 2}
    over = measure(tmp_path / "other.json", todo, seconds=0)
    assert all("goes on" in end["skipped"] for end in over["steps"].values())


def test_the_steps_have_eight_minutes_and_say_what_is_missing(tmp_path, monkeypatch):
    import torch

    monkeypatch.delenv("NAR_GPU_REHEARSAL", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = ("machine", "search 15,000 torch", "query")
    found = measure(tmp_path / "gpu.json", {name: steps()[name] for name in names})
    assert all(end["skipped"].startswith("no CUDA") for end in found["steps"].values())
    told = gpu_table(found)
    assert "not measured: no CUDA device" in told and "Not measured yet." in told


def test_the_page_has_the_table():
    """Until a GPU is found, it says so; then it is what --table prints of the kept figures."""
    page = PAGE.read_text()
    part = page.split("<!-- gpu: `nar dev bench gpu --table FILE` -->\n")[1].split("<!-- end")[0]
    assert part.strip() == gpu_table({}) or "Measured on 20" in part


@pytest.mark.slow
def test_the_rehearsal(tmp_path, monkeypatch, in_this_process):
    """Every step, tiny, on the CPU."""
    monkeypatch.setenv("NAR_GPU_REHEARSAL", "1")
    file = tmp_path / "gpu.json"
    result = CliRunner().invoke(app, ["dev", "bench", "gpu", "--file", str(file)])
    found = json.loads(file.read_text())
    assert list(found["steps"]) == list(steps())
    ends = {name: end for name, end in found["steps"].items() if "figures" not in end}
    assert not ends
    for name, end in found["steps"].items():
        if name.startswith("search"):
            assert end["figures"]["recall"] >= 0.98, name
    assert found["steps"]["query"]["figures"]["hits"] == 3
    assert found["steps"]["tests"]["figures"]["tests"] >= 3
    assert gpu_table({}) in result.stdout  # a rehearsal measures nothing
    as_if = gpu_table(found | {"rehearsal": False})
    assert "not measured" not in as_if and found["date"] in as_if
    told = CliRunner().invoke(app, ["dev", "bench", "gpu", "--table", str(file)])
    assert gpu_table({}) in told.stdout
