"""How much a clone and an install weigh."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MB = 1_000_000


@pytest.fixture(scope="module")
def sizes():
    """Bytes of each tracked file."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return {path.relative_to(ROOT): path.stat().st_size for path in paths if path.is_file()}


def test_a_shallow_clone_holds_at_most_90_mb(sizes):
    assert sum(sizes.values()) <= 90 * MB


def test_the_wheel_holds_at_most_60_mb(sizes):
    """Unpacked: packed it is smaller still."""
    corpus = ("nar_plugin", "data", "corpus")
    packed = [
        size
        for path, size in sizes.items()
        if path.parts[0] in ("nar_plugin", "hooks") and path.parts[:3] != corpus
    ]
    assert 1 * MB < sum(packed) <= 60 * MB
