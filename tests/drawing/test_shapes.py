"""Shapes of torchvision-like designs, as the papers print them."""

import pytest
import timm
import torch

import nar_plugin
from nar_plugin.drawing.shapes import shapes_of, work_of


@pytest.fixture(scope="module")
def resnet():
    with torch.device("meta"):
        return nar_plugin.trace(timm.create_model("resnet18"))


def test_resolutions_are_those_of_the_paper(resnet):
    """He et al. 2015, table 1: 56, 28, 14 and 7 pixels of 224."""
    shapes = dict(zip(resnet.paths, map(str, shapes_of(resnet)), strict=True))
    assert [shapes[f"layer{n}.1"] for n in (1, 2, 3, 4)] == [
        "64 · 1/4", "128 · 1/8", "256 · 1/16", "512 · 1/32",
    ]  # fmt: skip
    assert shapes["fc"] == "1,000"


def test_work_is_near_what_torch_counts(resnet):
    """Each stage of a ResNet-18 costs about a quarter, the stem 118 of 1,814 million products."""
    work = work_of(resnet, shapes_of(resnet))
    assert sum(work) == pytest.approx(1)
    assert work[0] == pytest.approx(118 / 1_814, abs=0.005)
    stages = [
        sum(part for part, path in zip(work, resnet.paths, strict=True) if path.startswith(stage))
        for stage in ("layer1", "layer2", "layer3", "layer4")
    ]
    assert all(0.2 < stage < 0.27 for stage in stages)
