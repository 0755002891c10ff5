"""Small designs whose checkpoints are asked about."""

import torch
from torch import nn


class Attends(nn.Module):
    """Query, key and value in three layers, or in one."""

    def __init__(self, packed, width=32, words=6000, classes=5, depth=2):
        super().__init__()
        self.packed = packed
        self.embed = nn.Embedding(words, width)
        names = ("qkv",) if packed else ("q", "k", "v")
        out = 3 * width if packed else width
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {name: nn.Linear(width, out) for name in names}
                | {"o": nn.Linear(width, width), "norm": nn.LayerNorm(width)}
            )
            for _ in range(depth)
        )
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            if self.packed:
                q, k, v = block["qkv"](x).chunk(3, -1)
            else:
                q, k, v = (block[name](x) for name in "qkv")
            q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in (q, k, v))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
            x = block["norm"](x + block["o"](mixed.transpose(1, 2).flatten(2)))
        return self.head(x[:, 0])


def convolves(depth, classes=10):
    layers = [nn.Conv2d(3, 16, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))


def perceptron(width=24):
    return nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, 7))


IDS = torch.zeros(1, 4, dtype=torch.long)
DESIGNS = {
    "timm:shallow": (convolves(2), torch.zeros(1, 3, 16, 16)),
    "timm:deep": (convolves(4), torch.zeros(1, 3, 16, 16)),
    "transformers:attends/AttendsForWords": (Attends(True), IDS),
    "my:perceptron": (perceptron(), torch.zeros(1, 12)),
}
