"""Image classifiers."""

import math
from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 4 * 4, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, self.num_flat_features(x))
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)

    def num_flat_features(self, x):
        size = x.size()[1:]
        num_features = 1
        for s in size:
            num_features *= s
        return num_features


def lenet_mnist() -> nn.Module:
    """LeNet-5 (LeCun et al. 1998), the version of the tutorials."""
    return LeNet()


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(28 * 28, 512),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(512, 10),
        )

    def forward(self, img):
        img = img.view(-1, 784)
        return F.log_softmax(self.layers(img), dim=1)


def mnist_mlp() -> nn.Module:
    """Three-layer perceptron on flattened digits (Simard et al. 2003)."""
    return MLP()


class AlexNet(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 96, kernel_size=11, stride=4),
            nn.ReLU(),
            nn.LocalResponseNorm(size=5, alpha=0.0001, beta=0.75, k=2),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(96, 256, 5, padding=2),
            nn.ReLU(),
            nn.LocalResponseNorm(size=5, alpha=0.0001, beta=0.75, k=2),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(256, 384, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(384, 384, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=3, stride=2),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(p=0.5, inplace=False),
            nn.Linear(in_features=(256 * 6 * 6), out_features=4096),
            nn.ReLU(),
            nn.Dropout(p=0.5),
            nn.Linear(4096, 4096),
            nn.ReLU(),
            nn.Linear(4096, num_classes),
        )
        self.init_bias()

    def init_bias(self):
        for layer in self.net:
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, mean=0, std=0.01)
                nn.init.constant_(layer.bias, 0)

    def forward(self, x):
        x = self.net(x)
        x = x.view(-1, 256 * 6 * 6)
        return self.classifier(x)


def alexnet_2012() -> nn.Module:
    """AlexNet with its 227-pixel crop (Krizhevsky et al. 2012)."""
    return AlexNet()


cfg = {
    "A": [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    "D": [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
}


class VGG(nn.Module):
    def __init__(self, vgg_name):
        super().__init__()
        self.features = self._make_layers(cfg[vgg_name])
        self.classifier = nn.Linear(512, 10)

    def forward(self, x):
        out = self.features(x)
        out = out.view(out.size(0), -1)
        out = self.classifier(out)
        return out

    def _make_layers(self, cfg):
        layers = []
        in_channels = 3
        for x in cfg:
            if x == "M":
                layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
            else:
                layers += [
                    nn.Conv2d(in_channels, x, kernel_size=3, padding=1),
                    nn.BatchNorm2d(x),
                    nn.ReLU(inplace=True),
                ]
                in_channels = x
        layers += [nn.AvgPool2d(kernel_size=1, stride=1)]
        return nn.Sequential(*layers)


def vgg16_cifar() -> nn.Module:
    """VGG-16 with batch norm for CIFAR-10 (Simonyan and Zisserman 2015)."""
    return VGG("D")


class PreActBlock(nn.Module):
    def __init__(self, in_planes, out_planes, stride, drop_rate=0.0):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(in_planes)
        self.conv1 = nn.Conv2d(in_planes, out_planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_planes)
        self.conv2 = nn.Conv2d(out_planes, out_planes, 3, 1, 1, bias=False)
        self.droprate = drop_rate
        self.equal = in_planes == out_planes
        self.shortcut = (not self.equal and nn.Conv2d(in_planes, out_planes, 1, stride)) or None

    def forward(self, x):
        if not self.equal:
            x = F.relu(self.bn1(x))
        else:
            out = F.relu(self.bn1(x))
        out = F.relu(self.bn2(self.conv1(out if self.equal else x)))
        if self.droprate > 0:
            out = F.dropout(out, p=self.droprate, training=self.training)
        out = self.conv2(out)
        return torch.add(x if self.equal else self.shortcut(x), out)


class WideResNet(nn.Module):
    def __init__(self, depth, num_classes, widen_factor=1, dropRate=0.0):
        super().__init__()
        n = (depth - 4) // 6
        c = [16, 16 * widen_factor, 32 * widen_factor, 64 * widen_factor]
        self.conv1 = nn.Conv2d(3, c[0], 3, 1, 1, bias=False)
        self.block1 = self._stage(n, c[0], c[1], 1, dropRate)
        self.block2 = self._stage(n, c[1], c[2], 2, dropRate)
        self.block3 = self._stage(n, c[2], c[3], 2, dropRate)
        self.bn1 = nn.BatchNorm2d(c[3])
        self.fc = nn.Linear(c[3], num_classes)
        self.nChannels = c[3]

    def _stage(self, n, i, o, s, d):
        return nn.Sequential(
            *[PreActBlock(i if k == 0 else o, o, s if k == 0 else 1, d) for k in range(n)]
        )

    def forward(self, x):
        out = self.block3(self.block2(self.block1(self.conv1(x))))
        out = F.relu(self.bn1(out))
        out = F.avg_pool2d(out, 8)
        return self.fc(out.view(-1, self.nChannels))


def wide_resnet_28_2() -> nn.Module:
    """WRN-28-2 (Zagoruyko and Komodakis 2016)."""
    return WideResNet(28, 10, 2, dropRate=0.3)


class DenseLayer(nn.Module):
    def __init__(self, cin, growth):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(cin), nn.Conv2d(cin, 4 * growth, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x):
        out = self.conv1(F.relu(self.bn1(x)))
        out = self.conv2(F.relu(self.bn2(out)))
        return torch.cat((x, out), 1)


class DenseNet(nn.Module):
    def __init__(self, growthRate=12, depth=40, reduction=0.5, nClasses=100):
        super().__init__()
        n = (depth - 4) // 6
        nChannels = 2 * growthRate
        self.conv1 = nn.Conv2d(3, nChannels, 3, padding=1, bias=False)
        stages = []
        for stage in range(3):
            for _ in range(n):
                stages.append(DenseLayer(nChannels, growthRate))
                nChannels += growthRate
            if stage < 2:
                nOut = math.floor(nChannels * reduction)
                stages += [nn.BatchNorm2d(nChannels), nn.ReLU(), nn.Conv2d(nChannels, nOut, 1)]
                stages.append(nn.AvgPool2d(2))
                nChannels = nOut
        self.dense = nn.Sequential(*stages)
        self.bn1 = nn.BatchNorm2d(nChannels)
        self.fc = nn.Linear(nChannels, nClasses)

    def forward(self, x):
        out = self.dense(self.conv1(x))
        out = torch.squeeze(F.avg_pool2d(F.relu(self.bn1(out)), 8))
        return F.log_softmax(self.fc(out), dim=-1)


def densenet_bc_40() -> nn.Module:
    """DenseNet-BC, growth 12, depth 40 (Huang et al. 2017)."""
    return DenseNet()


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, t):
        super().__init__()
        hid = inp * t
        self.use_res = stride == 1 and inp == oup
        seq = (
            [] if t == 1 else [nn.Conv2d(inp, hid, 1, bias=False), nn.BatchNorm2d(hid), nn.ReLU6()]
        )
        seq += [
            nn.Conv2d(hid, hid, 3, stride, 1, groups=hid, bias=False),
            nn.BatchNorm2d(hid),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hid, oup, 1, bias=False),
            nn.BatchNorm2d(oup),
        ]
        self.conv = nn.Sequential(*seq)

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, n_class=1000, input_size=224, width_mult=1.0):
        super().__init__()
        assert input_size % 32 == 0
        setting = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)]
        setting += [(6, 160, 3, 2), (6, 320, 1, 1)]
        c = int(32 * width_mult)
        self.features = [nn.Sequential(nn.Conv2d(3, c, 3, 2, 1, bias=False), nn.ReLU6())]
        for t, o, n, s in setting:
            o = int(o * width_mult)
            for i in range(n):
                self.features.append(InvertedResidual(c, o, s if i == 0 else 1, t))
                c = o
        self.features.append(nn.Sequential(nn.Conv2d(c, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()))
        self.features = nn.Sequential(*self.features)
        self.classifier = nn.Linear(1280, n_class)

    def forward(self, x):
        x = self.features(x)
        x = x.mean(3).mean(2)
        return self.classifier(x)


def mobilenet_v2() -> nn.Module:
    """MobileNetV2 (Sandler et al. 2018)."""
    return MobileNetV2()


def _channel_shuffle(x, groups):
    b, c, h, w = x.data.size()
    x = x.view(b, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(b, -1, h, w)


class ShuffleUnit(nn.Module):
    def __init__(self, inp, oup, stride):
        super().__init__()
        self.stride = stride
        h = oup // 2

        def dw(c_in, s):
            return [nn.Conv2d(c_in, c_in, 3, s, 1, groups=c_in, bias=False), nn.BatchNorm2d(c_in)]

        def pw(c_in):
            return [nn.Conv2d(c_in, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU(inplace=True)]

        self.branch1 = nn.Sequential(*dw(inp, stride), *pw(inp)) if stride == 2 else None
        self.branch2 = nn.Sequential(*pw(inp if stride == 2 else h), *dw(h, stride), *pw(h))

    def forward(self, x):
        if self.stride == 1:
            x1, x2 = x.chunk(2, dim=1)
            out = torch.cat((x1, self.branch2(x2)), dim=1)
        else:
            out = torch.cat((self.branch1(x), self.branch2(x)), dim=1)
        return _channel_shuffle(out, 2)


def shufflenet_v2() -> nn.Module:
    """ShuffleNetV2 0.5x (Ma et al. 2018)."""
    layers = [nn.Conv2d(3, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
    c = 24
    for o, n in ((48, 4), (96, 8), (192, 4)):
        layers.append(ShuffleUnit(c, o, 2))
        layers.extend(ShuffleUnit(o, o, 1) for _ in range(n - 1))
        c = o
    head = [nn.Conv2d(c, 1024, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, *head, nn.Linear(1024, 1000))


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim, ls=1e-6):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(ls * torch.ones(dim))

    def forward(self, x):
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + (self.gamma * y).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, in_chans=3, num_classes=1000, depths=(2, 2, 6, 2), dims=(40, 80, 160, 320)):
        super().__init__()
        self.downs = nn.ModuleList([nn.Sequential(nn.Conv2d(in_chans, dims[0], 4, 4))])
        for i in range(3):
            self.downs.append(
                nn.Sequential(LayerNorm2d(dims[i]), nn.Conv2d(dims[i], dims[i + 1], 2, 2))
            )
        self.stages = nn.ModuleList(
            nn.Sequential(*[ConvNeXtBlock(d) for _ in range(n)])
            for n, d in zip(depths, dims, strict=True)
        )
        self.norm = nn.LayerNorm(dims[-1])
        self.head = nn.Linear(dims[-1], num_classes)

    def forward_features(self, x: torch.Tensor) -> torch.Tensor:
        for i in range(4):
            x = self.stages[i](self.downs[i](x))
        return self.norm(x.mean([-2, -1]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.forward_features(x))


def convnext_atto_multispectral() -> nn.Module:
    """ConvNeXt (Liu et al. 2022) on the ten 10-20 m bands of Sentinel-2 (EuroSAT classes)."""
    return ConvNeXt(in_chans=10, num_classes=10)


def _squash(s, dim=-1):
    n2 = (s**2).sum(dim=dim, keepdim=True)
    return n2 / (1.0 + n2) * s / (n2.sqrt() + 1e-8)


class DigitCaps(nn.Module):
    def __init__(self, in_caps, in_dim, num_caps=10, dim=16, routing=3):
        super().__init__()
        self.num_caps, self.in_caps, self.routing = num_caps, in_caps, routing
        self.W = nn.Parameter(0.01 * torch.randn(1, num_caps, in_caps, dim, in_dim))

    def forward(self, x):
        batch_size = x.size(0)
        x = x.unsqueeze(1).unsqueeze(4)
        u_hat = torch.matmul(self.W, x).squeeze(-1)  # (B, caps, in_caps, dim)
        temp = u_hat.detach()
        b = torch.zeros(batch_size, self.num_caps, self.in_caps, 1).to(x.device)
        for _ in range(self.routing - 1):
            c = F.softmax(b, dim=1)
            v = _squash((c * temp).sum(dim=2))
            b += torch.matmul(temp, v.unsqueeze(-1))
        c = F.softmax(b, dim=1)
        return _squash((c * u_hat).sum(dim=2))


class CapsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 256, 9)
        self.primary = nn.Conv2d(256, 32 * 8, 9, stride=2)
        self.digit = DigitCaps(32 * 6 * 6, 8)
        self.decoder = nn.Sequential(
            nn.Linear(16 * 10, 512),
            nn.ReLU(inplace=True),
            nn.Linear(512, 1024),
            nn.ReLU(inplace=True),
            nn.Linear(1024, 784),
            nn.Sigmoid(),
        )

    def forward(self, x):
        out = F.relu(self.conv(x))
        out = self.primary(out)
        out = _squash(out.view(out.size(0), 32, 8, 36).permute(0, 1, 3, 2).reshape(-1, 1152, 8))
        out = self.digit(out)
        logits = torch.norm(out, dim=-1)
        pred = torch.eye(10).to(out.device).index_select(dim=0, index=torch.argmax(logits, dim=1))
        reconstruction = self.decoder((out * pred.unsqueeze(2)).contiguous().view(out.shape[0], -1))
        return logits, reconstruction


def capsule_net() -> nn.Module:
    """Dynamic routing between capsules (Sabour et al. 2017)."""
    return CapsNet()


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dropout=0.0):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (
            t.reshape(b, n, self.heads, d // self.heads).transpose(1, 2)
            for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return self.to_out((attn @ v).transpose(1, 2).reshape(b, n, d))


class ViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim):
        super().__init__()
        self.p = patch_size
        self.num_patches = (image_size // patch_size) ** 2
        self.embed = nn.Linear(3 * patch_size**2, dim)
        self.pos_embedding = nn.Parameter(torch.randn(1, self.num_patches + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            mlp = nn.Sequential(
                nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim)
            )
            self.layers.append(
                nn.ModuleList([nn.Sequential(nn.LayerNorm(dim), Attention(dim, heads)), mlp])
            )
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_classes))

    def forward(self, img):
        p = self.p
        b, c, h, w = img.shape
        assert h % p == 0 and w % p == 0, "Image dimensions must be divisible by the patch size."
        x = img.unfold(2, p, p).unfold(3, p, p)  # b c h/p w/p p p
        x = x.permute(0, 2, 3, 4, 5, 1).contiguous().view(b, -1, p * p * c)
        x = self.embed(x)
        x = torch.cat((self.cls_token.expand(b, -1, -1), x), dim=1)
        x += self.pos_embedding
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.head(x[:, 0])


def vit_tiny_imagenet64() -> nn.Module:
    """Vision transformer on 64-pixel images (Dosovitskiy et al. 2021)."""
    return ViT(image_size=64, patch_size=8, num_classes=200, dim=192, depth=6, heads=3, mlp_dim=768)


class WindowAttention(nn.Module):
    def __init__(self, dim, heads, ws, shift):
        super().__init__()
        self.heads, self.ws, self.shift = heads, ws, shift
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.bias = nn.Parameter(torch.zeros(heads, ws * ws, ws * ws))

    def forward(self, x):
        B, H, W, C = x.shape
        ws = self.ws
        if self.shift:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        x = x.view(B, H // ws, ws, W // ws, ws, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, ws * ws, C)
        qkv = self.qkv(x).reshape(x.shape[0], ws * ws, 3, self.heads, C // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[None])
        x = self.proj(x.transpose(1, 2).reshape(-1, ws * ws, C))
        x = x.view(B, H // ws, W // ws, ws, ws, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
        return torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2)) if self.shift else x


class SwinBlock(nn.Module):
    def __init__(self, dim, heads, ws=7, shift=0):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, heads, ws, shift)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))


class PatchMerging(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * dim), nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x):
        x0, x1 = x[:, 0::2, 0::2, :], x[:, 1::2, 0::2, :]
        x2, x3 = x[:, 0::2, 1::2, :], x[:, 1::2, 1::2, :]
        return self.reduction(self.norm(torch.cat([x0, x1, x2, x3], -1)))


class Swin(nn.Module):
    def __init__(self, dim=48, depths=(2, 2, 2, 2), heads=(3, 6, 12, 24), n_classes=1000):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=4, stride=4)
        layers = []
        for i, (d, h) in enumerate(zip(depths, heads, strict=True)):
            layers += [SwinBlock(dim, h, shift=0 if j % 2 == 0 else 3) for j in range(d)]
            if i < len(depths) - 1:
                layers.append(PatchMerging(dim))
                dim *= 2
        self.layers = nn.Sequential(*layers)
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, n_classes)

    def forward(self, x):
        x = self.patch_embed(x).permute(0, 2, 3, 1)
        x = self.norm(self.layers(x))
        return self.head(x.flatten(1, 2).mean(1))


def swin_224() -> nn.Module:
    """Swin transformer without the shift's mask (Liu et al. 2021)."""
    return Swin()


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim, token_dim, channel_dim):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token = nn.Sequential(
            nn.Linear(tokens, token_dim), nn.GELU(), nn.Linear(token_dim, tokens)
        )
        self.channel = nn.Sequential(
            nn.Linear(dim, channel_dim), nn.GELU(), nn.Linear(channel_dim, dim)
        )

    def forward(self, x):
        x = x + self.token(self.ln1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.ln2(x))


class MLPMixer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        n = (cfg["img_size"] // cfg["patch"]) ** 2
        self.stem = nn.Conv2d(3, cfg["dim"], cfg["patch"], cfg["patch"])
        self.blocks = nn.ModuleList(
            [MixerBlock(n, cfg["dim"], cfg["tok"], cfg["ch"]) for _ in range(cfg["depth"])]
        )
        self.norm, self.fc = nn.LayerNorm(cfg["dim"]), nn.Linear(cfg["dim"], cfg["classes"])

    def forward(self, images, return_features=False):
        h = self.stem(images).flatten(2).transpose(1, 2)
        for blk in self.blocks:
            h = blk(h)
        feats = self.norm(h).mean(dim=1)
        if return_features:
            return feats
        return self.fc(feats)


def mlp_mixer() -> nn.Module:
    """MLP-Mixer (Tolstikhin et al. 2021) configured by a dict."""
    return MLPMixer(
        dict(img_size=96, patch=16, dim=256, tok=128, ch=1024, depth=4, classes=10),
    )


class KANLinear(nn.Module):
    def __init__(self, in_features, out_features, grid_size=5, spline_order=3):
        super().__init__()
        self.in_features, self.out_features, self.k = in_features, out_features, spline_order
        h = 2.0 / grid_size
        grid = torch.arange(-spline_order, grid_size + spline_order + 1) * h - 1
        self.register_buffer("grid", grid.expand(in_features, -1).contiguous())
        self.base_weight = nn.Parameter(torch.empty(out_features, in_features))
        self.spline_weight = nn.Parameter(
            torch.empty(out_features, in_features, grid_size + spline_order)
        )
        nn.init.kaiming_uniform_(self.base_weight, a=math.sqrt(5))
        nn.init.normal_(self.spline_weight, std=0.1)

    def b_splines(self, x):
        assert x.dim() == 2 and x.size(1) == self.in_features
        g = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= g[:, :-1]) & (x < g[:, 1:])).to(x.dtype)
        for k in range(1, self.k + 1):
            left = (x - g[:, : -(k + 1)]) / (g[:, k:-1] - g[:, : -(k + 1)])
            right = (g[:, k + 1 :] - x) / (g[:, k + 1 :] - g[:, 1:(-k)])
            bases = left * bases[:, :, :-1] + right * bases[:, :, 1:]
        return bases.contiguous()

    def forward(self, x):
        base = F.linear(F.silu(x), self.base_weight)
        spline = F.linear(
            self.b_splines(x).view(x.size(0), -1), self.spline_weight.view(self.out_features, -1)
        )
        return base + spline


class KAN(nn.Module):
    def __init__(self, layers_hidden, **kwargs):
        super().__init__()
        self.layers = nn.ModuleList(KANLinear(i, o, **kwargs) for i, o in pairwise(layers_hidden))

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x


def kan_mnist() -> nn.Module:
    """Kolmogorov-Arnold network on flattened digits (Liu et al. 2024)."""
    return KAN([28 * 28, 64, 10], grid_size=5)


class SpatialTransformer(nn.Module):
    def __init__(self, channels=3):
        super().__init__()
        self.localization = nn.Sequential(
            nn.Conv2d(channels, 8, 7), nn.MaxPool2d(2, 2), nn.ReLU(True),
            nn.Conv2d(8, 10, 5), nn.MaxPool2d(2, 2), nn.ReLU(True),
        )  # fmt: skip
        self.fc_loc = nn.Sequential(nn.Linear(10 * 4 * 4, 32), nn.ReLU(True), nn.Linear(32, 6))
        self.fc_loc[2].weight.data.zero_()
        self.conv1, self.conv2 = nn.Conv2d(channels, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc = nn.Linear(500, 43)

    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 10 * 4 * 4)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    def forward(self, x):
        x = self.stn(x)
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        return self.fc(x.view(-1, 500))


def spatial_transformer_traffic_signs() -> nn.Module:
    """Spatial transformer network on GTSRB (Jaderberg et al. 2015)."""
    return SpatialTransformer()
