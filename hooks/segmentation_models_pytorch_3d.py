"""segmentation_models_pytorch_3d: a decoder over an encoder, for volumes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

# Modules whose encoders take the strides that every decoder hands on, and are three-dimensional.
_STRIDED = "densenet dpn efficientnet mix_transformer mobileone resnet vgg".split()
_POOLING = ("densenet", "mix_transformer", "vgg")  # cannot be dilated
_REFUSED = {  # decoder to the modules of the encoders that it does not take
    **dict.fromkeys(("DeepLabV3", "DeepLabV3Plus", "PAN"), _POOLING),
    **dict.fromkeys(("Linknet", "UnetPlusPlus"), ("mix_transformer",)),
}


def _entries() -> Mapping[str, Entry]:
    import segmentation_models_pytorch_3d as smp

    decoders = [name for name, item in vars(smp).items() if isinstance(item, type)]
    encoders = {
        name: item["encoder"].__module__.rpartition(".")[2]
        for name, item in smp.encoders.encoders.items()
    }
    found: dict[str, Entry] = {}
    for decoder, (encoder, module) in product(decoders, encoders.items()):
        if module not in _STRIDED or module in _REFUSED.get(decoder, ()):
            continue
        build = partial(smp.create_model, decoder, encoder, encoder_weights=None)
        method = decoder.lower()
        default = encoder == "resnet34"  # of all nine decoders
        name = f"{decoder.lower()}/{encoder}"
        found[name] = Entry(build, method, "image-segmentation", composed=not default)
    return found


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, *[side] * 3, device="meta"),)) for side in (96, 128)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="segmentation_models_pytorch_3d",
    distribution="segmentation-models-pytorch-3d",
    licence="MIT",
    url="https://github.com/ZFTurbo/segmentation_models_pytorch_3d",
    entries=_entries,
    inputs=_inputs,
).hooks()
