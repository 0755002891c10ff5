"""Decoders and encoders of segmentation_models_pytorch, and which pairs stand for them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product


def decoders() -> list[str]:
    """Names that `create_model` takes, such as `unet`."""
    import segmentation_models_pytorch as smp

    return sorted(smp.MODEL_ARCHITECTURES_MAPPING)


def encoders() -> list[str]:
    """Encoders that the library brings itself, such as `resnet34`; timm's come as `tu-...`."""
    import segmentation_models_pytorch as smp

    names: list[str] = smp.encoders.get_encoder_names()
    return names


def default_encoder(decoder: str) -> str:
    """The encoder that a decoder gets when none is named."""
    import inspect

    import segmentation_models_pytorch as smp

    owner = smp.MODEL_ARCHITECTURES_MAPPING[decoder]
    name: str = inspect.signature(owner.__init__).parameters["encoder_name"].default
    return name


def defaults() -> list[tuple[str, str]]:
    """Each decoder over its default encoder: what the library itself puts together."""
    return [(decoder, default_encoder(decoder)) for decoder in decoders()]


def all_pairs() -> Iterator[tuple[str, str]]:
    """Every decoder over every encoder of the library: designs that are composed, not published.

    DPT takes timm's encoders alone, so it comes with its default.
    """
    yield ("dpt", default_encoder("dpt"))
    yield from ((one, two) for one, two in product(decoders(), encoders()) if one != "dpt")
