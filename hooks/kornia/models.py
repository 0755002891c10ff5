"""What kornia publishes as a network, and how it is made without weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Entry

if TYPE_CHECKING:
    from torch import nn

# Networks of kornia.feature with a `pretrained` to be turned off.
_FEATURES = (
    "HardNet HardNet8 HyNet SOSNet TFeat OriNet LAFAffNetShapeEstimator KeyNet LoFTR DeFMO"
).split()
_IMAGE = "image-feature-extraction"


def read() -> Mapping[str, Entry]:
    """Every network of the installed version, by kornia's own name of it."""
    return dict((*_backbones(), *_detectors(), *_images(), *_features()))


def _backbones() -> Iterator[tuple[str, Entry]]:
    from kornia.models import tiny_vit, vit, vit_mobile
    from kornia.models.efficient_vit import backbone
    from kornia.models.rt_detr.architecture import hgnetv2, resnet_d

    task = "image-classification"
    for name in vit._AVAILABLE_WEIGHTS:
        yield name, Entry(partial(vit.VisionTransformer.from_config, name), "vit", _IMAGE)
    for size in ("5m", "11m", "21m"):
        build = partial(tiny_vit.TinyViT.from_config, size)
        yield f"tiny_vit_{size}", Entry(build, "tiny_vit", task)
    for size in ("xxs", "xs", "s"):
        build = partial(vit_mobile.MobileViT, mode=size)
        yield f"mobile_vit_{size}", Entry(build, "vit_mobile", _IMAGE)
    for name, builder in vars(backbone).items():
        if name.startswith("efficientvit_backbone_"):
            yield name, Entry(builder, "efficient_vit", _IMAGE)
    for depth in (18, 34, 50, 101, 152):
        build = partial(resnet_d.ResNetD.from_config, depth)
        yield f"ResNetD-{depth}", Entry(build, "resnet_d", _IMAGE)
    for size in "LX":
        build = partial(hgnetv2.PPHGNetV2.from_config, size)
        yield f"PPHGNetV2-{size}", Entry(build, "hgnetv2", _IMAGE)


def _detectors() -> Iterator[tuple[str, Entry]]:
    from kornia.models.rt_detr import model as rt_detr
    from kornia.models.yunet import YuNet

    for kind in rt_detr.RTDETRModelType:
        config = rt_detr.RTDETRConfig(kind, 80)
        build = partial(rt_detr.RTDETR.from_config, config)
        yield f"rt_detr/{kind.name}", Entry(build, "rt_detr", "object-detection")
    yield "YuNet", Entry(partial(YuNet, "test", False), "yunet", "object-detection")


def _images() -> Iterator[tuple[str, Entry]]:
    from kornia.models import kimi_vl, paligemma, qwen25, sam, siglip2
    from kornia.models.dexined import DexiNed
    from kornia.models.rrdbnet import RRDBNet
    from kornia.models.siglip2.config import _SUPPORTED_MODELS
    from kornia.models.small_sr import SmallSRNet

    yield "DexiNed", Entry(partial(DexiNed, pretrained=False), "dexined", "image-segmentation")
    for scale in (2, 3, 4):
        build = partial(SmallSRNet, scale, pretrained=False)
        yield f"SmallSRNet_x{scale}", Entry(build, "small_sr", "image-to-image")
    yield "RRDBNet", Entry(partial(RRDBNet, 3, 3), "rrdbnet", "image-to-image")
    for name in ("vit_b", "vit_l", "vit_h", "mobile_sam"):
        yield f"sam/{name}", Entry(partial(sam.Sam.from_name, name), "sam", "mask-generation")
    for hub_id in _SUPPORTED_MODELS:
        config = siglip2.SigLip2Config.from_name(hub_id)
        build = partial(siglip2.SigLip2Model, config)
        task = "zero-shot-image-classification"
        name = hub_id.partition("/")[2]
        yield name, Entry(build, name.partition("-")[0], task, hub_id)  # siglip or siglip2
    for model, config in (
        (paligemma.PaliGemma, paligemma.PaliGemmaConfig()),
        (kimi_vl.KimiVLModel, kimi_vl.KimiVLConfig()),
    ):
        family = str(model.__module__).split(".")[2]
        yield model.__name__, Entry(partial(model, config), family, "image-text-to-text")
    vision = qwen25.Qwen25VisionTransformer
    yield vision.__name__, Entry(vision, "qwen25", _IMAGE)


def _features() -> Iterator[tuple[str, Entry]]:
    from kornia import feature
    from kornia.feature import xfeat
    from kornia.feature.aliked import aliked

    for name in _FEATURES:
        owner = getattr(feature, name)
        task = {"LoFTR": "keypoint-matching", "DeFMO": "image-to-video"}.get(name, _IMAGE)
        build = partial(owner, pretrained=None if name == "LoFTR" else False)
        yield name, Entry(build, name.lower(), task)
    yield "SOLD2", Entry(_sold2, "sold2", "keypoint-detection")
    yield "XFeat", Entry(xfeat.XFeatModel, "xfeat", "keypoint-detection")
    yield "DISK", Entry(feature.DISK, "disk", "keypoint-detection")
    for name in aliked._ALIKED_CFGS:
        yield name, Entry(partial(aliked.ALIKED, name), "aliked", "keypoint-detection")
    build = partial(feature.DeDoDe, descriptor_model="B")  # the G loads DINOv2's weights
    yield "DeDoDe-L-B", Entry(build, "dedode", "keypoint-detection")
    for name, options in feature.LightGlue.features.items():
        sizes = {key: value for key, value in options.items() if key != "weights"}
        build = partial(feature.LightGlue, features=None, **sizes)
        yield f"LightGlue/{name}", Entry(build, "lightglue", "keypoint-matching")


def _sold2() -> nn.Module:
    """The network of SOLD2, without the search for lines behind it."""
    from kornia.feature import SOLD2

    network: nn.Module = SOLD2(pretrained=False).model
    return network
