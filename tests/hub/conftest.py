"""A Hub on loopback, and the real huggingface_hub pointed at it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hubserver import HubServer


@pytest.fixture
def server(tmp_path):
    with HubServer(tmp_path / "hub-server") as server:
        yield server


@pytest.fixture
def home(tmp_path):
    return tmp_path / "hf-home"


@pytest.fixture
def environment(server, home):
    """The variables of a client process, as a user would set them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(home),
        "HF_TOKEN": "writer",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }


@pytest.fixture
def client(server, home, monkeypatch):
    """huggingface_hub in this process, its constants as the environment would have set them."""
    from huggingface_hub import constants
    from huggingface_hub.utils import _http

    template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HOME", str(home))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setenv("HF_TOKEN", "writer")
    monkeypatch.setenv("NO_PROXY", "*")
    for module in (_http, sys.modules["huggingface_hub.file_download"]):
        monkeypatch.setattr(module.time, "sleep", lambda _: None)
    return server


@pytest.fixture
def python(environment):
    """Run a program in a process of its own: `python("print(1)").stdout`."""

    def run(code, *words, **changes):
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            env=environment | changes,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
