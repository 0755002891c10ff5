"""A catalogue makes the hooks of a library that lists its models."""

import sys
import types

import pytest
from torch import nn

from nar_plugin import PluginError
from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, Provenance


class Net(nn.Linear):
    """The library's class."""

    __module__ = "zoo.models.nets"

    def __init__(self, width=4):
        super().__init__(width, width)


class Loss(nn.Linear):
    """Of the library, and no model."""

    __module__ = "zoo.losses"


class Mine(Net):
    """A user's own, made of the library's."""


def entries():
    import zoo  # noqa: F401

    return {
        "small": Entry(Net, "net", "image-classification", url="https://zoo.example/small"),
        "large": Entry(lambda: Net(8), "net", "image-classification"),
    }


def unlisted(name):
    return (lambda: Net(int(name))) if name.isdigit() else None


@pytest.fixture
def zoo(monkeypatch):
    monkeypatch.setitem(sys.modules, "zoo", types.ModuleType("zoo"))


def catalogue(**others):
    return Catalogue("zoo", "zoo-models", "MIT", "https://zoo.example", entries, **others)


def test_an_entry_s_own_page_comes_before_the_library_s(zoo):
    small, large = catalogue().nar_architectures()
    assert (small.name, small.library, small.url) == (
        "zoo:small",
        "zoo-models",
        "https://zoo.example/small",
    )
    assert (large.name, large.url) == ("zoo:large", "https://zoo.example")


def test_a_listed_name_is_built_and_another_is_answered_with_the_nearest(zoo):
    assert catalogue().nar_build("zoo:large").in_features == 8
    assert catalogue().nar_build("timm:resnet50") is None
    with pytest.raises(PluginError, match="Did you mean zoo:large"):
        catalogue().nar_build("zoo:larger")


def test_a_name_that_is_not_listed_may_be_built_all_the_same(zoo):
    plugin = catalogue(unlisted=unlisted)
    assert plugin.nar_build("zoo:16").in_features == 16
    with pytest.raises(PluginError, match="zoo has no architecture named 'none'"):
        plugin.nar_build("zoo:none")


def test_without_the_library_nothing_is_listed_and_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zoo", None)
    assert list(catalogue().nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install zoo-models"):
        catalogue().nar_build("zoo:small")


def test_a_subclass_is_the_library_s_and_what_is_no_model_is_not():
    plugin = catalogue(models=("zoo.models",), inputs=lambda model: [ExampleInputs((1,))])
    assert plugin.nar_provenance(Mine()) == Provenance("zoo:Net", "zoo-models")
    assert plugin.nar_example_inputs(Mine()) == [ExampleInputs((1,))]
    assert plugin.nar_provenance(Loss(1, 1)) is None
    assert plugin.nar_example_inputs(Loss(1, 1)) is None
    assert catalogue().nar_provenance(Loss(1, 1)) == Provenance("zoo:Loss", "zoo-models")


def test_a_model_may_say_more_than_its_class():
    def said(model, owner):
        name = f"{owner.__name__.lower()}{model.in_features}"
        return Provenance(f"zoo:{name}", "zoo-models", "zoo/net") if owner is Net else None

    plugin = catalogue(provenance=said)
    assert plugin.nar_provenance(Mine(8)) == Provenance("zoo:net8", "zoo-models", "zoo/net")
    assert plugin.nar_provenance(Loss(1, 1)) is None
    assert plugin.nar_provenance(nn.Linear(1, 1)) is None


def test_inputs_that_are_not_known_are_left_to_the_tracer():
    assert catalogue().nar_example_inputs(Net()) is None
    assert catalogue(inputs=lambda model: None).nar_example_inputs(Net()) is None
