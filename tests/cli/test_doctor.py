import json
import platform
import sys

import pytest

from nar_plugin import manager
from nar_plugin.cli import diagnosis
from nar_plugin.manager import PluginInfo


def doctor(nar, *words):
    return json.loads(nar("doctor", *words, "--json").stdout)


def test_versions_and_index(nar, api):
    found = doctor(nar)
    assert found["versions"]["python"].startswith(platform.python_version())
    assert found["versions"]["torch"]
    assert found["index"]["graphs"] == 1203
    assert "trace" not in found
    plugins = found["plugins"]
    assert "torch" in plugins["active"]
    assert set(plugins) <= {"active", "index only", "disabled"}
    assert "torch" in nar("doctor").stdout


def test_a_failed_plugin_says_why_beside_the_others(nar, api, monkeypatch):
    found = (
        PluginInfo("toy", "nar-toy", "2.0"),
        PluginInfo("far", "nar-far", "3.0", installed=False),
        PluginInfo("bad", "nar-bad", "1.0", "failed", error="ValueError: oops"),
        PluginInfo("off", None, None, "disabled"),
    )
    monkeypatch.setattr(manager, "list_plugins", lambda: found)
    assert doctor(nar)["plugins"] == {
        "active": ["toy"],
        "index only": ["far"],
        "bad": "failed: ValueError: oops",
        "disabled": ["off"],
    }


def test_a_model(nar, api):
    trace = doctor(nar, "my:net")["trace"]
    assert (trace["method"], trace["ops"]) == ("meta", 2)
    assert trace["seconds"] >= 0


def test_a_broken_part_does_not_hide_the_others(nar, api):
    def broken(*_, **__):
        raise ValueError("out of order")

    api.load_index = api.trace = broken
    result = nar("doctor", "my:net", "--json")
    found = json.loads(result.stdout)
    assert found["index"] == found["trace"] == {"error": "ValueError: out of order"}
    assert found["versions"]["torch"]
    assert result.exit_code == 1
    assert nar("doctor").exit_code == 0


@pytest.mark.parametrize(
    ("machine", "keep", "remove"),
    [("x86_64", "faiss-gpu", "faiss-cpu"), ("arm64", "faiss-cpu", "faiss-gpu")],
)
def test_both_faiss_wheels_installed(monkeypatch, machine, keep, remove):
    owners = {"faiss": ["faiss-gpu", "faiss-cpu", "faiss-gpu"]}
    monkeypatch.setattr(diagnosis.metadata, "packages_distributions", lambda: owners)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    remedy = diagnosis.faiss()["remedy"]
    assert f"pip uninstall {remove}, then" in remedy
    assert remedy.endswith(f"--no-deps {keep}")


def test_one_faiss_wheel_needs_no_remedy(monkeypatch):
    monkeypatch.setattr(diagnosis.metadata, "packages_distributions", lambda: {"faiss": ["faiss"]})
    assert "remedy" not in diagnosis.faiss()


def test_no_faiss(monkeypatch):
    monkeypatch.setattr(diagnosis.metadata, "packages_distributions", dict)
    monkeypatch.setitem(sys.modules, "faiss", None)
    found = diagnosis.faiss()
    assert "nar-plugin[faiss]" in found["installed"]
    assert "error" not in found
