"""open_clip: contrastive models of images and text. https://github.com/mlfoundations/open_clip."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import Tensor, nn

_CONFIGS = "https://github.com/mlfoundations/open_clip/blob/main/src/open_clip/model_configs"
_WORDS = 77  # of a text encoder that does not say how many it takes


def _entries() -> Mapping[str, Entry]:
    """All of `open_clip.list_models()`."""
    import open_clip

    return {
        name: Entry(
            build=partial(_built, name),
            family=_family(name),
            task="zero-shot-image-classification",
            url=f"{_CONFIGS}/{name}.json",
        )
        for name in open_clip.list_models()
    }


def _built(name: str) -> nn.Module:
    """A model without weights, those of its text encoder included."""
    import open_clip

    with TemporaryDirectory() as folder:
        model: nn.Module = open_clip.create_model(
            name,
            device="meta",
            load_weights=False,
            pretrained_text=False,
            **_offline(open_clip.get_model_config(name), Path(folder)),
        )
    return model


def _offline(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Options that let a text encoder's configuration be found in a folder, not on the Hub."""
    from .texts import CONFIGS

    text = config["text_cfg"]
    published = CONFIGS.get(text.get("hf_model_name", ""))
    if published is None:
        return {}
    (folder / "config.json").write_text(json.dumps(published), "utf-8")
    return {"text_cfg": {**text, "hf_model_name": str(folder), "hf_model_pretrained": False}}


def _inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image and a text of the sizes that the towers were built for, or what one tower eats."""
    if hasattr(model, "visual"):
        return [ExampleInputs((_image(model.visual), _text(model)))]
    if hasattr(model, "image_size") or hasattr(model, "conv1"):
        return [ExampleInputs((_image(model),))]
    if hasattr(model, "token_embedding") or hasattr(model, "vocab_size"):
        return [ExampleInputs((_text(model),))]
    return None


def _image(tower: Any) -> Tensor:
    """One image with as many channels as the first convolution takes."""
    import torch
    from torch import nn

    size = getattr(tower, "image_size", None) or 224
    height, width = (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
    layers = (layer for layer in tower.modules() if isinstance(layer, nn.Conv2d))
    channels = next((layer.in_channels for layer in layers), 3)
    return torch.empty(1, channels, height, width, device="meta")


def _text(model: Any) -> Tensor:
    """Token ids int64[1, length]; the largest is the last, where CLIP looks for the end."""
    import torch

    tower = getattr(model, "text", model)
    length = getattr(tower, "context_length", None) or _WORDS
    if hasattr(tower, "config"):  # of transformers, which may take more than open_clip ever gives
        length = min(length, _WORDS)
    vocabulary = getattr(tower, "vocab_size", None) or length + 1
    return torch.arange(vocabulary - length, vocabulary)[None]


def _family(name: str) -> str:
    """The way of training that shapes the model, in the words of transformers' model types."""
    lower = name.lower()
    for family in ("coca", "siglip2", "siglip"):
        if family in lower:
            return family
    return "clip"


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="open_clip",
    distribution="open_clip_torch",
    licence="MIT",
    url="https://github.com/mlfoundations/open_clip",
    entries=_entries,
    inputs=_inputs,
).hooks()
