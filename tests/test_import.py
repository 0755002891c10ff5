"""What `import nar_plugin` costs and touches; each case in a process of its own."""

import os
import subprocess
import sys

import pytest

import nar_plugin

HEAVY = ("torch", "transformers", "timm", "torchvision", "torch_geometric", "faiss", "numpy")
# Any module can stand in for the one that defines nn.Module: here it takes no time to import.
FAKE_TORCH = """
import importlib.abc, importlib.machinery, sys

class FakeTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    executed = 0

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == "torch":
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module):
        if module.__name__ == "torch.nn.modules.module":
            FakeTorch.executed += 1
            module.Module = type("Module", (), {})

sys.meta_path.insert(0, FakeTorch())
"""


@pytest.fixture
def python(tmp_path):
    """Run a program in a fresh interpreter; gives what it printed, and asserts that it ended."""

    def run(program, **environment):
        process = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )
        assert process.returncode == 0, process.stderr
        run.stderr = process.stderr
        return process.stdout.split()

    return run


@pytest.mark.perf
def test_import_takes_less_than_50_ms(python):
    program = (
        "import time; start = time.perf_counter(); import nar_plugin\n"
        "print(time.perf_counter() - start)"
    )
    assert min(float(python(program)[0]) for _ in range(5)) < 0.05


@pytest.mark.parametrize(
    "statement",
    [
        "import nar_plugin",
        "import nar_plugin; dir(nar_plugin)",
        "from nar_plugin import hookimpl, attach, detach, NarError, PluginError",
    ],
)
def test_import_loads_no_framework(python, statement):
    loaded = python(f"{statement}\nimport sys; print(*sys.modules)")
    assert not set(HEAVY) & set(loaded)


def test_import_loads_no_pluggy(python):
    assert "pluggy" not in python("import nar_plugin, sys; print(*sys.modules)")


def test_every_public_name_is_there():
    for name in nar_plugin.__all__:
        assert getattr(nar_plugin, name) is not None
    assert set(nar_plugin.__all__) <= set(dir(nar_plugin))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="find_similiar"):
        _ = nar_plugin.find_similiar


@pytest.mark.parametrize(
    "order", ["nar_plugin, torch", pytest.param("torch, nar_plugin", marks=pytest.mark.slow)]
)
def test_either_order_attaches(python, order):
    program = f"""
import {order}
from torch import nn
assert "find_similar" in vars(nn.Module)
assert callable(nn.Linear(1, 1).find_similar)
# torch.jit copies functions from nn.Module to its own classes while torch is imported.
assert "find_similar" not in vars(torch.jit.RecursiveScriptModule)
import sys
assert not any("nar_plugin" in type(finder).__module__ for finder in sys.meta_path)
loader = nn.modules.module.__spec__.loader
assert type(loader).__module__.startswith(("importlib", "_frozen_importlib")), loader
assert not "exec_module" in vars(loader)
nar_plugin.detach()
assert not hasattr(nn.Linear(1, 1), "find_similar")
"""
    python(program)
    assert "nar" not in python.stderr


def test_disabled_does_nothing(python):
    program = f"""{FAKE_TORCH}
before = list(sys.meta_path)
import nar_plugin
assert sys.meta_path == before
assert "nar_plugin.attachment" not in sys.modules
import torch.nn.modules.module as module
assert not hasattr(module.Module, "find_similar")
nar_plugin.attach()  # asked for by name, it does attach
assert hasattr(module.Module, "find_similar")
"""
    python(program, NAR_PLUGIN_DISABLE="1")


def test_a_failure_while_attaching_does_not_break_the_import_of_torch(python):
    program = f"""{FAKE_TORCH}
import nar_plugin.attachment
def attach():
    raise OSError("broken on purpose")
nar_plugin.attachment.attach = attach
import torch.nn.modules.module as module
assert not hasattr(module.Module, "find_similar")
assert FakeTorch.executed == 1
"""
    python(program)
    assert "not attached" in python.stderr
    assert "broken on purpose" in python.stderr


def test_a_loader_that_cannot_be_watched_does_not_break_the_import_of_torch(python):
    program = f"""{FAKE_TORCH}
class Frozen:
    create_module = staticmethod(lambda spec: None)
    exec_module = staticmethod(FakeTorch().exec_module)
find_spec = FakeTorch.find_spec
def find_frozen(self, fullname, path=None, target=None):
    if spec := find_spec(self, fullname):
        spec.loader = Frozen  # a class as loader, as for built-in and frozen modules
    return spec
FakeTorch.find_spec = find_frozen
import nar_plugin
import torch.nn.modules.module as module
assert FakeTorch.executed == 1
nar_plugin.attach()
assert hasattr(module.Module, "find_similar")
"""
    python(program)
    assert "not attached" in python.stderr


def test_torch_that_fails_to_import_can_be_imported_later(python):
    program = f"""{FAKE_TORCH}
import nar_plugin
execute = FakeTorch.exec_module
def broken(self, module):
    if module.__name__ == "torch.nn.modules.module":
        raise ImportError("libcudart.so not found")
FakeTorch.exec_module = broken
try:
    import torch.nn.modules.module
except ImportError as error:
    assert "libcudart" in str(error)
FakeTorch.exec_module = execute
import torch.nn.modules.module as module
assert hasattr(module.Module, "find_similar")
"""
    python(program)


def test_probing_for_torch_attaches_nothing_and_forgets_nothing(python):
    program = f"""
{FAKE_TORCH}
import importlib.util
import nar_plugin
for _ in range(2):
    assert importlib.util.find_spec("torch.nn.modules.module")
import torch.nn.modules.module as module
assert hasattr(module.Module, "find_similar")
assert FakeTorch.executed == 1
"""
    python(program)


def test_detach_before_torch_is_imported(python):
    program = f"""
{FAKE_TORCH}
before = list(sys.meta_path)
import nar_plugin
assert sys.meta_path != before
nar_plugin.attach()
nar_plugin.detach()
assert sys.meta_path == before
import torch.nn.modules.module as module
assert not hasattr(module.Module, "find_similar")
"""
    python(program)


def test_two_copies_of_the_package_do_not_chase_each_other(python):
    """As after a reload in a notebook, before torch is imported."""
    program = f"""
{FAKE_TORCH}
import importlib, nar_plugin
from nar_plugin import attachment
importlib.reload(attachment)
sys.meta_path.insert(0, attachment._AfterTorch())
import torch.nn.modules.module as module
assert hasattr(module.Module, "find_similar")
nar_plugin.detach()
assert not hasattr(module.Module, "find_similar")
"""
    python(program)
