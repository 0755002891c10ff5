"""Coverage of libraries by name, and what a worker may print."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tqdm")

from nar_plugin.bench.coverage import measure_coverage
from nar_plugin.errors import NarError

MODELS = """
print("a banner")
from torch import nn
def tiny():
    print("made")
    return nn.Linear(4, 2)
def refuses():
    raise ValueError("no weights here")
"""


def test_an_unknown_library_is_named(tmp_path):
    with pytest.raises(NarError, match=r"No architecture of nonsense is .*: .*torchvision"):
        measure_coverage(tmp_path / "r", libraries=["nonsense"], module=None, workers=1)


@pytest.mark.slow
def test_only_the_result_is_on_stdout(tmp_path):
    (tmp_path / "shouting.py").write_text(MODELS)
    run = "from nar_plugin.cli import main; main()"
    command = [sys.executable, "-c", run, "dev", "bench", "coverage", "--json"]
    command += ["--module", "shouting", "--workers", "1"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    (row,) = json.loads(answer.stdout)
    assert (row["listed"], row["constructed"], row["traced"]) == (2, 1, 1)
    assert "no weights here" in row["failures"]["shouting:refuses"]


@pytest.mark.slow
def test_nearly_all_of_the_hand_written_zoo_traces(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    module = "docs.benchmarks.zoo"
    (row,) = measure_coverage(tmp_path / "r", libraries=[], module=module, workers=1)
    assert row.listed >= 128
    assert row.traced >= 0.95 * row.listed, row.failures
