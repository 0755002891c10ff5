"""mmocr: OpenMMLab's text detectors, text recognisers and extractors of key information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.inputs import stated_size, stated_step

if TYPE_CHECKING:
    from torch import nn


def _task(path: str, model: dict[str, Any]) -> str:
    return {"textdet": "object-detection", "textrecog": "image-to-text"}.get(
        path.partition("/")[0], "document-question-answering"
    )


def _line_sizes(model: nn.Module) -> list[tuple[int, int]]:
    """Height and width of a line of text, where the config's test pipeline states both."""
    height = (stated_step(model, "RescaleToHeight") or {}).get("height")
    width = (stated_step(model, "PadToWidth") or {}).get("width")
    stated = (height, width) if height and width else stated_size(model, "Resize")
    return [stated] if stated else []


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch
    from mmocr.structures import TextRecogDataSample

    if "textrecog" in type(model).__module__:
        sizes = [*_line_sizes(model), (32, 100), (48, 160), (64, 256)]
    else:
        sizes = [stated_size(model, "Resize") or (640, 640), (640, 640)]
    sample = TextRecogDataSample(metainfo={"valid_ratio": 1.0})
    return [
        ExampleInputs((torch.empty(1, channels, *size, device="meta"), [sample]))
        for size in sizes
        for channels in (3, 1)
    ]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmocr",
        distribution="mmocr",
        task=_task,
        part="",
        inputs=_inputs,
    )
).hooks()
