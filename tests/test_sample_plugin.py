"""The sample plugin of the docs is installed by pip, found, checked and asked."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "docs" / "sample-plugin"


def test_it_is_the_plugin_of_the_guide():
    guide = (ROOT / "docs" / "plugins.md").read_text()
    (source, *_) = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)
    assert (SAMPLE / "nar_tinynets.py").read_text().endswith(source)


@pytest.mark.slow
def test_it_is_installed_and_answers(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    source = tmp_path / "source"
    source.mkdir()
    for file in SAMPLE.iterdir():
        if file.is_file():
            (source / file.name).write_text(file.read_text())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", tmp_path / "installed", source], check=True)
    script = """
        import sys
        from nar_plugin.cli import main
        for command in (["plugins", "check", "tinynets"], ["find", "tinynets:small", "-k", "1"]):
            sys.argv = ["nar", *command]
            try:
                main()
            except SystemExit as end:
                assert not end.code, command
    """
    done = subprocess.run(
        [sys.executable, "-c", re.sub(r"^ {8}", "", script, flags=re.MULTILINE)],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "tinynets:small" in done.stdout
    assert "tinynets:large" in done.stdout
