"""An edited graph is the trace of the edited model."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

pytest.importorskip("torchvision")

import torchvision
from torchvision.models.resnet import BasicBlock

import nar_plugin
from nar_plugin.train.fit.edits import edited

DRAWS = 30  # of the details of an edit, such as which norm
SEEN = torch.zeros(1, 3, 64, 64)


def trace(model, *inputs):
    return nar_plugin.trace(model, example_inputs=inputs[0] if inputs else SEEN)


@cache
def traced(make):
    """The graph of a model that many edits start from."""
    return trace(make(), SEEN if make is resnet else torch.zeros(1, 3, 32, 32))


def becomes(graph, kind):
    """The fingerprints of what a graph can become by one edit."""
    drawn = (edited(graph, kind, np.random.default_rng(seed)) for seed in range(DRAWS))
    return {found.fingerprint for found in drawn if found is not None}


def resnet(block=BasicBlock, layers=(2, 2, 2, 2), **settings):
    return torchvision.models.ResNet(block, list(layers), **settings)


def swapped(model, kind, make):
    """The model with another module in the place of those of a kind, the stem's aside."""
    for name, module in list(model.named_modules()):
        if isinstance(module, kind):
            owner, _, own = name.rpartition(".")
            setattr(model.get_submodule(owner), own, make(module))
    return model


def conv_like(conv, **changes):
    said = {name: getattr(conv, name) for name in ("in_channels", "out_channels", "kernel_size")}
    said |= {name: getattr(conv, name) for name in ("stride", "padding", "groups")}
    return nn.Conv2d(**(said | {"bias": conv.bias is not None} | changes))


def spatial(change):
    """The 3x3 convolutions of a ResNet changed."""
    model = resnet()
    return swapped(model, nn.Conv2d, lambda c: change(c) if c.kernel_size == (3, 3) else c)


def blocks(change):
    """A ResNet-18 whose blocks end their branches otherwise."""
    model = resnet()
    for module in model.modules():
        if isinstance(module, BasicBlock):
            module.bn2 = nn.Sequential(module.bn2, change(module.bn2.num_features))
    return model


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Linear(width, width // 16), nn.Linear(width // 16, width)

    def forward(self, x):
        weights = self.up(torch.relu(self.down(x.mean((2, 3)))))
        return x * torch.sigmoid(weights)[:, :, None, None]


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, x):
        return x * self.factor


class NoShortcut(BasicBlock):
    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)))


class GatedShortcut(BasicBlock):
    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        width = self.conv2.out_channels
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        short = x if self.downsample is None else self.downsample(x)
        x = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        gate = torch.sigmoid(self.gate(short.movedim(1, -1))).movedim(-1, 1)
        return self.relu(short + x * gate)


def pooled():
    def change(conv):
        if conv.stride != (2, 2) or conv.in_channels == 3:
            return conv
        return nn.Sequential(nn.AvgPool2d(2, 2), conv_like(conv, stride=1))

    return swapped(resnet(), nn.Conv2d, change)


def separable(conv):
    wide = conv.in_channels
    deep = conv_like(conv, out_channels=wide, groups=wide)
    return nn.Sequential(deep, nn.Conv2d(wide, conv.out_channels, 1, bias=False))


def other_head(*layers):
    model = resnet()
    model.fc = nn.Sequential(*layers)
    return model


RESNETS = {
    "norm": lambda: resnet(norm_layer=lambda width: nn.GroupNorm(32, width)),
    "no norms": lambda: swapped(spatial_biased(), nn.BatchNorm2d, lambda _: nn.Identity()),
    "activation": lambda: swapped(resnet(), nn.ReLU, lambda _: nn.SiLU()),
    "kernel": lambda: spatial(lambda c: conv_like(c, kernel_size=5, padding=2)),
    "groups": lambda: spatial(lambda c: conv_like(c, groups=32)),
    "separable": lambda: spatial(separable),
    "pooling": pooled,
    "gate": lambda: blocks(Gate),
    "scale": lambda: blocks(Scale),
    "no residual": lambda: resnet(NoShortcut),
    "gated residual": lambda: resnet(GatedShortcut),
    "deeper": lambda: resnet(layers=(4, 2, 2, 2)),
    "shallower": lambda: resnet(layers=(1, 2, 2, 2)),
    "head": lambda: other_head(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)),
}


def spatial_biased():
    return swapped(resnet(), nn.Conv2d, lambda c: conv_like(c, bias=True))


def sampled(kinds):
    """The kinds of edits, all but every fourth for a run that has more time."""
    marks = [() if number % 4 == 0 else pytest.mark.slow for number in range(len(kinds))]
    return [pytest.param(kind, marks=mark) for kind, mark in zip(kinds, marks, strict=True)]


@pytest.mark.parametrize("kind", sampled(RESNETS))
def test_a_resnet(kind):
    assert trace(RESNETS[kind]()).fingerprint in becomes(traced(resnet), kind)


def vit(**changes):
    said = {"image_size": 32, "patch_size": 8, "num_layers": 3, "num_heads": 4}
    said |= {"hidden_dim": 64, "mlp_dim": 160} | changes
    return torchvision.models.VisionTransformer(**said)


class SwiGLU(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate, self.value = nn.Linear(width, inner), nn.Linear(width, inner)
        self.out = nn.Linear(inner, width)

    def forward(self, x):
        return self.out(nn.functional.silu(self.gate(x)) * self.value(x))


class Adapted(nn.Module):
    """A branch with an adapter behind it."""

    def __init__(self, branch, width):
        super().__init__()
        self.branch = branch
        self.down, self.up = nn.Linear(width, width // 8), nn.Linear(width // 8, width)

    def forward(self, *args, **settings):
        x = self.branch(*args, **settings)
        first = x[0] if isinstance(x, tuple) else x
        first = first + self.up(torch.relu(self.down(first)))
        return (first, *x[1:]) if isinstance(x, tuple) else first


def gated_vit():
    model = vit()
    for layer in model.encoder.layers:
        layer.mlp = SwiGLU(64, 104)
    return model


def adapted_vit():
    model = vit()
    for layer in model.encoder.layers:
        layer.self_attention = Adapted(layer.self_attention, 64)
        layer.mlp = Adapted(layer.mlp, 64)
    return model


VITS = {
    "gated perceptron": gated_vit,
    "adapter": adapted_vit,
    "heads": lambda: vit(num_heads=8),
    "width": lambda: vit(hidden_dim=128, num_heads=8, mlp_dim=320),
    "inner width": lambda: vit(mlp_dim=320),
    "deeper": lambda: vit(num_layers=5),
    "shallower": lambda: vit(num_layers=2),
}


@pytest.mark.parametrize("kind", sampled(VITS))
def test_a_vision_transformer(kind):
    images = torch.zeros(1, 3, 32, 32)
    assert trace(VITS[kind](), images).fingerprint in becomes(traced(vit), kind)


class Tagger(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.out = encoder, nn.Linear(512, 9)
        self.lstm = nn.LSTM(64, 256, bidirectional=True, batch_first=True)

    def forward(self, ids):
        return self.out(self.lstm(self.encoder(ids).last_hidden_state)[0])


def test_language_models():
    transformers = pytest.importorskip("transformers")
    sizes = {"num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4}
    config = transformers.BertConfig(**sizes, intermediate_size=160, vocab_size=1000)
    bert = transformers.BertModel(config, add_pooling_layer=False)
    ids, vectors = torch.zeros(1, 8, dtype=torch.long), torch.zeros(1, 8, 64)
    whole = trace(bert, ids)
    given = trace(bert, {"inputs_embeds": vectors})
    assert given.fingerprint in becomes(whole, "no embeddings")
    assert trace(Tagger(bert), ids).fingerprint in becomes(whole, "tagger")
