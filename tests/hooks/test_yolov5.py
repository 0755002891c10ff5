"""What yolov5's plugin lists and builds."""

import pytest
from nar_plugin.hooks import yolov5 as plugin

pytest.importorskip("yolov5")


def test_lists_every_file_but_the_anchors():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 28
    assert listed["yolov5:yolov5s-seg"].task == "image-segmentation"
    assert listed["yolov5:yolov3-tiny"].family == "yolov3"
    assert "yolov5:anchors" not in listed
