"""Which model classes diffusers has, with their tasks and families."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

_REFUSALS = ("raise NotImplementedError(", "cannot be run by itself")

# Defining modules of one design, under the name of the first.
_FAMILIES = {
    "anyflow_far": "anyflow",
    "bria_fibo": "flux",
    "bria": "flux",
    "chroma": "flux",
    "chronoedit": "wan",
    "consisid": "cogvideox",
    "cogview3plus": "cogview",
    "cogview4": "cogview",
    "dual_transformer_2d": "transformer_2d",
    "hunyuan_video15": "hunyuan_video",
    "hunyuan_video_framepack": "hunyuan_video",
    "joyimage_edit_plus": "joyimage",
    "longcat_image": "flux",
    "lumina_nextdit2d": "lumina",
    "lumina2": "lumina",
    "ovis_image": "flux",
    "sana_video": "sana",
    "sana_wm": "sana",
    "sana_wm_refiner": "ltx2",
    "skyreels_v2": "wan",
    "wan_animate": "wan",
    "wan_vace": "wan",
}
_AROUND = re.compile(
    r"^(transformer|controlnet|unet|autoencoder)_|_(transformer(_?[123]d)?|[123]d)$"
)


@cache
def classes() -> dict[str, type[Any]]:
    """Every public model class that can be run by itself, by name."""
    from diffusers import ModelMixin, models

    found = {name: getattr(models, name) for name in dir(models)}
    return {
        name: owner
        for name, owner in sorted(found.items())
        if isinstance(owner, type) and issubclass(owner, ModelMixin) and _runs(owner)
    }


def family(owner: type[Any]) -> str:
    """The defining module without what every module of its kind is called.

    A ControlNet is of the family of what it controls; autoencoders stay apart.
    """
    module: str = str(owner.__module__).rpartition(".")[2]
    kind = _kind(owner)
    if kind == "unets" or module in ("controlnet", "controlnet_union", "controlnet_xs"):
        return module
    if kind == "autoencoders":
        return module
    name = module
    while _AROUND.search(name) and _AROUND.sub("", name):
        name = _AROUND.sub("", name)
    return _FAMILIES.get(name, name)


def task(owner: type[Any]) -> str:
    """What a pipeline around the class makes, in the words of the Hugging Face Hub."""
    name = owner.__name__
    if _kind(owner) == "autoencoders" and "Vocoder" not in name:
        return _coded(owner)
    if any(word in name for word in ("Audio", "Music", "UNet1D", "T5Film", "AceStep", "Vocoder")):
        return "text-to-audio"
    if _kind(owner) == "controlnets" or "Adapter" in name:
        return "image-to-image"
    if any(word in name for word in ("3D", "Video", "Motion", "SpatioTemporal", "Latte", "I2VGen")):
        return "text-to-video"
    if name in ("UNet2DModel", "DiTTransformer2DModel"):
        return "unconditional-image-generation"
    return "text-to-image"


def _coded(owner: type[Any]) -> str:
    """What an autoencoder codes, by the arguments of its constructor: sounds, videos or images.

    Sounds have a rate of samples. Videos are shortened in time, which some spell `temperal` or
    `tempo`; what codes images as videos of one frame does that too, and stands in `families.toml`.
    """
    arguments = inspect.signature(owner.__init__).parameters
    if {"sample_rate", "sampling_rate"} & set(arguments):
        return "feature-extraction"
    in_time = any(word in argument for argument in arguments for word in ("tempo", "temperal"))
    return "video-to-video" if in_time else "image-to-image"


def _kind(owner: type[Any]) -> str:
    """The package of the defining module: `unets`, `transformers`, `autoencoders`, ..."""
    return str(owner.__module__).split(".")[2]


def _runs(owner: type[Any]) -> bool:
    """Whether the class has a forward of use, which collections of adapters have not."""
    forward = owner.__dict__.get("forward")
    if forward is None:
        return False
    source = inspect.getsource(forward).rstrip()
    return not source.endswith("pass") and not any(refusal in source for refusal in _REFUSALS)
