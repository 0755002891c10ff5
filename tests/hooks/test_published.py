"""What a library publishes is what its plugin lists, builds and traces: `published.toml`.

A library that is not installed is skipped. `make hooks` runs these tests in environments that have
the libraries.
"""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from nar_plugin.hooks._shared.expressions import evaluate

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

TABLE = tomllib.loads((Path(__file__).parent / "published.toml").read_text("utf-8"))
SIZES = [
    pytest.param(library, kind, name, number, id=f"{library}-{kind}-{name}")
    for library, row in TABLE.items()
    for kind in ("params", "millions", "giga")
    for name, number in row.get(kind, {}).items()
]


@pytest.mark.parametrize("library", [name for name, row in TABLE.items() if "listed" in row])
def test_a_plugin_lists_what_the_library_publishes(library):
    pytest.importorskip(library)
    plugin = import_module(f"nar_plugin.hooks.{library}")
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= TABLE[library]["listed"]
    for name, expected in TABLE[library].get("named", {}).items():
        item = listed[f"{library}:{name}"]
        assert {key: getattr(item, key) for key in expected} == expected


@pytest.mark.parametrize(("library", "kind", "name", "number"), SIZES)
def test_a_traced_model_has_the_published_size(library, kind, name, number):
    pytest.importorskip(library)
    graph = trace(resolve(f"{library}:{name}"))
    assert graph.method == "meta"
    counted = {"params": graph.params, "millions": graph.params / 1e6, "giga": graph.flops / 2e9}
    if kind == "params":
        assert counted[kind] == (evaluate(number, {}) if isinstance(number, str) else number)
    else:
        assert counted[kind] == pytest.approx(number, **TABLE[library]["tolerance"][kind])
