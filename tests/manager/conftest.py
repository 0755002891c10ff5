"""Distributions with one plugin each, installed while a test runs."""

import sys
import textwrap

import pytest

from nar_plugin import manager

HEADER = """
from nar_plugin import hookimpl
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for name in ("NAR_DISABLE_PLUGINS", "NAR_STRICT"):
        monkeypatch.delenv(name, raising=False)
    manager.reset()
    yield
    monkeypatch.undo()
    manager.reset()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with one plugin on sys.path: `install("mine", source)`."""
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def put(name, source, *, target=""):
        module = f"nar_test_{name}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(HEADER + textwrap.dedent(source))
        folder = tmp_path / f"{module}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
        entry = f"[nar_plugin]\n{name} = {module}{target}\n"
        (folder / "entry_points.txt").write_text(entry)
        monkeypatch.syspath_prepend(tmp_path)  # forgets what importlib has cached
        manager.reset()
        return module

    yield put
    for module in modules:
        sys.modules.pop(module, None)
