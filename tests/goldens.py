"""The pairs whose explanations a person has read, and how an explanation is written down.

`python tests/goldens.py` writes `tests/likeness/golden/` anew; read what it changed.
"""

from pathlib import Path

import torch
from models import NanoGPT
from torch import nn

import nar_plugin
from nar_plugin.mining import mine
from nar_plugin.report.explanation import explain
from nar_plugin.report.explanation_table import alone_texts, differences_text

FOLDER = Path(__file__).parent / "likeness" / "golden"


class Mixer(nn.Module):
    """A depthwise convolution over the tokens, then a layer: no attention."""

    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.pointwise = nn.Linear(width, width)

    def forward(self, x, **_):
        return self.pointwise(self.depthwise(x.transpose(1, 2)).transpose(1, 2))


def nanogpt():
    return NanoGPT(layers=12, heads=12, width=768, vocabulary=50257, block_size=1024)


def mixed_vit():
    import timm

    model = timm.create_model("vit_small_patch16_224")
    model.blocks[0].attn = Mixer(384)
    return model


def shallow_resnet():
    from timm.models.resnet import Bottleneck, ResNet

    return ResNet(Bottleneck, [2, 3, 3, 2])


BY_HAND = {"nanogpt": nanogpt, "vit_small_mixed": mixed_vit, "resnet_2332": shallow_resnet}
VIT, SMP = "timm:vit_base_patch16_224", "segmentation_models_pytorch"
PAIRS = {
    ("timm:resnet50", "timm:resnet101"): "ResNet-101 is ResNet-50 with 23 instead of 6 Bottlenecks "
    "in the third stage (He et al. 2015, Table 1).",
    ("timm:resnet50", "timm:seresnet50"): "SE-ResNet-50 puts a gate after the third convolution "
    "of each of the 16 blocks (Hu et al. 2018, Figure 3).",
    (VIT, "timm:deit_base_patch16_224"): "DeiT-B without its distillation token is ViT-B, trained "
    "otherwise (Touvron et al. 2021).",
    ("timm:convnext_tiny", "timm:resnet50"): "ConvNeXt came of a ResNet, but changed every "
    "layer of its block: norm, activation, kernel, order of widths (Liu et al. 2022, Figure 4).",
    ("transformers:bert", "transformers:roberta"): "RoBERTa is BERT with another vocabulary and "
    "other training (Liu et al. 2019).",
    ("transformers:bert", "transformers:gpt2"): "GPT-2 moves the norms to the start of each branch "
    "and has no token types (Radford et al. 2019, section 2.3); the causal mask is no operation.",
    ("transformers:llama", "transformers:mistral"): "Mistral is Llama with grouped queries and a "
    "wider MLP (Jiang et al. 2023, Table 1); the sliding window is a mask.",
    ("transformers:llama", "transformers:mixtral"): "Mixtral is Mistral with 8 experts in the "
    "place of the MLP (Jiang et al. 2024, section 2.1).",
    (
        "timm:swin_tiny_patch4_window7_224",
        "timm:swinv2_tiny_window8_256",
    ): "Swin V2: res-post-norm, "
    "scaled cosine attention, a small network for the position bias (Liu et al. 2022, Figure 1).",
    ("transformers:gpt2", "nanogpt"): "nanoGPT is GPT-2 with its language head; HF's bare GPT-2 "
    "has none and approximates the GELU.",
    (f"{SMP}:unet/resnet34", f"{SMP}:unetplusplus/resnet34"): "The same encoder; the decoder of "
    "UNet++ has 11 nested blocks that join more features (Zhou et al. 2018, Figure 1).",
    ("timm:vit_small_patch16_224", "vit_small_mixed"): "One attention of twelve was replaced.",
    (
        "timm:resnet18",
        "timm:resnet34",
    ): "2-2-2-2 and 3-4-6-3 BasicBlocks (He et al. 2015, Table 1).",
    (VIT, "transformers:vit_msn"): "The bare model has no classifier.",
    ("timm:resnet50", "resnet_2332"): "3-4-6-3 and 2-3-3-2 Bottlenecks.",
}
QUICK = {("timm:resnet50", "timm:seresnet50"), ("timm:resnet18", "timm:resnet34")}


def file_of(pair):
    return FOLDER / ("--".join(name.replace(":", ".").replace("/", "-") for name in pair) + ".txt")


def design_of(name):
    with torch.random.fork_rng():
        return mine(nar_plugin.trace(BY_HAND[name]() if name in BY_HAND else name))


def written(pair):
    """The explanation without the numbers that change when the measure is tuned."""
    told = explain(*map(design_of, pair), likeness=0.0, names=pair)
    lines = [f"# Right because: {PAIRS[pair]}", "", told.verdict.text, ""]
    rows = [[part.name if part else "-" for part in (row.a, row.b)] for row in told.rows]
    width = max(len(one) for one, _ in [pair, *rows])
    lines += [f"{one:{width}} | {other}" for one, other in [pair, *rows]]
    for heading, texts in zip(
        ("From the first to the second:", "Only in the first:", "Only in the second:"),
        (differences_text(told), *alone_texts(told)),
        strict=True,
    ):
        lines += ["", heading, *(f"  {text}" for text in texts)] if texts else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in PAIRS:
        file_of(each).write_text(written(each), encoding="utf-8")
