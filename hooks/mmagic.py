"""mmagic: OpenMMLab's restorers, generators, inpainters and matting models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy

from nar_plugin.catalogue import Entry
from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, _imported, catalogue

_VIDEO = "basicvsr basicvsr_pp edvr iconvsr real_basicvsr tdan tof cain flavr".split()
_UNCONDITIONAL = (
    "dcgan lsgan wgan-gp ggan pggan styleganv1 styleganv2 styleganv3 singan sngan_proj sagan "
    "biggan positional_encoding_in_gans eg3d draggan"
).split()
_TEXT = (
    "stable_diffusion stable_diffusion_xl controlnet controlnet_animation dreambooth "
    "disco_diffusion textual_inversion animatediff fastcomposer vico diffusers_pipeline"
).split()
# Generators of their own design under another's model.
_OF_THEIR_OWN = (
    "BasicVSRPlusPlusNet",
    "GLEANStyleGANv2",
    "IconVSRNet",
    "SNGANGenerator",
    "TOFlowVSRNet",
)


def _task(path: str, model: dict[str, Any]) -> str:
    editor = path.split("/")[0]
    if editor in _VIDEO:
        return "video-to-video"
    if editor in _UNCONDITIONAL or editor == "guided_diffusion":
        return "unconditional-image-generation"
    return "text-to-image" if editor in _TEXT else "image-to-image"


def _design(model: dict[str, Any]) -> str | None:
    """The generator, where the model is but what trains it."""
    generator: str | None = (model.get("generator") or {}).get("type")
    general = model["type"] in ("BaseEditModel", "BasicInterpolator")
    return generator if general or generator in _OF_THEIR_OWN else None


def _inputs(model: Any) -> list[ExampleInputs]:
    """Images, frames, references with their images, masked images, or noise."""
    import torch

    def images(*shape: int) -> torch.Tensor:
        return torch.empty(shape, device="meta")

    small, large, clip = images(1, 3, 64, 64), images(1, 3, 256, 256), images(1, 5, 3, 64, 64)
    domain = getattr(model, "_default_domain", None)
    if domain is not None:  # a translator calls the generator of one domain
        return [ExampleInputs((large,), {"target_domain": domain})]
    tensor = {"mode": "tensor"}
    noise = getattr(model, "noise_size", None)
    guesses = [
        ExampleInputs((item,), tensor)
        for item in (small, clip, large, images(1, 7, 3, 64, 64), images(1, 2, 3, 64, 64))
    ]
    guesses += [ExampleInputs((images(1, width, 512, 512),), tensor) for width in (4, 6, 1)]
    guesses += [ExampleInputs((images(1, 4, 3, 256, 256),), tensor)]
    if getattr(model, "with_gan", None) is not None:  # inpainters have holes
        from mmagic.structures import DataSample

        hole = DataSample(mask=images(1, 1, 256, 256))
        guesses.insert(0, ExampleInputs((large, hole), tensor))
    if isinstance(noise, int):
        guesses.insert(0, ExampleInputs((images(2, noise),), batch=2))
    return guesses


_LIBRARY = Library(
    package="mmagic",
    distribution="mmagic",
    task=_task,
    part="",
    inputs=_inputs,
    imports=("models",),
    design=_design,
)


def _entries() -> Mapping[str, Entry]:
    """The configs, after the import of mmagic, which asks numpy for a name of numpy 1."""
    found: Mapping[str, Entry] = catalogue(_LIBRARY).entries()
    with mock.patch.object(numpy, "bool8", numpy.bool_, create=True), _imported(_LIBRARY):
        return found


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = replace(
    catalogue(_LIBRARY), entries=_entries
).hooks()
