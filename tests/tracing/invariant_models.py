"""Models of all kinds in small sizes, each with inputs for a batch size."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from models import ConvNet, NanoGPT, UNet
from torch import nn

Build = Callable[[str], nn.Module]  # takes the attention, "sdpa" or "eager"


@dataclass(frozen=True)
class Subject:
    """A model to be traced by many routes.

    Attributes:
        build: A new model with this kind of attention.
        inputs: What its forward takes for a batch of this size.
        attentions: Which kinds of attention the library offers.
    """

    build: Build
    inputs: Callable[[int], Any]
    attentions: tuple[str, ...] = ("sdpa",)

    def new(self) -> nn.Module:
        """A new model with the first kind of attention."""
        return self.build(self.attentions[0])


def image(side=64):
    return lambda batch: torch.empty(batch, 3, side, side)


def ids(names=("input_ids",), length=12):
    return lambda batch: {name: torch.arange(length)[None].repeat(batch, 1) for name in names}


def timm_model(name, side=64, fused=False, **settings):
    def build(attention):
        import timm
        from timm.layers import set_fused_attn

        set_fused_attn(attention == "sdpa")
        try:
            return timm.create_model(name, **settings)
        finally:
            set_fused_attn(True)

    return Subject(build, image(side), ("sdpa", "eager") if fused else ("sdpa",))


def torchvision_model(name, side=64, shape=None):
    def build(attention):
        import torchvision

        return torchvision.models.get_model(name, weights=None, **_plain(name))

    return Subject(build, (lambda batch: torch.empty(batch, *shape)) if shape else image(side))


def _plain(name):
    return {"weights_backbone": None} if name.startswith(("deeplab", "fcn", "lraspp")) else {}


_SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 100,
}


def transformers_model(kind, model_class, inputs=None, attentions=("sdpa", "eager"), **settings):
    def build(attention):
        import transformers

        config = transformers.AutoConfig.for_model(kind, **settings)
        owner = getattr(transformers, model_class)
        return owner._from_config(config, attn_implementation=attention)

    return Subject(build, inputs or ids(), attentions)


def of_torch(build, inputs):
    return Subject(lambda attention: build(), inputs)


def sequence(width, length=10):
    return lambda batch: torch.empty(batch, length, width)


def pair(width):
    return lambda batch: (torch.empty(batch, 7, width), torch.empty(batch, 9, width))


def mobile():
    """A small Sequential as people write them."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU6(inplace=True),
        nn.Conv2d(8, 8, 3, padding=1, groups=8),
        nn.Hardswish(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 10),
    )


class Tagger(nn.Module):
    """Embedding, bidirectional LSTM, a linear layer for each token."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.lstm = nn.LSTM(16, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, input_ids):
        return self.head(self.lstm(self.embedding(input_ids))[0])


_LLAMA = _SMALL | {"num_key_value_heads": 2}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 100}
_BART = {
    "d_model": 32,
    "vocab_size": 100,
    **{f"{side}_layers": 2 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
    **{f"{side}_ffn_dim": 48 for side in ("encoder", "decoder")},
    "max_position_embeddings": 64,
}
_VISION = {key: value for key, value in _SMALL.items() if key != "vocab_size"} | {
    "image_size": 32,
    "patch_size": 8,
}
_ENCODER_DECODER = ids(("input_ids", "decoder_input_ids"))


def pixels(side=32):
    return lambda batch: {"pixel_values": torch.empty(batch, 3, side, side)}


QUICK = {
    "hand-written ConvNet": of_torch(ConvNet, image(32)),
    "hand-written NanoGPT": Subject(
        lambda attention: NanoGPT(layers=2, width=48, fused=attention == "sdpa"),
        lambda batch: torch.arange(20)[None].repeat(batch, 1),
        ("sdpa", "eager"),
    ),
    "hand-written Sequential": of_torch(mobile, image(32)),
    "hand-written LSTM tagger": of_torch(Tagger, ids()),
    "nn.TransformerEncoder": of_torch(
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2),
        sequence(32),
    ),
    "timm resnet18": timm_model("resnet18"),
    "timm vit_tiny": timm_model("vit_tiny_patch16_224", fused=True, img_size=64, depth=2),
    "torchvision mobilenet_v3_small": torchvision_model("mobilenet_v3_small"),
    "transformers bert": transformers_model("bert", "BertForSequenceClassification", **_SMALL),
    "transformers llama": transformers_model("llama", "LlamaForCausalLM", **_LLAMA),
    "transformers vit": transformers_model("vit", "ViTModel", pixels(), **_VISION),
}

ALL = QUICK | {
    "hand-written UNet": of_torch(lambda: UNet(width=8), image(32)),
    "nn.Transformer": of_torch(lambda: nn.Transformer(32, 4, 1, 1, 64, batch_first=True), pair(32)),
    "nn.MultiheadAttention": of_torch(
        lambda: nn.MultiheadAttention(32, 4, batch_first=True),
        lambda batch: (torch.empty(batch, 9, 32),) * 3,
    ),
    "timm convnext_atto": timm_model("convnext_atto"),
    "timm convnextv2_atto": timm_model("convnextv2_atto"),
    "timm efficientnet_lite0": timm_model("efficientnet_lite0"),
    "timm mobilenetv3_small_050": timm_model("mobilenetv3_small_050"),
    "timm densenet121": timm_model("densenet121"),
    "timm regnetx_002": timm_model("regnetx_002"),
    "timm ghostnet_050": timm_model("ghostnet_050"),
    "timm nf_resnet26": timm_model("nf_resnet26"),
    "timm repvgg_a0": timm_model("repvgg_a0"),
    "timm hrnet_w18_small": timm_model("hrnet_w18_small"),
    "timm deit_tiny": timm_model("deit_tiny_patch16_224", fused=True, img_size=64),
    "timm swin_tiny": timm_model("swin_tiny_patch4_window7_224", 224, fused=True),
    "timm pvt_v2_b0": timm_model("pvt_v2_b0", fused=True),
    "timm cait_xxs24": timm_model("cait_xxs24_224", 224, fused=True),
    "timm xcit_nano": timm_model("xcit_nano_12_p16_224", fused=True),
    "timm edgenext_xx_small": timm_model("edgenext_xx_small", 128),
    "timm mobilevit_xxs": timm_model("mobilevit_xxs", 128, fused=True),
    "timm levit_128s": timm_model("levit_128s", 224),
    "timm poolformer_s12": timm_model("poolformer_s12"),
    "timm mixer_s32": timm_model("mixer_s32_224", 224),
    "timm gmlp_ti16": timm_model("gmlp_ti16_224", 224),
    "timm resmlp_12": timm_model("resmlp_12_224", 224),
    "timm botnet26t": timm_model("botnet26t_256", 256),
    "timm eva02_tiny": timm_model("eva02_tiny_patch14_224", 224, fused=True),
    "torchvision resnet18": torchvision_model("resnet18"),
    "torchvision shufflenet_v2": torchvision_model("shufflenet_v2_x0_5"),
    "torchvision squeezenet": torchvision_model("squeezenet1_1"),
    "torchvision vgg11_bn": torchvision_model("vgg11_bn"),
    "torchvision googlenet": torchvision_model("googlenet", 128),
    "torchvision swin_t": torchvision_model("swin_t", 224),
    "torchvision vit_b_32": torchvision_model("vit_b_32", 224),
    "torchvision deeplabv3": torchvision_model("deeplabv3_mobilenet_v3_large", 96),
    "torchvision r3d_18": torchvision_model("r3d_18", shape=(3, 4, 32, 32)),
    "transformers gpt2": transformers_model(
        "gpt2", "GPT2LMHeadModel", n_embd=32, n_layer=2, n_head=4, vocab_size=100
    ),
    "transformers t5": transformers_model(
        "t5", "T5ForConditionalGeneration", _ENCODER_DECODER, ("eager",), **_T5
    ),
    "transformers bart": transformers_model(
        "bart", "BartForConditionalGeneration", _ENCODER_DECODER, **_BART
    ),
    "transformers gemma2": transformers_model(
        "gemma2", "Gemma2ForCausalLM", attentions=("eager",), head_dim=8, **_LLAMA
    ),
    "transformers qwen2_moe": transformers_model(
        "qwen2_moe",
        "Qwen2MoeForCausalLM",
        num_experts=4,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        **_LLAMA,
    ),
    "transformers gpt_neox": transformers_model("gpt_neox", "GPTNeoXForCausalLM", **_SMALL),
    "transformers opt": transformers_model(
        "opt",
        "OPTForCausalLM",
        ffn_dim=48,
        word_embed_proj_dim=32,
        **{k: v for k, v in _SMALL.items() if k != "intermediate_size"},
    ),
    "transformers bloom": transformers_model(
        "bloom", "BloomForCausalLM", None, ("eager",), hidden_size=32, n_layer=2, n_head=4
    ),
    "transformers deberta-v2": transformers_model(
        "deberta-v2", "DebertaV2Model", None, ("eager",), relative_attention=True, **_SMALL
    ),
    "transformers wav2vec2": transformers_model(
        "wav2vec2",
        "Wav2Vec2Model",
        lambda batch: {"input_values": torch.empty(batch, 4000)},
        **_SMALL,
    ),
    "transformers swin": transformers_model(
        "swin",
        "SwinModel",
        pixels(),
        depths=[2, 2],
        num_heads=[2, 4],
        embed_dim=16,
        image_size=32,
        window_size=4,
        patch_size=2,
    ),
    "transformers segformer": transformers_model(
        "segformer", "SegformerModel", pixels(64), ("eager",), hidden_sizes=[8, 16, 24, 32]
    ),
}
