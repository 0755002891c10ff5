"""Example inputs of detectors: mmdet's, and those of the libraries that build on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nar_plugin.hookspecs import ExampleInputs

from .inputs import stated_size

if TYPE_CHECKING:
    from torch import nn


def detector_inputs(model: nn.Module) -> list[ExampleInputs]:
    """An image of the size that the config's test pipeline makes, or of a common size.

    Heads that look at the ground truth have a forward for predictions only.
    """
    import torch
    from mmdet.structures import DetDataSample
    from mmengine.structures import InstanceData

    guesses = []
    stated = stated_size(model, "Resize", "mmdet.Resize", "FixScaleResize") or (800, 1333)
    padded = [tuple(-(-side // 32) * 32 for side in sides) for sides in (stated, (800, 1333))]
    priors = getattr(getattr(model, "bbox_head", None), "prior_generator", None)
    of_anchors = getattr(priors, "input_size", None)  # SSD's, which takes one size alone
    fixed = [(of_anchors, of_anchors)] if isinstance(of_anchors, int) else []
    for size in (*fixed, *padded, (512, 512)):
        names = ("img_shape", "batch_input_shape", "ori_shape", "pad_shape")
        about = {"scale_factor": (1.0, 1.0), "text": "person . car .", "custom_entities": True}
        metainfo = {**about, **dict.fromkeys(names, size)}
        sample = DetDataSample(metainfo=metainfo)
        box = torch.tensor([[10.0, 10.0, 90.0, 200.0]], device="cpu")
        sample.proposals = InstanceData(bboxes=box)
        image = torch.empty(1, 3, *size, device="meta")
        for mode in ("tensor", "predict"):
            guesses.append(ExampleInputs((image, [sample]), {"mode": mode}))
        bare = DetDataSample(metainfo=metainfo)  # its proposals are learned
        guesses.append(ExampleInputs((image, [bare]), {"mode": "predict"}))
        if hasattr(model, "language_model"):  # one phrase for the whole text, and no list of names
            phrase = DetDataSample(metainfo={**metainfo, "tokens_positive": -1})
            guesses.append(ExampleInputs((image, [phrase]), {"mode": "predict"}))
    return guesses
