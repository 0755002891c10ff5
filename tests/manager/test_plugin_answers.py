"""Plugins that are asked: their answers, their failures, and which of them are asked."""

import gc
import logging
import sys
import weakref

import pytest
from plugin_answers import GOOD, answers, info
from torch import nn

from nar_plugin import PluginError
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture
from nar_plugin.manager import call_each, list_plugins

FIRST = {"nar_provenance", "nar_example_inputs"}


def test_none_is_no_answer(install):
    install("silent", "@hookimpl\ndef nar_provenance(model): return None")
    assert "silent" not in answers("nar_provenance", model=nn.ReLU())
    assert info("silent").status == "active"


def test_several_answers_come_as_a_tuple(install):
    install("good", GOOD)
    inputs = answers("nar_example_inputs", model=nn.ReLU())["good"]
    assert inputs == (ExampleInputs((1,)), ExampleInputs((2,)))
    architectures = answers("nar_architectures", libraries=())["good"]
    assert architectures == (NamedArchitecture("good:net", "good", "net", "task", "MIT"),)


BROKEN = {
    "call": "@hookimpl\ndef nar_example_inputs(model): raise ValueError('broken')",
    "generator": """
    @hookimpl
    def nar_example_inputs(model):
        yield ExampleInputs((1,))
        raise ValueError('broken')
    """,
    "lazy": """
    @hookimpl
    def nar_example_inputs(model):
        return (ExampleInputs((1 / 0,)) for broken in range(3))
    """,
    "bare": "@hookimpl\ndef nar_example_inputs(model): return ExampleInputs(('broken',))",
    "items": "@hookimpl\ndef nar_example_inputs(model): return ['broken']",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_plugin_that_raises_is_marked_and_the_others_go_on(install, caplog, kind):
    install("bad", BROKEN[kind])
    install("good", GOOD)
    with caplog.at_level(logging.WARNING, "nar_plugin"):
        for _ in range(3):
            given = answers("nar_example_inputs", model=nn.ReLU())
            assert "bad" not in given
            assert len(given["good"]) == 2
    assert len([text for text in caplog.messages if "'bad'" in text]) == 1, "warned once"
    assert "nar_example_inputs" in caplog.text
    assert info("bad").status == "failed"
    assert info("bad").hooks == ("nar_example_inputs",)
    assert info("bad").error


def test_a_plugin_that_failed_once_is_asked_again(install):
    source = """
    @hookimpl
    def nar_provenance(model):
        if model.inplace:
            raise ValueError(f"odd {id(model)}")
        return Provenance("moody:net", "moody")
    """
    install("moody", source)
    assert "moody" not in answers("nar_provenance", model=nn.ReLU(inplace=True))
    assert "moody" in answers("nar_provenance", model=nn.ReLU())
    assert info("moody").status == "failed"


def test_a_failure_does_not_keep_the_model(install):
    install("bad", "@hookimpl\ndef nar_provenance(model): raise ValueError('broken')")
    list_plugins()
    gc.collect()
    gc.disable()
    try:
        model = nn.ReLU()
        answers("nar_provenance", model=model)
        gone = weakref.ref(model)
        del model
        assert gone() is None
    finally:
        gc.enable()


def test_strict_raises_what_a_hook_raised(install, monkeypatch):
    install("bad", BROKEN["generator"])
    list_plugins()
    monkeypatch.setenv("NAR_STRICT", "1")
    with pytest.raises(PluginError, match="nar_example_inputs") as caught:
        answers("nar_example_inputs", model=nn.ReLU())
    assert isinstance(caught.value.__cause__, ValueError)


REFUSING = """
from nar_plugin import PluginError

@hookimpl
def nar_build(name):
    raise PluginError(f"there is no {name}; did you mean mine:net?")
"""


def test_a_refusal_to_build_is_told_when_nobody_else_builds(install, caplog):
    install("bad", REFUSING)
    with pytest.raises(PluginError, match=r"no mine:nett; did you mean mine:net\?"):
        answers("nar_build", name="mine:nett")
    assert info("bad").status == "active"
    assert not [text for text in caplog.messages if "'bad'" in text]
    install("good", "@hookimpl\ndef nar_build(name): return name")
    assert answers("nar_build", name="mine:nett") == {"good": "mine:nett"}


def test_an_error_of_the_one_who_asks_is_not_the_plugin_s(install):
    install("good", GOOD)
    with pytest.raises(ZeroDivisionError):
        for _ in call_each("nar_provenance", model=nn.ReLU()):
            _ = 1 / 0
    assert info("good").status == "active"


def test_stopping_early_asks_no_more(install):
    install("a", GOOD)
    install("b", "ASKED = []\n@hookimpl\ndef nar_provenance(model): ASKED.append(model)")
    next(call_each("nar_provenance", model=nn.ReLU()))
    assert sys.modules["nar_test_b"].ASKED == []


def test_interrupting_is_not_a_failure(install):
    install("long", "@hookimpl\ndef nar_provenance(model): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        answers("nar_provenance", model=nn.ReLU())
    assert info("long").status == "active"


def test_an_unknown_hook_is_nobody_s_failure():
    with pytest.raises(AttributeError, match="nar_nonsense"):
        answers("nar_nonsense")
    assert {plugin.status for plugin in list_plugins()} == {"active"}


def test_only_the_plugins_of_imported_libraries(install):
    library = '@hookimpl\ndef nar_library(): return "{}"\n'
    install("absent", library.format("nar_test_no_such_library") + GOOD)
    install("present", library.format("json") + GOOD)
    install("general", GOOD)
    model = nn.ReLU()
    for hook_name in sorted(FIRST):
        asked = answers(hook_name, only_imported=True, model=model)
        assert {"present", "general"} <= set(asked)
        assert "absent" not in asked
    assert "absent" in answers("nar_architectures", libraries={"nar_test_no_such_library"})
    assert [info(name).installed for name in ("absent", "present", "general")] == [
        False,
        True,
        True,
    ]
    assert answers("nar_library")["absent"] == "nar_test_no_such_library"


def test_only_the_plugins_of_some_libraries(install):
    library = '@hookimpl\ndef nar_library(): return "{}"\n'
    install("other", library.format("nar_test_other") + GOOD)
    install("wanted", library.format("nar_test_wanted") + GOOD)
    install("general", GOOD)
    asked = answers("nar_architectures", libraries={"nar_test_wanted"})
    assert {"wanted", "general"} <= set(asked)
    assert "other" not in asked
