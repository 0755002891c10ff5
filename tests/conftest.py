"""Tests never reach the network, since the Hub libraries run offline, and have time."""

import os
import sys
from pathlib import Path

import pytest

from nar_plugin import isolation

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["NAR_TRACE_SECONDS"] = "900"  # a busy machine decides no test
sys.path.insert(0, str(Path(__file__).parent))  # `from models import ...`


@pytest.fixture
def in_this_process(monkeypatch):
    """Trace without a fork, as on macOS and Windows and in the workers of a corpus."""
    monkeypatch.setattr(isolation._State, "stays", True)


def pytest_runtest_setup(item):
    """A test that is marked `gpu` is skipped where there is none, however it was chosen."""
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
