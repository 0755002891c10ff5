"""The guide for authors: its plugins work, and `nar plugins check` says what does not."""

import importlib.util
import re
import sys
import types
from pathlib import Path

import pytest
from plugin_answers import answers, info
from torch import nn

from nar_plugin import PluginError, hookspecs
from nar_plugin.hookspecs import NamedArchitecture, Provenance
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

GUIDE = Path(__file__).parents[2] / "docs" / "plugins.md"
LIBRARY = """
from torch import nn

class TinyNet(nn.Conv1d):
    def __init__(self, width):
        super().__init__(64, width, 3)
"""


def imported(name, source, folder, monkeypatch):
    """A library of that source, imported until the test ends."""
    file = folder / f"{name}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


class TinyNet(nn.Conv1d):
    """A model of the library that the guide's plugin is for."""

    def __init__(self, width):
        super().__init__(64, width, 3)
        self.name = "small"


def test_the_guide_names_every_hook_with_its_arguments():
    text = GUIDE.read_text()
    for name, value in vars(hookspecs).items():
        if name.startswith("nar_"):
            arguments = value.__code__.co_varnames[: value.__code__.co_argcount]
            assert f"| `{name}({', '.join(arguments)})` |" in text


def test_the_guide_s_catalogue_works(install, monkeypatch, tmp_path):
    (source, *_) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    install("tinynets", source)
    assert not info("tinynets").installed
    assert list(answers("nar_architectures", libraries={"tinynets"})["tinynets"]) == []
    with pytest.raises(PluginError, match="pip install tinynets"):
        answers("nar_build", name="tinynets:small")
    library = imported("tinynets", LIBRARY, tmp_path, monkeypatch)
    assert answers("nar_architectures", libraries={"tinynets"})["tinynets"][1] == NamedArchitecture(
        name="tinynets:large",
        library="tinynets",
        family="tinynet",
        task="time-series-classification",
        licence="MIT",
        url="https://tinynets.example",
    )
    model = resolve("tinynets:large")
    assert (type(model), model.out_channels) == (library.TinyNet, 32)
    given = answers("nar_provenance", only_imported=True, model=model)["tinynets"]
    assert given == Provenance("tinynets:TinyNet", "tinynets")
    assert trace(model).inputs == "float32[1, 64, 100]"
    with pytest.raises(PluginError, match="tinynets has no architecture named 'huge'"):
        answers("nar_build", name="tinynets:huge")
    assert info("tinynets").status == "active"


def test_the_guide_s_plugin_by_hand_works(install, monkeypatch):
    (_, source, *_) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    install("tinynets", source)
    model = TinyNet(16)
    assert "tinynets" not in answers("nar_provenance", only_imported=True, model=model)
    library = types.ModuleType("tinynets")
    library.TinyNet = TinyNet
    monkeypatch.setitem(sys.modules, "tinynets", library)
    given = answers("nar_provenance", only_imported=True, model=model)["tinynets"]
    assert given == Provenance("tinynets:small", "tinynets")
    (inputs,) = answers("nar_example_inputs", only_imported=True, model=model)["tinynets"]
    assert model.to("meta")(*inputs.args).shape == (1, 16, 98)
    names = [
        architecture.name
        for architecture in answers("nar_architectures", libraries={"tinynets"})["tinynets"]
    ]
    assert [type(answers("nar_build", name=name)["tinynets"]) for name in names] == [TinyNet] * 2
    with pytest.raises(PluginError, match="tinynets has no huge; it has small, large"):
        answers("nar_build", name="tinynets:huge")
    assert info("tinynets").status == "active"


def test_a_plugin_is_checked_and_what_does_not_work_is_said(install):
    from typer.testing import CliRunner

    from nar_plugin.cli import app

    install(
        "sound",
        """
        import torch

        @hookimpl
        def nar_library():
            return "json"

        @hookimpl
        def nar_architectures():
            for name in ("whole", "broken"):
                yield NamedArchitecture(f"json:{name}", "nar-sound", "net", "task", "MIT")

        @hookimpl
        def nar_build(name):
            if name == "json:whole":
                return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
            if name == "json:broken":
                from nar_plugin import PluginError

                raise PluginError("half of it is missing")
        """,
    )
    result = CliRunner().invoke(app, ["plugins", "check", "sound"])
    assert "json:whole: 2 ops, traced (meta); net, task, code: MIT" in result.stdout
    assert "json:broken: half of it is missing" in result.stdout
    assert "2 names are listed, 2 were checked" in result.stdout
    assert str(result.exception) == "1 of 2 failed: json:broken."
    result = CliRunner().invoke(app, ["plugins", "check", "absent"])
    assert "There is no plugin absent" in str(result.exception)
