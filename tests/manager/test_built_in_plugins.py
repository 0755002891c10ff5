"""The plugins that come with the package: listed, light, and known to nobody else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_answers import answers, info

from nar_plugin.manager import list_plugins

HOOKS = Path(__file__).parents[2] / "hooks"


def test_the_core_asks_for_plugins_and_imports_none():
    package = HOOKS.parent / "nar_plugin"
    hooks = re.compile(r"nar_plugin(\.| import )hooks\b")
    naming = {file for file in package.rglob("*.py") if hooks.search(file.read_text())}
    # A search trains the very cells that its plugin builds from a text; no question does.
    searches = {package / "train" / room for room in ("nge", "vae")}
    core = {file for file in naming if searches.isdisjoint(file.parents)}
    assert core == {package / "manager.py"}


def test_the_built_in_plugins_are_listed_in_the_order_in_which_they_are_asked():
    names = [p.name for p in list_plugins() if p.distribution == "nar-plugin"]
    files = [path.stem for path in HOOKS.iterdir() if not path.stem.startswith("_")]
    assert set(names) == set(files) >= {"diffusers", "timm", "torchvision", "transformers"}
    assert names == [*sorted(set(files) - {"torch"}), "torch"]
    assert info("torch").distribution == "nar-plugin"
    assert info("torch").version


def test_the_built_in_plugins_import_no_library():
    program = (
        "import sys; from nar_plugin import manager; manager.list_plugins()\n"
        "print(*sys.modules)\n"
        "assert all(plugin.status == 'active' for plugin in manager.list_plugins())"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert not {"torch", "timm", "torchvision", "transformers"} & set(process.stdout.split())


@pytest.mark.slow
def test_a_built_in_plugin_is_not_imported_before_its_library():
    program = (
        "import sys, torch, nar_plugin\n"
        "from nar_plugin import manager\n"
        "list(manager.call_each('nar_provenance', only_imported=True, model=torch.nn.ReLU()))\n"
        "print(*sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    imported = set(process.stdout.split())
    assert "nar_plugin.hooks.torch" in imported, process.stderr
    assert not {"nar_plugin.hooks.timm", "nar_plugin.hooks.mmdet"} & imported


def test_a_built_in_plugin_is_about_the_library_that_it_is_named_after():
    from nar_plugin import hooks

    named = {plugin.name for plugin in list_plugins() if plugin.distribution == "nar-plugin"}
    libraries = answers("nar_library")
    assert {name: libraries.get(name) for name in named - hooks.OF_MANY} == {
        name: name for name in named - hooks.OF_MANY
    }
    assert hooks.OF_MANY <= named - set(libraries)
