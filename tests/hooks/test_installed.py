"""What every plugin says of its library, builds and traces: `installed.toml`, by library.

A library that is not installed is skipped, and none is imported before a test asks for it.
"""

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from torch import nn

from nar_plugin.errors import PluginError
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

TABLE = tomllib.loads((Path(__file__).parent / "installed.toml").read_text("utf-8"))


def of_every_library(*keys, quick=None):
    """Parametrize by library and by each name that its row has under these keys.

    Those after the first `quick` of a library are slow.
    """
    cases = []
    for library, row in TABLE.items():
        names = [name for key in keys for name in row.get(key, ())]
        for number, name in enumerate(names):
            marks = () if quick is None or number < quick else pytest.mark.slow
            cases.append(pytest.param(library, name, id=f"{library}-{name}", marks=marks))
    return pytest.mark.parametrize(("library", "name"), cases)


@pytest.fixture
def row(library):
    return {"distribution": library} | TABLE[library]


@pytest.fixture
def plugin(library, installed):
    installed(library)
    return import_module(f"nar_plugin.hooks.{library}")


@of_every_library("named")
def test_family_task_and_licence(library, name, row, listed):
    item = listed(library)[name]
    expected = {"licence": row["licence"], "library": row["distribution"], **row["named"][name]}
    assert {key: getattr(item, key) for key in expected} == expected


@of_every_library("traced", "params", "millions", quick=1)
def test_a_model_is_built_without_weights_and_traced(library, name, row, plugin):
    model = resolve(f"{library}:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    graph = trace(model)
    assert (graph.method, len(graph) > 0) == ("meta", True)
    assert graph.params == sum(parameter.numel() for parameter in model.parameters())
    assert graph.params == row.get("params", {}).get(name, graph.params)
    if millions := row.get("millions", {}).get(name):
        assert graph.params / 1e6 == pytest.approx(millions, abs=row["tolerance"])


@of_every_library("provenance")
def test_a_model_says_what_it_is(library, name, row, plugin):
    model = resolve(f"{library}:{name}")
    said, expected = plugin.nar_provenance(model), row["provenance"][name]
    assert said.name == f"{library}:{expected['name']}"
    assert (said.library, said.hub_id) == (row["distribution"], expected.get("hub_id"))
    if expected["name"] != type(model).__name__:  # a class alone need not be a name
        assert type(resolve(said.name)) is type(model)


@pytest.mark.parametrize("library", TABLE)
def test_other_models_are_left_to_other_plugins(library, plugin):
    plain = nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build(f"{'torchvision' if library == 'timm' else 'timm'}:resnet18") is None


@of_every_library("nearest")
def test_an_unknown_name_is_answered_with_the_nearest(library, name, row, plugin):
    near = re.escape(f"{library}:{row['nearest'][name]}")  # the first of at most three
    with pytest.raises(PluginError, match=rf"(Did you mean|A name looks like) {near}(, |\?|\.$)"):
        plugin.nar_build(f"{library}:{name}")


@pytest.mark.parametrize("library", TABLE)
def test_without_the_library(library, row, plugin, monkeypatch):
    modules = [name for name in sys.modules if f"{name}.".startswith(f"{library}.")]
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)
    assert list(plugin.nar_architectures()) == []
    command = f"pip install {row.get('install', row['distribution'])}"
    with pytest.raises(PluginError, match=f"{re.escape(command)}$"):
        plugin.nar_build(f"{library}:{next(iter(row['named']))}")


@pytest.mark.slow
@pytest.mark.parametrize("library", [name for name, row in TABLE.items() if "sample" in row])
def test_a_sample_is_traced(library, row, listed):  # all of it: `nar dev bench coverage`
    names = list(listed(library))[:: row["sample"]["every"]]
    refused, traced = {}, []
    for name in names:
        try:
            model = resolve(f"{library}:{name}")
        except Exception as error:
            refused[name] = str(error)
            continue
        if trace(model).method == "meta":
            traced.append(name)
    built = len(names) - len(refused)
    assert built >= row["sample"].get("built", 1) * len(names), refused
    missed = set(names) - set(refused) - set(traced)
    assert len(traced) >= row["sample"].get("traced", 1) * built, missed
