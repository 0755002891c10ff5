"""What ultralytics' plugin reads from ultralytics' models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import ultralytics as plugin
from nar_plugin.hooks.ultralytics import configurations

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("ultralytics")
from ultralytics.nn import tasks


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("yolov8n", "yolov8", "object-detection"),
        ("yolo11x-seg", "yolo11", "image-segmentation"),
        ("yolov8s-cls", "yolov8", "image-classification"),
        ("yolov8m-pose-p6", "yolov8", "keypoint-detection"),
        ("yolov10b", "yolov10", "object-detection"),
        ("rtdetr-l", "rt_detr", "object-detection"),
        ("yolov8n-rtdetr", "rt_detr", "object-detection"),
        ("yolov8n-world", "yolov8", "zero-shot-object-detection"),
        ("yoloe-11s-seg", "yoloe", "image-segmentation"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"ultralytics:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "AGPL-3.0-or-later")


# The counts stand as comments in the configuration files.
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("yolov8n", 3157200), ("yolov8s", 11166560), ("yolo11n-pose", 2908507)],
)
def test_a_model_is_built_without_weights_and_traced(name: str, parameters: int) -> None:
    model = built(lambda: plugin.nar_build(f"ultralytics:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    graph = trace(model)
    assert (graph.method, graph.params) == ("meta", parameters)


@pytest.mark.parametrize(
    "name", ["yolov8n-world", "yoloe-11s-seg", "rtdetr-l", "yolo11-cls-resnet18"]
)
def test_every_kind_of_head_is_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"ultralytics:{name}"))
    assert model is not None
    assert trace(model).method == "meta"


def test_strides_are_the_real_ones() -> None:
    model = built(lambda: plugin.nar_build("ultralytics:yolov8n"))
    assert model is not None
    assert model.stride.tolist() == [8.0, 16.0, 32.0]  # type: ignore[union-attr, operator]


def test_building_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    built(lambda: plugin.nar_build("ultralytics:yolov8n-cls"))
    assert capfd.readouterr().out == ""


def test_other_channels_and_classes() -> None:
    model = tasks.DetectionModel("yolov8n.yaml", ch=1, nc=3, verbose=False)
    guesses = plugin.nar_example_inputs(model)
    assert guesses is not None
    assert guesses[0].args[0].shape == (1, 1, 640, 640)
    assert trace(model).method == "meta"


def test_provenance_builds_the_model_again() -> None:
    model = built(lambda: plugin.nar_build("ultralytics:yolov8s-seg"))
    assert model is not None
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == "ultralytics:yolov8s-seg"


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="ultralytics:yolov8n"):
        plugin.nar_build("ultralytics:yolo8n")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    configurations.configurations.cache_clear()
    monkeypatch.setitem(sys.modules, "ultralytics.nn", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install ultralytics"):
        plugin.nar_build("ultralytics:yolov8n")
