"""open_clip: contrastive models of images and text. https://github.com/mlfoundations/open_clip."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import Tensor, nn

_INSTALL = "pip install open_clip_torch"
_CONFIGS = "https://github.com/mlfoundations/open_clip/blob/main/src/open_clip/model_configs"
_WORDS = 77  # of a text encoder that does not say how many it takes


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "open_clip"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: nothing in a model of open_clip says which configuration made it."""
    owner = _class(model)
    return None if owner is None else Provenance(f"open_clip:{owner.__name__}", "open_clip_torch")


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image and a text of the sizes that the towers were built for, or what one tower eats."""
    if _class(model) is None:
        return None
    if hasattr(model, "visual"):
        return [ExampleInputs((_image(model.visual), _text(model)))]
    if hasattr(model, "image_size") or hasattr(model, "conv1"):
        return [ExampleInputs((_image(model),))]
    if hasattr(model, "token_embedding") or hasattr(model, "vocab_size"):
        return [ExampleInputs((_text(model),))]
    return None


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """All of `open_clip.list_models()`."""
    try:
        import open_clip
    except ImportError:
        return
    for name in open_clip.list_models():
        yield NamedArchitecture(
            name=f"open_clip:{name}",
            library="open_clip_torch",
            family=_family(name),
            task="zero-shot-image-classification",
            licence="MIT",
            url=f"{_CONFIGS}/{name}.json",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `open_clip:ViT-B-32` without weights, those of its text encoder included."""
    wanted = _references.architecture(name, "open_clip")
    if wanted is None:
        return None
    try:
        import open_clip
    except ImportError as error:
        raise _references.missing(name, "open_clip", _INSTALL) from error
    config = open_clip.get_model_config(wanted) if wanted in open_clip.list_models() else None
    if config is None:
        raise _references.unknown(name, "open_clip", open_clip.list_models())
    with TemporaryDirectory() as folder:
        model: nn.Module = open_clip.create_model(
            wanted,
            device="meta",
            load_weights=False,
            pretrained_text=False,
            **_offline(config, Path(folder)),
        )
    return model


def _offline(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Options that let a text encoder's configuration be found in a folder, not on the Hub."""
    from nar_plugin.hooks._open_clip_texts import CONFIGS

    text = config["text_cfg"]
    published = CONFIGS.get(text.get("hf_model_name", ""))
    if published is None:
        return {}
    (folder / "config.json").write_text(json.dumps(published), "utf-8")
    return {"text_cfg": {**text, "hf_model_name": str(folder), "hf_model_pretrained": False}}


def _class(model: nn.Module) -> type | None:
    """The nearest class that open_clip defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith("open_clip."):
            return owner
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
