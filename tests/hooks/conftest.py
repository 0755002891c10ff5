"""What a plugin proposes is traced in this process; `tests/promises` has the forked one."""

from functools import cache
from importlib import import_module

import pytest

from .program_files import write

# A wheel of torchaudio belongs to one version of torch and of CUDA, and refuses others.
REFUSALS = {"torchaudio": (ImportError, OSError, RuntimeError)}


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


@pytest.fixture(scope="session")
def installed():
    """A library by its import name; the test is skipped where it is missing."""
    return lambda name: pytest.importorskip(name, exc_type=REFUSALS.get(name, ImportError))


@pytest.fixture(scope="session")
def listed(installed):
    """What a library's plugin lists, by name, read once."""

    @cache
    def read(library):
        installed(library)
        plugin = import_module(f"nar_plugin.hooks.{library}")
        items = list(plugin.nar_architectures())
        assert all(item.name.startswith(f"{library}:") for item in items)
        names = {item.name.removeprefix(f"{library}:"): item for item in items}
        assert len(names) == len(items)
        return names

    return read


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The small design as a file of a kind, written once."""
    folder, made = tmp_path_factory.mktemp("files"), {}

    def file(kind):
        if kind == "onnx":
            pytest.importorskip("onnx")
        if kind not in made:
            made[kind] = write(folder, kind)
        return made[kind]

    return file
