"""timm: image models. https://github.com/huggingface/pytorch-image-models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import lookup
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

from ._shared.attribute_search import attribute

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install nar-plugin[timm]"

# timm's defining modules under the name that the other two libraries' plugins use as well.
_FAMILIES = {
    "hieradet_sam2": "hiera",
    "maxxvit": "maxvit",
    "swin_transformer": "swin",
    "swin_transformer_v2": "swinv2",
    "swin_transformer_v2_cr": "swinv2",
    "vision_transformer": "vit",
}
# Designs of their own that timm defines in the module `efficientnet`, by the name's first word.
_IN_EFFICIENTNET = {
    "mnasnet": "mnasnet",
    "mobilenetv1": "mobilenetv1",
    "mobilenetv2": "mobilenetv2",
    "semnasnet": "mnasnet",
}
# Sizes of label sets of which timm keeps no names: ImageNet of winter 2021 (MViTv2), Bamboo.
_OTHER_LABEL_SETS = {19_168, 115_217}


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "timm"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The name in `pretrained_cfg`, such as `timm:resnet50.a1_in1k`."""
    cfg = _configuration(model)
    architecture = cfg.get("architecture")
    if not architecture:
        return None
    tag = cfg.get("tag")
    name = f"timm:{architecture}.{tag}" if tag else f"timm:{architecture}"
    return Provenance(name=name, library="timm", hub_id=cfg.get("hf_hub_id"))


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """One image of the size that the model was configured for."""
    import torch

    cfg = _configuration(model)
    size = cfg.get("input_size")
    if not isinstance(size, tuple | list) or len(size) != 3:
        return None
    shapes = [
        (channels, *resolution)
        for resolution in dict.fromkeys((*_built_for(model), tuple(size[1:])))
        for channels in _channels(model, cfg)
    ]
    return [ExampleInputs((torch.empty(1, *shape, device="meta"),)) for shape in shapes]


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """All of `timm.list_models()`, and every published checkpoint of `timm.list_pretrained()`."""
    try:
        import timm
    except ImportError:
        return
    for name in (*timm.list_models(), *timm.list_pretrained()):
        cfg = timm.get_pretrained_cfg(name)
        hub_id = cfg.hf_hub_id if cfg else None
        yield NamedArchitecture(
            name=f"timm:{name}",
            library="timm",
            family=_family(name.partition(".")[0]),
            task="image-classification" if _classifies(cfg) else "image-feature-extraction",
            licence="Apache-2.0",
            url=f"https://huggingface.co/{hub_id}" if hub_id else None,
            hub_id=hub_id,
            weights_license=_licence_of_weights(cfg),
            build=f"timm.create_model('{name}')",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `timm:resnet50` or `timm:resnet50.a1_in1k` without weights."""
    wanted = lookup.architecture(name, "timm")
    if wanted is None:
        return None
    try:
        import timm
    except ImportError as error:
        raise lookup.missing(name, "timm", _INSTALL) from error
    architecture = wanted.partition(".")[0]
    if not timm.is_model(architecture):
        raise lookup.unknown(name, "timm", timm.list_models())
    try:
        timm.get_pretrained_cfg(wanted)
    except RuntimeError as error:  # no such tag
        tags = timm.list_pretrained(f"{architecture}.*")
        raise lookup.unknown(name, "timm", [architecture, *tags]) from error
    model: nn.Module = timm.create_model(wanted, pretrained=False)
    return model


def _licence_of_weights(cfg: Any) -> str | None:
    """What `pretrained_cfg` says of the weights, those of the default tag where none is named."""
    if cfg is None or not cfg.has_weights or cfg.license == "unknown":
        return None
    licence: str | None = cfg.license
    return licence


def _configuration(model: nn.Module) -> Mapping[str, Any]:
    """`pretrained_cfg`, or empty when this is not a model of timm."""
    for name in ("pretrained_cfg", "default_cfg"):
        cfg = attribute(model, name)
        if isinstance(cfg, Mapping) and "input_size" in cfg:
            return cfg
    return {}


def _built_for(model: nn.Module) -> Iterator[tuple[int, int]]:
    """The resolution that a patch embedding was built for, where it accepts no other."""
    embedding = getattr(model, "patch_embed", None)
    resolution = getattr(embedding, "img_size", None)
    if isinstance(resolution, tuple | list) and len(resolution) == 2:
        yield int(resolution[0]), int(resolution[1])


def _channels(model: nn.Module, cfg: Mapping[str, Any]) -> list[int]:
    """Input channels: of the layer that `first_conv` names, as `in_chans` does not reach the cfg.

    What is no image may be one that was folded (space to depth), so the cfg's comes before it.
    """
    from torch import nn

    names = cfg.get("first_conv")
    modules = dict(model.named_modules())
    layers = [modules.get(name) for name in ((names,) if isinstance(names, str) else names or ())]
    found = [layer.in_channels for layer in layers if isinstance(layer, nn.Conv2d)]
    likely = [channels for channels in found if channels in (1, 3, 4)]
    return list(dict.fromkeys((*likely, cfg["input_size"][0], *found)))


def _classifies(cfg: Any) -> bool:
    """Whether the head is as wide as a label set; without weights it is as wide as ImageNet's.

    The image tower of a CLIP has a head as well, which projects to the embedding that it shares
    with the text: 384 to 1,280 numbers. timm tells label sets by their size alone, too.
    """
    from timm.data.imagenet_info import infer_imagenet_subset

    if cfg is None or cfg.num_classes in _OTHER_LABEL_SETS:
        return True
    return infer_imagenet_subset({"num_classes": cfg.num_classes}) is not None


def _family(name: str) -> str:
    """The defining module, in the words that the three libraries share."""
    from timm.models import model_entrypoint

    module: str = model_entrypoint(name).__module__.rpartition(".")[2]
    if module == "efficientnet":
        return _IN_EFFICIENTNET.get(name.partition("_")[0], module)
    return _FAMILIES.get(module, module)
