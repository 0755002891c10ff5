"""Small hand-written models that several tests trace."""

import torch
from torch import nn
from torch.nn import functional as F


class ConvNet(nn.Module):
    """Two convolutions and a classifier; every number in the tests is worked out by hand."""

    def __init__(self, kernel=3, groups=1, activation=nn.ReLU, norm=nn.BatchNorm2d, residual=False):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = norm(8)
        self.act = activation()
        self.conv = nn.Conv2d(8, 8, kernel, padding=kernel // 2, groups=groups)
        self.residual = residual
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = self.act(self.norm(self.stem(x)))
        x = self.conv(x) + x if self.residual else self.conv(x)
        return self.head(x.mean((2, 3)))


class SelfAttention(nn.Module):
    """nanoGPT's causal attention, by hand or by the fused kernel."""

    def __init__(self, width, heads, fused):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.heads = heads
        self.fused = fused

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for part in self.c_attn(x).split(c, dim=2)
        )
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / k.shape[-1] ** 0.5)
            mask = torch.tril(torch.ones(t, t, device=x.device)).view(1, 1, t, t)
            y = F.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class GPTBlock(nn.Module):
    def __init__(self, width, heads, fused, pre_norm=True):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = SelfAttention(width, heads, fused)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1)
        )
        self.pre_norm = pre_norm

    def forward(self, x):
        if self.pre_norm:
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))
        x = self.ln_1(x + self.attn(x))
        return self.ln_2(x + self.mlp(x))


class NanoGPT(nn.Module):
    """nanoGPT as a person types it: github.com/karpathy/nanoGPT, model.py."""

    def __init__(
        self, vocabulary=50304, block_size=64, layers=6, heads=6, width=384, fused=True, **block
    ):
        super().__init__()
        self.block_size = block_size
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(block_size, width)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList(GPTBlock(width, heads, fused, **block) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.block_size, f"Cannot forward sequence of length {t}"
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
            return logits, loss
        return logits


class UNet(nn.Module):
    """A U-Net with three levels, after Ronneberger et al. 2015."""

    def __init__(self, channels=3, classes=2, width=32):
        super().__init__()

        def double(a, b):
            return nn.Sequential(
                nn.Conv2d(a, b, 3, padding=1),
                nn.BatchNorm2d(b),
                nn.ReLU(inplace=True),
                nn.Conv2d(b, b, 3, padding=1),
                nn.BatchNorm2d(b),
                nn.ReLU(inplace=True),
            )

        widths = [width, 2 * width, 4 * width]
        self.down = nn.ModuleList(
            double(a, b) for a, b in zip([channels, *widths[:-1]], widths, strict=True)
        )
        self.middle = double(widths[-1], 8 * width)
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in reversed(widths))
        self.merge = nn.ModuleList(double(2 * w, w) for w in reversed(widths))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for up, merge, skip in zip(self.up, self.merge, reversed(skips), strict=True):
            x = merge(torch.cat([skip, up(x)], dim=1))
        return self.head(x)


class BottleneckBlock(nn.Module):
    """Three convolutions and a residual sum, with room for what designers change."""

    def __init__(
        self, *, norm=nn.BatchNorm2d, act=nn.ReLU, kernel=3, groups=1, inner=16, gate=False
    ):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(32, inner, 1, bias=False), norm(inner)
        self.conv2 = nn.Conv2d(inner, inner, kernel, padding=kernel // 2, groups=groups, bias=False)
        self.norm2 = norm(inner)
        self.conv3, self.norm3 = nn.Conv2d(inner, 32, 1, bias=False), norm(32)
        self.act = act()
        self.gate = nn.ModuleList([nn.Linear(32, 4), nn.Linear(4, 32)]) if gate else None

    def forward(self, x):
        y = self.act(self.norm1(self.conv1(x)))
        y = self.norm3(self.conv3(self.act(self.norm2(self.conv2(y)))))
        if self.gate is not None:
            first, second = self.gate
            y = y * torch.sigmoid(second(F.relu(first(y.mean((2, 3))))))[:, :, None, None]
        return self.act(x + y)


class BottleneckNet(nn.Module):
    """Some of these blocks between a convolution and a linear layer."""

    def __init__(self, layers=3, **block):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.layers = nn.Sequential(*(BottleneckBlock(**block) for _ in range(layers)))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.layers(self.stem(x)).mean((2, 3)))
