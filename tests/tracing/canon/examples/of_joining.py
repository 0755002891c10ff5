"""Examples of the rules on what is joined, added and reduced in steps, and on patches."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

SIDE, WIDTH, GROUPS = 4, 16, 4
SAMPLES, CHANNELS, LENGTH = 2, 3, 12
GRID = LENGTH // SIDE
TOKENS, PATCH = GRID * GRID, CHANNELS * SIDE * SIDE


def paths():
    return {
        "a": nn.Conv2d(CHANNELS, WIDTH, 1),
        "b": nn.Conv2d(CHANNELS, WIDTH, 3, padding=1),
        "c": nn.Conv2d(CHANNELS, WIDTH, 5, padding=2),
        "grouped": nn.Conv2d(WIDTH, WIDTH, 3, padding=1, groups=GROUPS),
        "groups": nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(GROUPS)),
        "mixed": nn.ModuleList(nn.Conv2d(4, 4, side, padding=side // 2) for side in (1, 3, 3, 3)),
        "patches": nn.Conv2d(CHANNELS, WIDTH, SIDE, SIDE),
        "flat": nn.Linear(PATCH, WIDTH),
        "whole": nn.Linear(CHANNELS * LENGTH * LENGTH, WIDTH),
        "merge": nn.Linear(4 * WIDTH, WIDTH),
        "norm": nn.LayerNorm(4 * WIDTH),
    }


def joined(join):
    return lambda m, x: join(m.a(x), m.b(x), m.c(x))


def pooled(pool):
    return lambda m, x: pool(m.a(x))


def cat(*values):
    return torch.cat(values, 1)


def one_by_one(layers, parts):
    return cat(*(layer(part) for layer, part in zip(layers, parts, strict=False)))


def sliced(m, x):
    return one_by_one(m.groups, [x[:, start : start + 4] for start in range(0, WIDTH, 4)])


def cut(x):
    """`b c (h p) (w q) -> b h w c p q`."""
    return x.reshape(SAMPLES, CHANNELS, GRID, SIDE, GRID, SIDE).permute(0, 2, 4, 1, 3, 5)


def by_einops(m, x):
    return m.flat(cut(x).permute(0, 1, 2, 4, 5, 3).reshape(SAMPLES, TOKENS, PATCH))


def by_product(m, x):
    return cut(x).reshape(SAMPLES, TOKENS, PATCH) @ m.flat.weight.T + m.flat.bias


def by_unfold(m, x):
    windows = x.unfold(2, SIDE, SIDE).unfold(3, SIDE, SIDE)
    return m.flat(windows.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2))


def half_of_them(m, x):
    return m.flat(cut(x).reshape(SAMPLES, TOKENS, PATCH)[:, ::2])


def anything_as_long(m, x):
    return x.reshape(SAMPLES, TOKENS, PATCH) @ m.flat.weight.T


def merged_by_slices(m, x):
    x = m.a(x)
    parts = [x[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
    return m.merge(m.norm(torch.cat(parts, 1).permute(0, 2, 3, 1)))


def merged_by_unfold(m, x):
    return m.merge(m.norm(F.unfold(m.a(x), 2, stride=2).mT))


def merged_by_wide_unfold(m, x):
    return m.merge(m.norm(F.unfold(m.a(x), 2, stride=1).mT))


EXAMPLES = {
    "joined in steps": Example(
        same=[
            joined(cat),
            joined(lambda a, b, c: cat(cat(a, b), c)),
            joined(lambda a, b, c: cat(a, cat(b, c))),
        ],
        different=[
            joined(lambda a, b, c: cat(cat(a, b)[:, 1:], c)),
            joined(lambda a, b, c: cat(cat(b, a), c)),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "sum of a stack": Example(
        same=[
            joined(lambda a, b, c: a + b + c),
            joined(lambda *paths: torch.stack(paths).sum(0)),
            joined(lambda *paths: torch.stack(paths, -1).sum(-1)),
            joined(lambda *paths: torch.stack(paths).mean(0)),
        ],
        different=[
            joined(lambda *paths: torch.stack(paths).sum((0, 1))),
            joined(lambda *paths: torch.stack(paths).sum()),
            joined(lambda *paths: torch.stack(paths).amax(0)),
            joined(lambda *paths: torch.stack(paths)[:2].sum(0)),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "added in steps": Example(
        same=[
            joined(lambda a, b, c: a + b + c),
            joined(lambda a, b, c: a + (b + c)),
            joined(lambda *paths: sum(paths)),
            joined(lambda a, b, c: (a + c) + b),
        ],
        different=[
            joined(lambda a, b, c: a + b),
            joined(lambda a, b, c: (both := a + b) * (both + c)),
            joined(lambda a, b, c: torch.relu(a + b) + c),
            joined(lambda a, b, c: (a + b)[:, :, :1] + c),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "one dimension after the other": Example(
        same=[
            pooled(lambda x: x.mean((2, 3))),
            pooled(lambda x: x.mean(3).mean(2)),
            pooled(lambda x: x.mean(2).mean(2)),
            pooled(lambda x: x.mean(2, keepdim=True).mean(3, keepdim=True)),
        ],
        different=[
            pooled(lambda x: x.mean(3).amax(2)),
            pooled(lambda x: x.mean(3).mean(0)),
            pooled(lambda x: x.mean(3)[:, :, :2].mean(2)),
            pooled(lambda x: (y := x.mean((2, 3))) - y.mean(1, keepdim=True)),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "sum over how many": Example(
        same=[
            pooled(lambda x: x.mean((2, 3))),
            pooled(lambda x: x.sum((2, 3)) / (x.shape[2] * x.shape[3])),
            pooled(lambda x: x.sum((2, 3)) * (1 / LENGTH**2)),
            pooled(lambda x: x.sum(3).sum(2) / LENGTH**2),
            pooled(lambda x: x.sum((2, 3)) / torch.tensor(float(LENGTH**2))),
        ],
        different=[
            pooled(lambda x: x.sum((2, 3)) / 7),
            pooled(lambda x: x.amax((2, 3)) / LENGTH**2),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "groups one by one": Example(
        same=[
            lambda m, x: m.grouped(m.a(x)),
            lambda m, x: one_by_one(m.groups, m.a(x).chunk(GROUPS, 1)),
            lambda m, x: sliced(m, m.a(x)),
        ],
        different=[
            lambda m, x: one_by_one(m.groups, [m.a(x)[:, :4]] * GROUPS),
            lambda m, x: one_by_one(m.mixed, m.a(x).chunk(GROUPS, 1)),
            lambda m, x: one_by_one(m.groups, [torch.relu(part) for part in m.a(x).chunk(4, 1)]),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "projected patches": Example(
        same=[
            lambda m, x: m.patches(x).flatten(2).mT,
            by_einops,
            by_product,
            by_unfold,
            lambda m, x: m.flat(F.unfold(x, SIDE, stride=SIDE).mT),
        ],
        different=[
            anything_as_long,
            half_of_them,
            lambda m, x: m.flat(F.unfold(x, SIDE, stride=2).mT),
            lambda m, x: m.whole(x.flatten(1)),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
    "patches side by side": Example(
        same=[merged_by_slices, merged_by_unfold],
        different=[
            merged_by_wide_unfold,
            lambda m, x: m.merge(F.unfold(m.a(x), 2, stride=2).mT),
        ],
        shape=(SAMPLES, CHANNELS, LENGTH, LENGTH),
        layers=paths,
    ),
}
