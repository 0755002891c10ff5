"""Families and tasks of pytorchcv's models, by the module that defines the builder."""

from __future__ import annotations

import re

# Endings that name a data set and leave the design as it is.
_DATA_SET = re.compile(r"_(cifar|cifar10|cub|coco|cmupan)$")

# Defining modules under the name that the other libraries' plugins use as well.
_FAMILIES = {
    "airnext": "airnet",
    "darknet53": "darknet",
    "deeplabv3": "deeplabv3",
    "diapreresnet": "diaresnet",
    "efficientnetedge": "efficientnet",
    "fcn8sd": "fcn",
    "fdmobilenet": "mobilenetv1",
    "ibnbresnet": "ibnresnet",
    "ibnresnext": "ibnresnet",
    "inceptionresnetv1": "inception_resnet_v1",
    "inceptionresnetv2": "inception_resnet_v2",
    "inceptionv3": "inception_v3",
    "inceptionv4": "inception_v4",
    "jasperdr": "jasper",
    "mobilenet": "mobilenetv1",
    "mobilenetb": "mobilenetv1",
    "preresnet": "resnetv2",
    "resnesta": "resnest",
    "resneta": "resnet",
    "resnetd": "resnet",
    "sepreresnet": "senet",
    "sharesnet": "resnet",  # its blocks share weights, not another graph
    "shufflenetv2b": "shufflenetv2",
    "wrn": "wide_resnet",
    "wrn1bit": "wide_resnet",
    "xdensenet": "densenet",
}
_TASKS = {
    "image-segmentation": """
        bisenet cgnet contextnet dabnet danet deeplabv3 edanet enet erfnet esnet espcnet fastscnn
        fcn8sd fpenet icnet lednet linknet pspnet segnet sinet sqnet unet
    """,
    "keypoint-detection": """
        alphapose_coco ibppose_coco lwopenpose_cmupan pfpcnet simplepose_coco simpleposemobile_coco
        superpointnet
    """,
    "object-detection": "centernet lffd",
    "automatic-speech-recognition": "jasper jasperdr quartznet",
    "optical-flow": "raft",
    "video-to-video": "propainter propainter_ip propainter_rfc",
    "image-to-3d": "prnet",
    "feature-extraction": "nvpattexp visemenet voca",  # from speech to a moving face
}
_TASK_OF = {module: task for task, modules in _TASKS.items() for module in modules.split()}


def family_of(module: str) -> str:
    """The family of the models that `pytorchcv.models.<module>` defines.

    Example:
        ```python
        family_of("seresnet_cifar")  # 'seresnet'
        ```
    """
    design = _DATA_SET.sub("", module)
    return _FAMILIES.get(design, design)


def task_of(module: str) -> str:
    """The task of those models, in the words of the Hugging Face Hub."""
    return _TASK_OF.get(module, "image-classification")
