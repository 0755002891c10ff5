import json

import pytest

from nar_plugin import manager
from nar_plugin.manager import PluginInfo


def test_trace(nar, api):
    assert "2 ops, 1 edges" in nar("trace", "my:net").stdout
    printed = json.loads(nar("trace", "my:net", "--json").stdout)
    assert printed["name"] == "my:net"
    assert [op["kind"] for op in printed["ops"]] == ["conv", "relu"]


def test_motifs(nar, api):
    assert "Block" in nar("motifs", "my:net").stdout
    printed = json.loads(nar("motifs", "my:net", "--json").stdout)
    assert printed["method"] == "meta"
    assert printed["motifs"] == [{"shape": "shape", "label": "Block", "count": 2, "ops": 2}]


def test_compare(nar, api):
    assert "likeness 0.750" in nar("compare", "my:net", "my:other").stdout
    assert json.loads(nar("compare", "a:b", "c:d", "--json").stdout)["likeness"] == 0.75
    assert nar("compare", "my:net").exit_code == 2


def test_draw(nar, api, tmp_path):
    assert nar("draw", "my:net").stdout.startswith("<svg")
    file = tmp_path / "net.html"
    assert nar("draw", "my:net", "-o", str(file)).stdout.strip() == str(file)
    assert "<details" in file.read_text()
    assert "graphs of both" in str(nar("draw", "my:net", "my:other").exception)


def test_dedupe(nar, api):
    assert "1 model, 1 design" in nar("dedupe", "my:net").stdout
    assert json.loads(nar("dedupe", "my:net", "--json").stdout)["first"] == [0]
    assert nar("dedupe").exit_code == 2


def test_map(nar, api, tmp_path):
    class FakeMap:
        def save(self, path):
            return path

    api.design_map = lambda models: setattr(api, "asked", models) or FakeMap()
    shown = nar("map", "my:net", "my:other", "-o", str(tmp_path / "my.html"))
    assert shown.stdout.strip() == str(tmp_path / "my.html")
    assert api.asked == ["my:net", "my:other"]
    assert nar("map").stdout.strip() == "map.html"
    assert api.asked == []


def test_index_info(nar, api):
    text = nar("index", "info").stdout
    assert "1,461" in text
    assert "resnet 1,120" in text
    assert "29 more" in text
    printed = json.loads(nar("index", "info", "--json", "--index", "folder").stdout)
    assert len(printed["families"]) == 41
    assert api.asked_index == ("folder", None)


def test_plugins(nar, monkeypatch):
    found = (
        PluginInfo("toy", "nar-toy", "2.0", hooks=("nar_build",)),
        PluginInfo("far", "nar-far", "3.0", installed=False),
        PluginInfo("off", None, None, "disabled"),
        PluginInfo("bad", "nar-bad", "1.0", "failed", error="ValueError: [red]\x1b[2Joops"),
        PluginInfo("ours", "nar-plugin", "0.1.0", hooks=("nar_build", "nar_library")),
        PluginInfo("absent", "nar-plugin", "0.1.0", installed=False),
    )
    monkeypatch.setattr(manager, "list_plugins", lambda: found)
    text = nar("plugins").stdout
    for fact in (
        "nar-toy 2.0",
        "nar_build",
        "installed",
        "index only",
        "disabled",
        "failed",
        "ValueError: [red]oops",
        "no hook found",
        "built in, library installed        ours",
        "built in, answered from the index  absent",
    ):
        assert fact in text
    assert "nar_library" not in text  # of the built-in ones, names alone
    assert "\x1b" not in text
    assert [plugin["status"] for plugin in json.loads(nar("plugins", "--json").stdout)] == [
        "active",
        "active",
        "disabled",
        "failed",
        "active",
        "active",
    ]


def test_a_plugin_is_checked_by_building_and_tracing(nar):
    pytest.importorskip("torchvision")
    checked = json.loads(nar("plugins", "check", "torchvision", "-n", "2", "--json").stdout)
    assert (checked["plugin"], len(checked["checked"])) == ("torchvision", 2)
    for one in checked["checked"]:
        assert (one["method"], one["error"]) == ("meta", "")
        assert one["family"] and one["task"] and one["licence"] == "BSD-3-Clause"


def test_version(nar):
    assert nar("--version").stdout.strip() == "0.1.0"
