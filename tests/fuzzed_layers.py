"""Kinds of layers for random modules, each fitted to values of one shape: (2, 8, 16)."""

from math import prod

import torch
from torch import nn
from torch.nn import functional as F

SHAPE = (2, 8, 16)  # batch, channels, length; what every part of a random module takes and gives
FORMS = {
    "signal": (2, 8, 16),
    "image": (2, 8, 4, 4),
    "volume": (2, 8, 2, 4, 2),
    "sequence": (2, 16, 8),
    "vector": (32, 8),
    "columns": (2, 16, 16),  # unfolded 2x2 patches of four channels, twice the elements
}


def fit(y):
    """Any result as a tensor of `SHAPE`: the first tensor in it, resampled."""
    while isinstance(y, tuple | list | dict):
        y = next(iter(y.values() if isinstance(y, dict) else y))
    y = (y.real if y.is_complex() else y).float()
    if y.numel() != prod(SHAPE):
        y = F.adaptive_avg_pool1d(y.reshape(1, 1, -1), prod(SHAPE))
    return y.reshape(SHAPE)


class Fitted(nn.Module):
    """A layer between two changes of shape, so that any layer may follow any other."""

    def __init__(self, layer, form, call=None):
        super().__init__()
        self.layer, self.form, self.call = layer, form, call

    def forward(self, x):
        x = x.repeat(1, 1, 2) if self.form == "columns" else x
        if self.form == "tokens":
            x = (x.abs() * 3).long() % 8
        else:
            x = x.reshape(FORMS[self.form])
        return fit(self.call(self.layer, x) if self.call else self.layer(x))


def _twice(layer, x):
    return layer(x, x)


def _unpooled(layer, x):
    pooled, indices = F.max_pool2d(x, 2, return_indices=True)
    return layer(pooled, indices)


def _attended(layer, x):
    return layer(x, x, x)


def _bags(layer, x):
    return layer(x.reshape(-1), torch.arange(0, x.numel(), 4))


def _stepped(layer, x):
    state = None
    for step in x.unbind(1):
        state = layer(step, state)
    return state


def _listed(layers, x):
    for name in layers:
        x = layers[name](x) if isinstance(name, str) else name(x)
    return x


def _weighted(weights, x):
    items = weights.values() if isinstance(weights, nn.ParameterDict) else weights
    return x * sum(item.sum() for item in items)


def _packed(layer, x):
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([16, 9]), batch_first=True)
    return nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True)


_PLAIN = {  # name: (form, makes the layer with a number from 0 to 3)
    "Conv1d": ("signal", lambda n: nn.Conv1d(8, 8, 1 + n, padding="same")),
    "Conv2d": ("image", lambda n: nn.Conv2d(8, 4 + 4 * n, 3, stride=1 + n % 2, padding=1)),
    "Conv3d": ("volume", lambda n: nn.Conv3d(8, 8, (1, 3, 1), padding=(0, 1, n))),
    "depthwise": ("image", lambda n: nn.Conv2d(8, 8, 3, padding=1, groups=8)),
    "grouped": ("image", lambda n: nn.Conv2d(8, 8, 3, padding=1, groups=2 ** (n % 3))),
    "dilated": ("image", lambda n: nn.Conv2d(8, 8, 3, padding=1 + n, dilation=1 + n)),
    "circular": ("signal", lambda n: nn.Conv1d(8, 8, 3, padding=1, padding_mode="circular")),
    "ConvTranspose1d": ("signal", lambda n: nn.ConvTranspose1d(8, 4, 2, stride=1 + n % 2)),
    "ConvTranspose2d": ("image", lambda n: nn.ConvTranspose2d(8, 8, 2, stride=2)),
    "ConvTranspose3d": ("volume", lambda n: nn.ConvTranspose3d(8, 4, 1, stride=1 + n % 2)),
    "Linear": ("sequence", lambda n: nn.Linear(8, 4 + n, bias=n > 1)),
    "LSTM": ("sequence", lambda n: nn.LSTM(8, 4, 1 + n % 2, bidirectional=n > 1)),
    "GRU": ("sequence", lambda n: nn.GRU(8, 4 + n, batch_first=True)),
    "RNN": ("sequence", lambda n: nn.RNN(8, 8, 1 + n, nonlinearity="relu")),
    "LSTM proj": ("sequence", lambda n: nn.LSTM(8, 8, proj_size=4)),
    "Encoder": (
        "sequence",
        lambda n: nn.TransformerEncoderLayer(8, 2**n, 16, 0.1, batch_first=True, norm_first=n > 1),
    ),
    "encoder stack": (
        "sequence",
        lambda n: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 1 + n),
    ),
    "Embedding": ("tokens", lambda n: nn.Embedding(8, 4 + n, padding_idx=n, max_norm=n or None)),
    "BatchNorm1d": ("signal", lambda n: nn.BatchNorm1d(8, affine=n > 1, track_running_stats=n < 3)),
    "BatchNorm2d": ("image", lambda n: nn.BatchNorm2d(8)),
    "BatchNorm3d": ("volume", lambda n: nn.BatchNorm3d(8, momentum=None)),
    "InstanceNorm2d": ("image", lambda n: nn.InstanceNorm2d(8, affine=n > 1)),
    "LayerNorm": ("sequence", lambda n: nn.LayerNorm(8, elementwise_affine=n > 0)),
    "GroupNorm": ("image", lambda n: nn.GroupNorm(2 ** (n % 3), 8)),
    "RMSNorm": ("sequence", lambda n: nn.RMSNorm(8)),
    "LocalResponseNorm": ("image", lambda n: nn.LocalResponseNorm(2 + n)),
    "MaxPool1d": ("signal", lambda n: nn.MaxPool1d(1 + n, ceil_mode=n > 1)),
    "MaxPool2d": ("image", lambda n: nn.MaxPool2d(2, return_indices=n > 1)),
    "MaxPool3d": ("volume", lambda n: nn.MaxPool3d((1, 2, 1))),
    "AvgPool2d": ("image", lambda n: nn.AvgPool2d(2, stride=1, count_include_pad=n > 1)),
    "LPPool1d": ("signal", lambda n: nn.LPPool1d(1 + n, 2)),
    "LPPool2d": ("image", lambda n: nn.LPPool2d(2.5, 2)),
    "AdaptiveAvgPool2d": ("image", lambda n: nn.AdaptiveAvgPool2d((1 + n, None))),
    "AdaptiveMaxPool3d": ("volume", lambda n: nn.AdaptiveMaxPool3d(1 + n)),
    "FractionalMaxPool2d": ("image", lambda n: nn.FractionalMaxPool2d(2, output_size=3)),
    "FractionalMaxPool3d": ("volume", lambda n: nn.FractionalMaxPool3d(1, output_ratio=0.5)),
    "ReLU": ("signal", lambda n: nn.ReLU(inplace=n > 1)),
    "PReLU": ("signal", lambda n: nn.PReLU(8 if n > 1 else 1)),
    "RReLU": ("signal", lambda n: nn.RReLU()),
    "GELU": ("signal", lambda n: nn.GELU("tanh" if n > 1 else "none")),
    "GLU": ("sequence", lambda n: nn.GLU()),
    "CELU": ("signal", lambda n: nn.CELU(1 + n, inplace=True)),
    "Threshold": ("signal", lambda n: nn.Threshold(0.1, n)),
    "Softplus": ("signal", lambda n: nn.Softplus(1 + n)),
    "Hardswish": ("signal", lambda n: nn.Hardswish(inplace=n > 1)),
    "Mish": ("signal", lambda n: nn.Mish(inplace=n > 1)),
    "Softmax2d": ("image", lambda n: nn.Softmax2d()),
    "LogSoftmax": ("signal", lambda n: nn.LogSoftmax(dim=-1)),
    "Softmin": ("signal", lambda n: nn.Softmin(dim=1)),
    "Tanhshrink": ("signal", lambda n: nn.Tanhshrink()),
    "Dropout": ("signal", lambda n: nn.Dropout(0.3 * n)),
    "Dropout2d": ("image", lambda n: nn.Dropout2d(inplace=n > 1)),
    "AlphaDropout": ("signal", lambda n: nn.AlphaDropout()),
    "FeatureAlphaDropout": ("image", lambda n: nn.FeatureAlphaDropout()),
    "ReflectionPad2d": ("image", lambda n: nn.ReflectionPad2d(n)),
    "ReplicationPad1d": ("signal", lambda n: nn.ReplicationPad1d(n)),
    "ZeroPad2d": ("image", lambda n: nn.ZeroPad2d((0, n, 1, 0))),
    "CircularPad2d": ("image", lambda n: nn.CircularPad2d(n)),
    "ConstantPad3d": ("volume", lambda n: nn.ConstantPad3d(n, 0.5)),
    "PixelShuffle": ("image", lambda n: nn.PixelShuffle(2)),
    "PixelUnshuffle": ("image", lambda n: nn.PixelUnshuffle(2)),
    "ChannelShuffle": ("image", lambda n: nn.ChannelShuffle(2 ** (n % 3))),
    "Upsample": (
        "image",
        lambda n: nn.Upsample(scale_factor=1.5, mode=("nearest", "bicubic")[n % 2]),
    ),
    "UpsamplingBilinear2d": ("image", lambda n: nn.UpsamplingBilinear2d(5 + n)),
    "Flatten": ("image", lambda n: nn.Flatten(n % 3)),
    "Unflatten": ("signal", lambda n: nn.Unflatten(1, (2, 4))),
    "Fold": ("columns", lambda n: nn.Fold(5, 2)),
    "Unfold": ("image", lambda n: nn.Unfold(2, stride=1 + n % 2)),
    "Identity": ("signal", lambda n: nn.Identity()),
    "weight_norm": (
        "sequence",
        lambda n: nn.utils.parametrizations.weight_norm(nn.Linear(8, 8), dim=n % 2),
    ),
    "old weight_norm": ("signal", lambda n: nn.utils.weight_norm(nn.Conv1d(8, 8, 1))),
    "spectral_norm": (
        "sequence",
        lambda n: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8)),
    ),
    "old spectral_norm": ("sequence", lambda n: nn.utils.spectral_norm(nn.Linear(8, 8))),
    "orthogonal": ("sequence", lambda n: nn.utils.parametrizations.orthogonal(nn.Linear(8, 8))),
    "LazyLinear": ("sequence", lambda n: nn.LazyLinear(4 + n)),
    "LazyConv2d": ("image", lambda n: nn.LazyConv2d(4, 1 + n)),
    "LazyBatchNorm1d": ("signal", lambda n: nn.LazyBatchNorm1d()),
}
_CALLED = {  # name: (form, makes the layer, calls it)
    "Bilinear": ("vector", lambda n: nn.Bilinear(8, 8, 4 + n), _twice),
    "EmbeddingBag": ("tokens", lambda n: nn.EmbeddingBag(8, 4, mode=("sum", "max")[n % 2]), _bags),
    "MultiheadAttention": ("sequence", lambda n: nn.MultiheadAttention(8, 2**n), _attended),
    "Decoder": ("sequence", lambda n: nn.TransformerDecoderLayer(8, 2, 16, 0.0), _twice),
    "Transformer": ("sequence", lambda n: nn.Transformer(8, 2, 1, 1, 8), _twice),
    "MaxUnpool2d": ("image", lambda n: nn.MaxUnpool2d(2), _unpooled),
    "GRUCell": ("sequence", lambda n: nn.GRUCell(8, 4 + n), _stepped),
    "RNNCell": ("sequence", lambda n: nn.RNNCell(8, 4 + n), _stepped),
    "LSTMCell": ("sequence", lambda n: nn.LSTMCell(8, 4 + n), _stepped),
    "packed GRU": ("sequence", lambda n: nn.GRU(8, 4, batch_first=True), _packed),
    "CosineSimilarity": ("signal", lambda n: nn.CosineSimilarity(n % 3), _twice),
    "PairwiseDistance": ("vector", lambda n: nn.PairwiseDistance(1 + n), _twice),
    "ModuleList": (
        "sequence",
        lambda n: nn.ModuleList(nn.Linear(8, 8) for _ in range(n + 1)),
        _listed,
    ),
    "ModuleDict": ("signal", lambda n: nn.ModuleDict({"a": nn.ELU(), "b": nn.SELU()}), _listed),
    "ParameterList": (
        "signal",
        lambda n: nn.ParameterList(torch.rand(1 + n) for _ in range(3)),
        _weighted,
    ),
    "ParameterDict": ("signal", lambda n: nn.ParameterDict({"a": torch.rand(8, 1)}), _weighted),
}
LAYERS = tuple(sorted({*_PLAIN, *_CALLED}))


def layer(kind, n):
    """The fitted layer of a kind; `n`, 0 to 3, chooses among its settings."""
    form, make, *call = {**_PLAIN, **_CALLED}[kind]
    return Fitted(make(n), form, *call)
