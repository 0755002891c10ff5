"""What ultralytics' plugin reads from ultralytics' models, and how it builds them."""

import pytest
from nar_plugin.hooks import ultralytics as plugin

from nar_plugin.references import resolve
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def library(installed):
    return installed("ultralytics")


def test_strides_are_the_real_ones():
    assert resolve("ultralytics:yolov8n").stride.tolist() == [8.0, 16.0, 32.0]


def test_building_prints_nothing(capfd):
    built(lambda: plugin.nar_build("ultralytics:yolov8n-cls"))
    assert capfd.readouterr().out == ""


def test_other_channels_and_classes():
    from ultralytics.nn import tasks

    model = tasks.DetectionModel("yolov8n.yaml", ch=1, nc=3, verbose=False)
    assert plugin.nar_example_inputs(model)[0].args[0].shape == (1, 1, 640, 640)
    assert trace(model).method == "meta"
