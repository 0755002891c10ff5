"""Examples of the rules on layers with weights, pooling and resampling."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example


def linears():
    return {
        "fc": nn.Linear(8, 16),
        "bare": nn.Linear(8, 16, bias=False),
        "point": nn.Conv1d(8, 16, 1),
        "grouped": nn.Conv1d(8, 16, 1, groups=2),
        "wide": nn.Conv1d(8, 16, 3, padding=1),
        "bias": nn.Parameter(torch.zeros(16)),
        "places": nn.Parameter(torch.zeros(6, 16)),
    }


def convolutions():
    return {
        "conv": nn.Conv2d(3, 8, 3, padding=1),
        "valid": nn.Conv2d(3, 8, 3),
        "bare": nn.Conv2d(3, 8, 3, padding=1, bias=False),
        "bias": nn.Parameter(torch.zeros(8)),
        "five": nn.Conv2d(3, 8, 5, padding=2),
        "far": nn.Conv2d(3, 8, 3, padding=2, dilation=2),
        "stride": nn.Conv2d(3, 8, 3, padding=1, stride=2),
        "turned": nn.ConvTranspose2d(3, 8, 3, padding=1),
        "shrink": nn.Conv2d(8, 2, 1),
        "grow": nn.Conv2d(2, 8, 1),
        "grouped": nn.Conv2d(8, 2, 1, groups=2),
        "fc1": nn.Linear(8, 2),
        "fc2": nn.Linear(2, 8),
    }


def embeddings():
    return {
        "few": nn.Embedding(10, 8),
        "padded": nn.Embedding(10, 8, padding_idx=0),
        "wide": nn.Embedding(10, 16),
        "many": nn.Embedding(20, 8),
    }


def excite_by_conv(m, x):
    x = m.conv(x)
    gate = F.adaptive_avg_pool2d(x, 1)
    return x * torch.sigmoid(m.grow(torch.relu(m.shrink(gate))))


def excite_by_linear(m, x):
    x = m.conv(x)
    gate = torch.sigmoid(m.fc2(torch.relu(m.fc1(x.mean((2, 3))))))
    return x * gate[:, :, None, None]


def squeeze_everywhere(m, x):
    x = m.conv(x)
    return x * torch.sigmoid(m.grow(torch.relu(m.shrink(x))))


def tokens(m, x):
    return (torch.arange(x.shape[1])[None] % 7).to(x.device)


def ids(x):
    return x[:, :, 0].long()


def gathered(m, x):
    places = ids(x)[..., None].expand(-1, -1, 8)
    return m.few.weight[None].expand(len(x), -1, -1).gather(1, places)


def pooled(pool):
    return lambda m, x: pool(m.conv(x))


EXAMPLES = {
    "product with a weight": Example(
        same=[
            lambda m, x: m.fc(x),
            lambda m, x: x @ m.fc.weight.T + m.fc.bias,
            lambda m, x: torch.einsum("bti,oi->bto", x, m.fc.weight) + m.fc.bias,
            lambda m, x: torch.addmm(m.fc.bias, x.flatten(0, 1), m.fc.weight.t()),
            lambda m, x: m.fc(x.transpose(1, 2).contiguous().transpose(1, 2)),
        ],
        different=[lambda m, x: m.bare(x), lambda m, x: m.grouped(x.mT).mT],
        shape=(2, 6, 8),
        layers=linears,
    ),
    "bias by hand": Example(
        same=[lambda m, x: m.fc(x), lambda m, x: m.bare(x) + m.bias],
        different=[
            lambda m, x: m.bare(x),
            lambda m, x: m.bare(x) + m.places,
            lambda m, x: m.bare(x) * m.bias,
        ],
        layers=linears,
    ),
    "pointwise convolution along a sequence": Example(
        same=[
            lambda m, x: m.fc(x),
            lambda m, x: m.point(x.transpose(1, 2)).transpose(1, 2),
        ],
        different=[
            lambda m, x: m.grouped(x.transpose(1, 2)).transpose(1, 2),
            lambda m, x: m.wide(x.transpose(1, 2)).transpose(1, 2),
        ],
        layers=linears,
    ),
    "pointwise convolution of pooled features": Example(
        same=[excite_by_conv, excite_by_linear],
        different=[
            squeeze_everywhere,
            lambda m, x: m.shrink(m.conv(x)),
            lambda m, x: m.grouped(m.conv(x).mean((2, 3), keepdim=True)),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "convolution": Example(
        same=[
            lambda m, x: m.conv(x),
            lambda m, x: m.valid(F.pad(x, (1, 1, 1, 1))),
            lambda m, x: m.bare(x) + m.bias[:, None, None],
        ],
        different=[
            lambda m, x: m.bare(x),
            lambda m, x: m.five(x),
            lambda m, x: m.far(x),
            lambda m, x: m.stride(x),
            lambda m, x: m.turned(x),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "embedding": Example(
        same=[
            lambda m, x: m.few(tokens(m, x)),
            lambda m, x: m.padded(tokens(m, x)),
            lambda m, x: F.embedding(tokens(m, x), m.few.weight, sparse=True),
        ],
        different=[
            lambda m, x: m.wide(tokens(m, x)),
            lambda m, x: m.many(tokens(m, x)),
            lambda m, x: F.embedding_bag(tokens(m, x), m.few.weight),
        ],
        layers=embeddings,
    ),
    "embedding by hand": Example(
        same=[
            lambda m, x: m.few(ids(x)),
            lambda m, x: m.few.weight[ids(x)],
            lambda m, x: m.few.weight.index_select(0, ids(x).flatten())[None],
            gathered,
            lambda m, x: m.few.weight.T[:, ids(x)].permute(1, 2, 0),
        ],
        different=[
            lambda m, x: m.wide.weight[ids(x)],
            lambda m, x: m.many.weight[ids(x)],
            lambda m, x: m.few.weight[torch.arange(6)] * x,
        ],
        layers=embeddings,
    ),
    "pooling": Example(
        same=[
            pooled(lambda x: F.max_pool2d(x, 2)),
            pooled(lambda x: F.max_pool2d(x, 2, return_indices=True)[0]),
            pooled(lambda x: F.max_pool2d(x, (2, 2), stride=2)),
        ],
        different=[
            pooled(lambda x: F.avg_pool2d(x, 2)),
            pooled(lambda x: F.max_pool2d(x, 3, stride=2)),
            pooled(lambda x: F.max_pool2d(x, 2, stride=1)),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "global pooling": Example(
        same=[
            pooled(lambda x: x.mean((2, 3))),
            pooled(lambda x: x.mean((2, 3), keepdim=True)),
            pooled(lambda x: x.flatten(2).mean(-1)),
            pooled(lambda x: x.flatten(2).transpose(1, 2).mean(1)),
            pooled(lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1)),
            pooled(lambda x: F.adaptive_avg_pool1d(x.flatten(2), 1)),
            pooled(lambda x: F.avg_pool2d(x, x.shape[2:])),
            pooled(lambda x: F.avg_pool2d(x, 64, ceil_mode=True)),
        ],
        different=[
            pooled(lambda x: x.amax((2, 3))),
            pooled(lambda x: F.adaptive_avg_pool2d(x, 2)),
            pooled(lambda x: F.avg_pool2d(x, 5)),
            pooled(lambda x: x.mean(1)),
            pooled(lambda x: x.mean()),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "reductions": Example(
        same=[
            pooled(lambda x: x.sum(2)),
            pooled(lambda x: x.sum(-1)),
            pooled(lambda x: x.sum(3, keepdim=True)),
        ],
        different=[
            pooled(lambda x: x.sum((2, 3))),
            pooled(lambda x: x.var(2)),
            pooled(lambda x: x.amax(2)),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "resampling": Example(
        same=[
            pooled(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
            pooled(lambda x: F.interpolate(x, size=(18, 18), mode="bilinear")),
            pooled(nn.Upsample(scale_factor=4, mode="bilinear", align_corners=True)),
        ],
        different=[
            pooled(lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
            pooled(lambda x: F.interpolate(x, scale_factor=2, mode="bicubic")),
            pooled(lambda x: F.interpolate(x, size=(7, 5), mode="bilinear", antialias=True)),
            pooled(lambda x: F.pixel_shuffle(x, 2)),
        ],
        shape=(1, 3, 9, 9),
        layers=convolutions,
    ),
    "recurrent layers": Example(
        same=[
            lambda m, x: m.lstm(x)[0],
            lambda m, x: m.lstm(x[:, :3])[0],
            lambda m, x: m.lstm(x, (torch.zeros(1, 1, 16), torch.zeros(1, 1, 16)))[0],
        ],
        different=[
            lambda m, x: m.gru(x)[0],
            lambda m, x: m.both(x)[0],
            lambda m, x: m.deep(x)[0],
        ],
        layers=lambda: {
            "lstm": nn.LSTM(8, 16, batch_first=True),
            "gru": nn.GRU(8, 16, batch_first=True),
            "both": nn.LSTM(8, 16, batch_first=True, bidirectional=True),
            "deep": nn.LSTM(8, 16, 2, batch_first=True),
        },
    ),
}
