"""Plugins from real distributions: loaded once, broken, disabled."""

import logging
import sys
import threading

import pytest
from plugin_answers import GOOD, answers, info
from torch import nn

from nar_plugin import PluginError, manager
from nar_plugin.hookspecs import Provenance
from nar_plugin.manager import call_each, list_plugins


def test_an_external_plugin_is_listed_and_asked_first(install):
    install("zebra", GOOD)
    assert list_plugins()[0] == manager.PluginInfo(
        name="zebra",
        distribution="nar_test_zebra",
        version="1.2",
        status="active",
        hooks=("nar_architectures", "nar_example_inputs", "nar_provenance"),
        error=None,
    )
    asked = [name for name, _ in call_each("nar_example_inputs", model=nn.ReLU())]
    assert asked[0] == "zebra"


def test_an_object_can_be_the_plugin(install):
    source = """
    class Plugin:
        @hookimpl
        def nar_provenance(self, model):
            return Provenance("object:net", "object")

    plugin = Plugin()
    """
    install("object", source, target=":plugin")
    provenance = answers("nar_provenance", model=nn.ReLU())["object"]
    assert provenance == Provenance("object:net", "object")


def test_loading_again_changes_nothing(install):
    module = install("good", GOOD)
    list_plugins()
    del sys.modules[module]
    list_plugins()
    assert module not in sys.modules


def test_threads_load_once(install):
    module = install("slow", "import time; time.sleep(0.2); LOADED = []\n" + GOOD)
    seen = []

    def look():
        list_plugins()
        seen.append(sys.modules[module])

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert len(set(map(id, seen))) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise OSError('no such driver')", "no such driver"),
        ("import nar_test_no_such_module", "nar_test_no_such_module"),
        ("def broken(:", "SyntaxError"),
        ("@hookimpl\ndef nar_provenence(model): pass", "nar_provenence"),
        ("@hookimpl\ndef nar_provenance(modle): pass", "modle"),
        ("@hookimpl\ndef nar_provenance(model=None): pass", "'model' a default"),
        ("@hookimpl\ndef nar_library(): raise OSError('no name')", "no name"),
        ("@hookimpl\ndef nar_library(): return 3", "expected str"),
    ],
    ids=["raises", "missing", "syntax", "hook", "argument", "default", "library", "type"],
)
def test_a_plugin_that_cannot_be_loaded(install, caplog, source, reason):
    install("bad", source)
    install("good", GOOD)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        list_plugins()
        assert "good" in answers("nar_provenance", model=nn.ReLU())
        assert "bad" not in answers("nar_provenance", model=nn.ReLU())
    (warning,) = (text for text in caplog.messages if "'bad'" in text)
    assert reason in warning
    assert "nar_test_bad 1.2" in warning
    assert "NAR_DISABLE_PLUGINS=bad" in warning
    assert info("bad").status == "failed"
    assert reason in info("bad").error
    assert info("good").status == "active"


def test_strict_raises_what_could_not_be_loaded_every_time(install, monkeypatch):
    install("bad", "raise OSError('no such driver')")
    monkeypatch.setenv("NAR_STRICT", "1")
    for _ in range(2):
        with pytest.raises(PluginError, match=r"'bad' of nar_test_bad 1\.2 .* no such driver"):
            list_plugins()


@pytest.mark.parametrize("value", ["bad", " other , bad,", "*"])
def test_a_disabled_plugin_is_never_imported(install, monkeypatch, caplog, value):
    module = install("bad", "raise OSError('no such driver')")
    install("good", GOOD)
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", value)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        list_plugins()
    assert not caplog.messages
    assert module not in sys.modules
    assert info("bad") == manager.PluginInfo("bad", module, "1.2", "disabled")
    assert info("good").status == ("disabled" if value == "*" else "active")


def test_everything_can_be_disabled(monkeypatch):
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", "*")
    assert {plugin.status for plugin in list_plugins()} == {"disabled"}
    assert answers("nar_example_inputs", model=nn.ReLU()) == {}


def test_a_built_in_plugin_can_be_disabled(monkeypatch):
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", "timm")
    assert info("timm").status == "disabled"
    assert info("torch").status == "active"
