"""What yolov5's plugin lists and builds."""

import pytest
from nar_plugin.hooks import yolov5 as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("yolov5")


def test_lists_every_file_but_the_anchors():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 28
    assert listed["yolov5:yolov5s-seg"].task == "image-segmentation"
    assert listed["yolov5:yolov3-tiny"].family == "yolov3"
    assert "yolov5:anchors" not in listed


@pytest.mark.parametrize(
    ("name", "millions"),  # of the tables of checkpoints in the repository's README
    [("yolov5n", 1.9), ("yolov5s", 7.2), ("yolov5s6", 12.6), ("yolov5s-seg", 7.6)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"yolov5:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.05)
