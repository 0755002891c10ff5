"""pytorchvideo: recognition of what happens in a clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nar_plugin.hooks._catalogue import Catalogue, Entry

from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    import inspect

    from pytorchvideo.models import hub

    return {
        name: Entry(
            build=builder,
            family=builder.__module__.rpartition(".")[2],
            task="object-detection" if name.endswith("detection") else "video-classification",
        )
        for name, builder in vars(hub).items()
        if inspect.isfunction(builder)
    }


def _inputs(model: nn.Module) -> Iterator[ExampleInputs]:
    import torch

    boxes = torch.tensor([[0.0, 10.0, 10.0, 100.0, 100.0]])
    sizes = ((16, 224), (8, 224), (32, 224), (16, 312), (13, 182), (4, 182))
    clips = {size: torch.empty(1, 3, size[0], size[1], size[1], device="meta") for size in sizes}
    pathways = [clips[8, 224], clips[32, 224]]
    for one in (*clips.values(), pathways):
        yield ExampleInputs((one,))
        yield ExampleInputs((one, boxes))


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pytorchvideo",
    distribution="pytorchvideo",
    licence="Apache-2.0",
    url="https://pytorchvideo.readthedocs.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
