"""Draw the pictures of this folder: `python docs/pictures/draw.py [NAME...]`.

Two of them are drawn anew by tests/drawing/test_golden.py and compared.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from pictured_models import OwnHybrid, OwnUNet

import nar_plugin
from nar_plugin.drawing import Picture

FOLDER = Path(__file__).parent
ALONE = {
    "resnet50": "timm:resnet50",
    "swin_tiny": "timm:swin_tiny_patch4_window7_224",
    "bert": "transformers:bert",
    "t5": "transformers:t5",
    "llama": "transformers:llama",
    "mixtral": "transformers:mixtral",
    "stable_diffusion_unet": "diffusers:UNet2DConditionModel",
    "yolov8n": "ultralytics:yolov8n",
    "detr": "transformers:detr",
    "whisper": "transformers:whisper",
    "mamba": "transformers:mamba",
    "clip": "transformers:clip",
    "gat": "torch_geometric:GAT",
}
OWN: dict[str, Callable[[], object]] = {"unet": OwnUNet, "hybrid": OwnHybrid}
PAIRS = {
    "resnet50_and_seresnext50": ("timm:resnet50", "timm:seresnext50_32x4d"),
    "bert_and_gpt2": ("transformers:bert", "transformers:gpt2"),
}


def picture(name: str) -> Picture:
    """One of them."""
    if name in PAIRS:
        return nar_plugin.compare(*PAIRS[name]).draw()
    if name in OWN:
        with torch.device("meta"):
            return nar_plugin.motifs(OWN[name]()).draw(OWN[name].__name__)
    return nar_plugin.motifs(ALONE[name]).draw(ALONE[name])


if __name__ == "__main__":
    for name in sys.argv[1:] or [*ALONE, *OWN, *PAIRS]:
        print(picture(name).save(FOLDER / f"{name}.svg").stat().st_size, name)
