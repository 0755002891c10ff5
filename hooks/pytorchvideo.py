"""pytorchvideo: recognition of what happens in a clip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


# Frames (of a SlowFast's fast pathway) and pixels at which the model zoo's page counts FLOPs.
_CLIPS = {
    "c2d_r50": (8, 256), "csn_r101": (32, 256), "efficient_x3d_s": (13, 182),
    "efficient_x3d_xs": (4, 182), "i3d_r50": (8, 256), "r2plus1d_r50": (16, 256),
    "slow_r50": (8, 256), "slow_r50_detection": (4, 256), "slowfast_16x8_r101_50_50": (64, 256),
    "slowfast_r101": (32, 256), "slowfast_r50": (32, 256), "slowfast_r50_detection": (32, 224),
    "x3d_l": (16, 356), "x3d_m": (16, 256), "x3d_s": (13, 182), "x3d_xs": (4, 182),
}  # fmt: skip


def _entries() -> Mapping[str, Entry]:
    import inspect

    from pytorchvideo.models import hub

    return {
        name: Entry(
            build=partial(_built, name, builder),
            family=str(builder.__module__).rpartition(".")[2],
            task="object-detection" if name.endswith("detection") else "video-classification",
        )
        for name, builder in vars(hub).items()
        if inspect.isfunction(builder)
    }


def _built(name: str, builder: Callable[[], nn.Module]) -> nn.Module:
    """The model, which says its frames and pixels in `clip_size` where they are published."""
    model = builder()
    if name in _CLIPS:
        model.__dict__["clip_size"] = _CLIPS[name]
    return model


def _inputs(model: nn.Module) -> Iterator[ExampleInputs]:
    import torch

    boxes = torch.tensor([[0.0, 10.0, 10.0, 100.0, 100.0]])
    # A head's pooling leaves four places at 256 pixels and one at 224: another graph. So a model in
    # hand is given what one that is named is given.
    stated = model.__dict__.get("clip_size", (16, 256))
    for frames, side in (stated, (16, 256), (32, 256), (64, 256), (16, 356), (16, 224), (8, 224)):
        slow, fast = (
            torch.empty(1, 3, count, side, side, device="meta") for count in (frames // 4, frames)
        )
        for clip in (fast, [slow, fast]):
            yield ExampleInputs((clip,))
            yield ExampleInputs((clip, boxes))


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pytorchvideo",
    distribution="pytorchvideo",
    licence="Apache-2.0",
    url="https://pytorchvideo.readthedocs.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
