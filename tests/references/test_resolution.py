import sys

import pytest
from torch import nn

from nar_plugin import manager
from nar_plugin.errors import NarError, UnknownReference
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import explained, resolve


@pytest.fixture
def library(monkeypatch):
    """A model library `toy` with three architectures, and `other`, which shares a name."""

    def call_each(hook_name, **kwargs):
        if hook_name == "nar_library":
            yield from (("toy", "toy"), ("other", "other"))
        elif hook_name == "nar_architectures":
            for name, architectures in (
                ("toy", ("net18", "net50", "vit_b")),
                ("other", ("net50",)),
            ):
                yield (
                    name,
                    tuple(
                        NamedArchitecture(f"{name}:{each}", name, "net", "task", "MIT")
                        for each in architectures
                    ),
                )
        elif hook_name == "nar_build" and kwargs["name"] == "toy:net18":
            yield "toy", nn.Sequential()

    monkeypatch.setattr(manager, "call_each", call_each)


def test_a_plugin_builds(library):
    assert isinstance(resolve("toy:net18"), nn.Sequential)


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ("toy:net51", "did you mean toy:net50 or toy:net18?"),
        ("net50", "expected timm:resnet50"),
        ("owner/name", "write hub:owner/name"),
        ("owner/name@v1", "write hub:owner/name@v1"),
        ("nets.Net", "for what a module defines write nets:Net"),
        ("nets.py:Net", "for what a module defines write nets:Net"),
        ("net50.a1_in1k", "expected timm:resnet50"),
        ("no such thing", "expected timm:resnet50"),
        ("x" * 5000, "expected timm:resnet50"),
        ("", "expected timm:resnet50"),
        ("toy:", "expected timm:resnet50"),
        ("toy:zzzz", "toy has no architecture zzzz"),
    ],
)
def test_what_it_does_not_know_it_explains(library, reference, hint, tmp_path, monkeypatch):
    (tmp_path / "nets.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NarError) as raised:
        resolve(reference)
    assert hint in str(raised.value)


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ("net50", "'net50' is not a model reference; did you mean toy:net50 or other:net50?"),
        ("VIT_B", "did you mean toy:vit_b?"),
        ("no such thing", "expected timm:resnet50"),
        ("", "expected timm:resnet50"),
    ],
)
def test_names_that_are_known_elsewhere_come_near(library, reference, hint):
    with pytest.raises(UnknownReference) as raised:
        resolve(reference)
    known = ["toy:net18", "toy:net50", "other:net50", "toy:vit_b"]
    assert hint in str(explained(raised.value, known))


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(NarError, match=r"not installed: pip install 'nar-plugin\[timm\]'"):
        resolve("timm:resnet50")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (
            "mmagic:cyclegan",
            "is known: mmagic is not installed, and of its 2 names in the index these",
        ),
        ("mmagic:cyclegan", "come near: mmagic:stylegan2_256x256"),
        ("mmagic:zzzz", "of its 2 names in the index none comes near"),
        ("mmagic:esrgan", "not installed. Run: pip install mmagic"),  # the index knows it
        ("ptlflow:raft", "not installed. Run: pip install ptlflow"),  # knows none of the library
    ],
)
def test_a_name_of_a_missing_library_that_no_index_knows(monkeypatch, reference, said):
    for library in ("mmagic", "ptlflow"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnknownReference) as raised:
        resolve(reference)
    known = ["mmagic:stylegan2_256x256", "mmagic:esrgan", "timm:resnet50"]
    assert said in str(explained(raised.value, known))


def test_a_broken_library_says_why(monkeypatch):
    def broken(name):
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr("nar_plugin.references.installation.import_module", broken)
    with pytest.raises(NarError, match="import failed: RuntimeError: operator torchvision::nms"):
        resolve("torchvision:resnet18")


@pytest.fixture
def fresh_plugins():
    manager.reset()
    yield
    manager.reset()


def test_a_disabled_plugin_is_named(fresh_plugins, monkeypatch):
    monkeypatch.setenv("NAR_DISABLE_PLUGINS", "timm")
    with pytest.raises(NarError, match="which NAR_DISABLE_PLUGINS turns off"):
        resolve("timm:resnet18")


def test_a_library_that_every_plugin_failed_is_not_imported_as_code(monkeypatch):
    monkeypatch.setattr(manager, "call_each", lambda hook_name, **_: iter(()))
    with pytest.raises(NarError, match="timm has no architecture create_model"):
        resolve("timm:create_model")


@pytest.mark.parametrize("reference", ["timm:resnet18", "torchvision:resnet18"])
def test_real_libraries_build_without_weights(reference):
    pytest.importorskip(reference.partition(":")[0])
    model = resolve(reference)
    assert sum(parameter.numel() for parameter in model.parameters()) == 11_689_512
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}


def test_transformers_builds_by_type_and_by_class():
    pytest.importorskip("transformers")
    assert type(resolve("transformers:bert")).__name__ == "BertModel"
    assert type(resolve("transformers:bert/BertForMaskedLM")).__name__ == "BertForMaskedLM"


def test_an_unknown_name_of_a_real_library_gets_the_nearest():
    pytest.importorskip("timm")
    with pytest.raises(NarError, match="timm:resnet50"):
        resolve("timm:resnet500")
    assert "timm" in sys.modules
