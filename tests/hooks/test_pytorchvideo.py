"""What pytorchvideo's plugin builds."""

import pytest
import torch
from nar_plugin.hooks import pytorchvideo as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("pytorchvideo")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 19
    found = listed["pytorchvideo:slow_r50"]
    assert (found.family, found.task) == ("resnet", "video-classification")


@pytest.mark.parametrize(
    ("name", "giga"),  # multiply-adds, of the same page
    [("slow_r50", 54.52), ("slowfast_r50", 65.71), ("i3d_r50", 37.53), ("x3d_s", 2.96)],
)
def test_flops_are_of_the_published_clip(name: str, giga: float):
    graph = trace(resolve(f"pytorchvideo:{name}"))
    assert graph.flops / 2e9 == pytest.approx(giga, rel=0.1)


@pytest.mark.parametrize(
    ("name", "millions"),  # https://pytorchvideo.readthedocs.io/en/latest/model_zoo.html
    [("slow_r50", 32.45), ("x3d_m", 3.79), ("mvit_base_16x4", 36.61)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"pytorchvideo:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.01)


@pytest.mark.parametrize("name", ["csn_r101", "r2plus1d_r50", "slowfast_r50", "x3d_m", "x3d_s"])
def test_a_model_in_hand_is_the_one_that_is_named(name: str):
    from pytorchvideo.models import hub

    with torch.device("meta"):
        in_hand = getattr(hub, name)()
    assert trace(in_hand).fingerprint == trace(resolve(f"pytorchvideo:{name}")).fingerprint
