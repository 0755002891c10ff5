"""Prints the fingerprints of 20 architectures as JSON; run in an environment of any version."""

import json
import sys

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

REFERENCES = (
    "timm:resnet50",
    "timm:vit_base_patch16_224",
    "timm:convnext_tiny",
    "timm:efficientnet_b0",
    "timm:swin_tiny_patch4_window7_224",
    "timm:mobilenetv3_large_100",
    "timm:densenet121",
    "timm:regnety_016",
    "timm:mixer_b16_224",
    "torchvision:resnet18",
    "torchvision:vgg16",
    "torchvision:maxvit_t",
    "torchvision:deeplabv3_resnet50",
    "torchvision:googlenet",
    "transformers:bert",
    "transformers:gpt2",
    "transformers:llama",
    "transformers:t5",
    "transformers:distilbert",
    "transformers:vit",
)


def fingerprints() -> dict[str, str]:
    """The fingerprint of each reference."""
    return {reference: trace(resolve(reference)).fingerprint for reference in REFERENCES}


if __name__ == "__main__":
    json.dump(fingerprints(), sys.stdout, indent=1)
