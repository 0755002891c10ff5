"""Fingerprints are the same under the oldest and the newest supported versions."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMITTED = json.loads((ROOT / "tests" / "fingerprints.json").read_text())
# torchvision comes in the version that belongs to the torch.
MINIMUM = {"torch": "2.8.0", "torchvision": "0.23.0", "timm": "1.0.20", "transformers": "5.5.0"}


def test_the_installed_versions_give_the_committed_fingerprints():
    pytest.importorskip("timm")
    pytest.importorskip("transformers")
    from fingerprints import fingerprints

    assert fingerprints() == COMMITTED


def test_the_tested_minimum_is_the_one_that_the_package_states():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [*project["dependencies"], *project["optional-dependencies"]["timm"]]
    stated += project["optional-dependencies"]["transformers"]
    bounds = dict(line.split(">=") for line in stated if ">=" in line and ";" not in line)
    for name in ("torch", "timm", "transformers"):
        assert MINIMUM[name].startswith(bounds[name])


@pytest.mark.slow
def test_the_minimum_versions_give_the_committed_fingerprints(tmp_path):
    python = tmp_path / "minimum" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "minimum"], check=True)
    pins = [f"{name}=={version}" for name, version in MINIMUM.items()]
    light = ["numpy", "pluggy", "pyarrow", "rich", "safetensors", "typer"]
    pip = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    installed = subprocess.run([*pip, *pins, *light], capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr[-4000:]
    subprocess.run([*pip, "--no-deps", "--editable", ROOT], check=True)
    done = subprocess.run(
        [python, ROOT / "tests" / "fingerprints.py"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert json.loads(done.stdout) == COMMITTED
