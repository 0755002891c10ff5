"""Segmentation, detection and pose."""

from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    """(convolution => [BN] => ReLU) * 2"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, base=32):
        super().__init__()
        self.inc = DoubleConv(n_channels, base)
        self.downs = nn.ModuleList(DoubleConv(base << i, base << (i + 1)) for i in range(4))
        self.ups = nn.ModuleList(Up(base << (i + 1), base << i) for i in reversed(range(4)))
        self.outc = nn.Conv2d(base, n_classes, 1)

    def forward(self, x):
        skips = [self.inc(x)]
        for d in self.downs:
            skips.append(d(F.max_pool2d(skips[-1], 2)))
        x = skips.pop()
        for u in self.ups:
            x = u(x, skips.pop())
        return self.outc(x)


def unet_cell_grayscale() -> nn.Module:
    """U-Net on one-channel microscopy (Ronneberger et al. 2015)."""
    return UNet(n_channels=1, n_classes=2)


class SegNet(nn.Module):
    def __init__(self, in_chn=3, out_chn=12, BN_momentum=0.5):
        super().__init__()
        self.in_chn = in_chn
        self.MaxEn = nn.MaxPool2d(2, stride=2, return_indices=True)
        self.MaxDe = nn.MaxUnpool2d(2, stride=2)
        self.ConvEn1 = nn.Conv2d(self.in_chn, 64, kernel_size=3, padding=1)
        self.BNEn1 = nn.BatchNorm2d(64, momentum=BN_momentum)
        self.ConvEn2 = nn.Conv2d(64, 128, kernel_size=3, padding=1)
        self.BNEn2 = nn.BatchNorm2d(128, momentum=BN_momentum)
        self.ConvEn3 = nn.Conv2d(128, 256, kernel_size=3, padding=1)
        self.BNEn3 = nn.BatchNorm2d(256, momentum=BN_momentum)
        self.ConvDe3 = nn.Conv2d(256, 128, kernel_size=3, padding=1)
        self.BNDe3 = nn.BatchNorm2d(128, momentum=BN_momentum)
        self.ConvDe2 = nn.Conv2d(128, 64, kernel_size=3, padding=1)
        self.BNDe2 = nn.BatchNorm2d(64, momentum=BN_momentum)
        self.ConvDe1 = nn.Conv2d(64, out_chn, kernel_size=3, padding=1)

    def forward(self, x):
        x = F.relu(self.BNEn1(self.ConvEn1(x)))
        size1 = x.size()
        x, ind1 = self.MaxEn(x)
        x = F.relu(self.BNEn2(self.ConvEn2(x)))
        size2 = x.size()
        x, ind2 = self.MaxEn(x)
        x = F.relu(self.BNEn3(self.ConvEn3(x)))
        size3 = x.size()
        x, ind3 = self.MaxEn(x)
        x = self.MaxDe(x, ind3, output_size=size3)
        x = F.relu(self.BNDe3(self.ConvDe3(x)))
        x = self.MaxDe(x, ind2, output_size=size2)
        x = F.relu(self.BNDe2(self.ConvDe2(x)))
        x = self.MaxDe(x, ind1, output_size=size1)
        x = self.ConvDe1(x)
        return F.softmax(x, dim=1)


def segnet_camvid() -> nn.Module:
    """SegNet with pooling indices (Badrinarayanan et al. 2017)."""
    return SegNet()


class ASPP(nn.Module):
    def __init__(self, cin, cout, rates):
        super().__init__()
        self.branches = nn.ModuleList([nn.Conv2d(cin, cout, 1, bias=False)])
        for r in rates:
            self.branches.append(nn.Conv2d(cin, cout, 3, padding=r, dilation=r, bias=False))
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(cin, cout, 1), nn.ReLU())
        self.project = nn.Sequential(
            nn.Conv2d((len(rates) + 2) * cout, cout, 1), nn.BatchNorm2d(cout), nn.ReLU()
        )

    def forward(self, x):
        res = [F.relu(b(x)) for b in self.branches]
        g = self.pool(x)
        res.append(F.interpolate(g, size=x.shape[-2:], mode="bilinear", align_corners=False))
        return self.project(torch.cat(res, dim=1))


class DeepLab(nn.Module):
    def __init__(self, num_classes=21):
        super().__init__()

        def block(i, o, s, d=1):
            return nn.Sequential(
                nn.Conv2d(i, o, 3, s, d, d, bias=False), nn.BatchNorm2d(o), nn.ReLU(True),
                nn.Conv2d(o, o, 3, 1, d, d, bias=False), nn.BatchNorm2d(o), nn.ReLU(True),
            )  # fmt: skip

        self.low = nn.Sequential(block(3, 32, 2), block(32, 64, 2))
        self.high = nn.Sequential(block(64, 128, 2), block(128, 256, 2), block(256, 256, 1, 2))
        self.aspp = ASPP(256, 64, (6, 12, 18))
        self.reduce = nn.Conv2d(64, 48, 1)
        self.last = nn.Sequential(
            nn.Conv2d(112, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, num_classes, 1)
        )

    def forward(self, input):
        low = self.low(input)
        x = self.aspp(self.high(low))
        x = F.interpolate(x, size=low.size()[2:], mode="bilinear", align_corners=True)
        x = self.last(torch.cat((x, self.reduce(low)), dim=1))
        x = F.interpolate(x, size=input.size()[2:], mode="bilinear", align_corners=True)
        return {"out": x, "aux": None}


def deeplab_v3_plus() -> nn.Module:
    """DeepLabV3+ with a small backbone (Chen et al. 2018)."""
    return DeepLab()


class UNet3D(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        f = cfg.base_filters

        def cbr(i, o):
            return nn.Sequential(
                nn.Conv3d(i, o, 3, padding=1), nn.InstanceNorm3d(o), nn.LeakyReLU(inplace=True)
            )

        self.e1, self.e2, self.e3 = cbr(cfg.modalities, f), cbr(f, 2 * f), cbr(2 * f, 4 * f)
        self.up2 = nn.ConvTranspose3d(4 * f, 2 * f, 2, stride=2)
        self.up1 = nn.ConvTranspose3d(2 * f, f, 2, stride=2)
        self.d2, self.d1 = cbr(4 * f, 2 * f), cbr(2 * f, f)
        self.heads = nn.ModuleList([nn.Conv3d(2 * f, cfg.classes, 1), nn.Conv3d(f, cfg.classes, 1)])
        self.deep_supervision = cfg.deep_supervision

    def forward(self, volume):
        e1 = self.e1(volume)
        e2 = self.e2(F.max_pool3d(e1, 2))
        e3 = self.e3(F.max_pool3d(e2, 2))
        d2 = self.d2(torch.cat([self.up2(e3), e2], 1))
        d1 = self.d1(torch.cat([self.up1(d2), e1], 1))
        if self.deep_supervision:
            return [self.heads[1](d1), self.heads[0](d2)]
        return self.heads[1](d1)


class _BratsConfig:
    modalities = 4
    base_filters = 16
    classes = 4
    deep_supervision = True


def unet3d_brats() -> nn.Module:
    """3-D U-Net with deep supervision on four MR modalities (Cicek et al. 2016)."""
    return UNet3D(_BratsConfig())


class AttentionGate(nn.Module):
    def __init__(self, F_g, F_l, F_int):
        super().__init__()
        self.W_g = nn.Sequential(nn.Conv2d(F_g, F_int, 1), nn.BatchNorm2d(F_int))
        self.W_x = nn.Sequential(nn.Conv2d(F_l, F_int, 1), nn.BatchNorm2d(F_int))
        self.psi = nn.Sequential(nn.Conv2d(F_int, 1, 1), nn.BatchNorm2d(1), nn.Sigmoid())

    def forward(self, g, x):
        return x * self.psi(F.relu(self.W_g(g) + self.W_x(x)))


class AttU_Net(nn.Module):
    def __init__(self, img_ch=3, output_ch=1):
        super().__init__()
        self.Conv1, self.Conv2 = DoubleConv(img_ch, 32), DoubleConv(32, 64)
        self.Conv3 = DoubleConv(64, 128)
        self.Up3 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(128, 64, 3, 1, 1))
        self.Att3, self.Up_conv3 = AttentionGate(64, 64, 32), DoubleConv(128, 64)
        self.Up2 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(64, 32, 3, 1, 1))
        self.Att2, self.Up_conv2 = AttentionGate(32, 32, 16), DoubleConv(64, 32)
        self.out = nn.Conv2d(32, output_ch, 1)

    def forward(self, x):
        x1 = self.Conv1(x)
        x2 = self.Conv2(F.max_pool2d(x1, 2))
        x3 = self.Conv3(F.max_pool2d(x2, 2))
        d3 = self.Up3(x3)
        x2 = self.Att3(g=d3, x=x2)
        d3 = self.Up_conv3(torch.cat((x2, d3), dim=1))
        d2 = self.Up2(d3)
        x1 = self.Att2(g=d2, x=x1)
        return torch.sigmoid(self.out(self.Up_conv2(torch.cat((x1, d2), dim=1))))


def attention_unet_polyp() -> nn.Module:
    """Attention U-Net (Oktay et al. 2018)."""
    return AttU_Net()


def _conv_bn_leaky(i, o, k=3, s=1):
    return nn.Sequential(
        nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.LeakyReLU(0.1)
    )


class YOLOLayer(nn.Module):
    def __init__(self, anchors, num_classes, img_dim=416):
        super().__init__()
        self.anchors = anchors
        self.num_anchors = len(anchors)
        self.num_classes = num_classes
        self.img_dim = img_dim
        self.grid_size = 0

    def compute_grid_offsets(self, grid_size, device):
        self.grid_size = g = grid_size
        self.stride = self.img_dim / self.grid_size
        self.grid_x = torch.arange(g, device=device).repeat(g, 1).view([1, 1, g, g]).float()
        self.grid_y = torch.arange(g, device=device).repeat(g, 1).t().view([1, 1, g, g]).float()
        self.scaled = torch.tensor(
            [(a_w / self.stride, a_h / self.stride) for a_w, a_h in self.anchors], device=device
        )
        self.anchor_w = self.scaled[:, 0:1].view((1, self.num_anchors, 1, 1))
        self.anchor_h = self.scaled[:, 1:2].view((1, self.num_anchors, 1, 1))

    def forward(self, x, img_dim=None):
        self.img_dim = img_dim
        n, _, grid_size, _ = x.shape
        p = x.view(n, self.num_anchors, self.num_classes + 5, grid_size, grid_size)
        p = p.permute(0, 1, 3, 4, 2).contiguous()
        if grid_size != self.grid_size:
            self.compute_grid_offsets(grid_size, x.device)
        boxes = torch.zeros_like(p[..., :4])
        boxes[..., 0] = torch.sigmoid(p[..., 0]) + self.grid_x
        boxes[..., 1] = torch.sigmoid(p[..., 1]) + self.grid_y
        boxes[..., 2] = torch.exp(p[..., 2]) * self.anchor_w
        boxes[..., 3] = torch.exp(p[..., 3]) * self.anchor_h
        conf, cls = torch.sigmoid(p[..., 4]), torch.sigmoid(p[..., 5:])
        return torch.cat(
            (
                boxes.view(n, -1, 4) * self.stride,
                conf.view(n, -1, 1),
                cls.view(n, -1, self.num_classes),
            ),
            -1,
        )


class TinyYOLOv3(nn.Module):
    def __init__(self, nc=80):
        super().__init__()
        layers, c = [], 3
        for o in (16, 32, 64, 128):
            layers += [_conv_bn_leaky(c, o), nn.MaxPool2d(2)]
            c = o
        self.backbone = nn.Sequential(*layers, _conv_bn_leaky(128, 256))
        self.deep = nn.Sequential(
            nn.MaxPool2d(2), _conv_bn_leaky(256, 512), _conv_bn_leaky(512, 256, 1)
        )
        self.p5 = nn.Conv2d(256, 3 * (nc + 5), 1)
        self.lateral = _conv_bn_leaky(256, 128, 1)
        self.p4 = nn.Conv2d(384, 3 * (nc + 5), 1)
        self.yolo = nn.ModuleList(
            [
                YOLOLayer([(81, 82), (135, 169), (344, 319)], nc),
                YOLOLayer([(10, 14), (23, 27), (37, 58)], nc),
            ]
        )

    def forward(self, x, targets=None):
        img_dim = x.shape[2]
        f4 = self.backbone(x)
        f5 = self.deep(f4)
        up = F.interpolate(self.lateral(f5), scale_factor=2, mode="nearest")
        outputs = [
            self.yolo[0](self.p5(f5), img_dim),
            self.yolo[1](self.p4(torch.cat([up, f4], 1)), img_dim),
        ]
        return torch.cat(outputs, 1)


def yolov3_tiny() -> nn.Module:
    """Tiny YOLOv3 with decoding layers that cache their grid (Redmon and Farhadi 2018)."""
    return TinyYOLOv3()


class FCOSHead(nn.Module):
    def __init__(self, c, num_classes, n=2):
        super().__init__()

        def tower():
            return nn.Sequential(
                *[
                    m
                    for _ in range(n)
                    for m in (nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(8, c), nn.ReLU())
                ]
            )

        self.cls_tower, self.bbox_tower = tower(), tower()
        self.cls_logits = nn.Conv2d(c, num_classes, 3, padding=1)
        self.bbox_pred = nn.Conv2d(c, 4, 3, padding=1)
        self.centerness = nn.Conv2d(c, 1, 3, padding=1)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(5)])

    def forward(self, feats: list[torch.Tensor]):
        logits, bbox_reg, centerness = [], [], []
        for level, feature in enumerate(feats):
            cls = self.cls_tower(feature)
            logits.append(self.cls_logits(cls))
            centerness.append(self.centerness(cls))
            reg = self.bbox_tower(feature)
            bbox_reg.append(torch.exp(self.bbox_pred(reg) * self.scales[level]))
        return logits, bbox_reg, centerness


class FCOS(nn.Module):
    def __init__(self, num_classes=80, c=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, c, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(c, c, 3, 2, 1), nn.BatchNorm2d(c), nn.ReLU()) for _ in range(5)
        )
        self.lat = nn.ModuleList(nn.Conv2d(c, c, 1) for _ in range(5))
        self.head = FCOSHead(c, num_classes)

    def forward(self, images):
        x = self.stem(images)
        cs = []
        for s in self.stages:
            x = s(x)
            cs.append(x)
        ps = [lat(f) for lat, f in zip(self.lat, cs, strict=True)]
        for i in range(4, 0, -1):
            ps[i - 1] = ps[i - 1] + F.interpolate(ps[i], size=ps[i - 1].shape[-2:])
        return self.head(ps)


def fcos() -> nn.Module:
    """FCOS on a feature pyramid, lists over levels out (Tian et al. 2019)."""
    return FCOS()


def fcos_head_only() -> nn.Module:
    """FCOS head alone, a list of feature maps in (Tian et al. 2019)."""
    return FCOSHead(64, 20)


class SSD(nn.Module):
    def __init__(self, num_classes=21):
        super().__init__()
        self.num_classes = num_classes
        self.extras = nn.ModuleList()
        chans = [3, 32, 64, 128, 256, 256, 256]
        for i, o in pairwise(chans):
            self.extras.append(
                nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
            )
        self.loc = nn.ModuleList(nn.Conv2d(c, 4 * 4, 3, padding=1) for c in chans[4:])
        self.conf = nn.ModuleList(nn.Conv2d(c, 4 * num_classes, 3, padding=1) for c in chans[4:])

    def forward(self, x):
        sources = list()
        loc = list()
        conf = list()
        for k, v in enumerate(self.extras):
            x = v(x)
            if k >= 3:
                sources.append(x)
        for x, lo, c in zip(sources, self.loc, self.conf, strict=False):
            loc.append(lo(x).permute(0, 2, 3, 1).contiguous())
            conf.append(c(x).permute(0, 2, 3, 1).contiguous())
        loc = torch.cat([o.view(o.size(0), -1) for o in loc], 1)
        conf = torch.cat([o.view(o.size(0), -1) for o in conf], 1)
        return loc.view(loc.size(0), -1, 4), conf.view(conf.size(0), -1, self.num_classes)


def ssd300() -> nn.Module:
    """SSD with a light backbone (Liu et al. 2016)."""
    return SSD()


class DETR(nn.Module):
    def __init__(self, num_classes, hidden_dim=128, nheads=8, enc=2, dec=2):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 64, 7, 4, 3), nn.BatchNorm2d(64), nn.ReLU(),
            nn.Conv2d(64, 256, 3, 4, 1), nn.BatchNorm2d(256), nn.ReLU(),
            nn.Conv2d(256, 512, 3, 2, 1), nn.ReLU(),
        )  # fmt: skip
        self.conv = nn.Conv2d(512, hidden_dim, 1)
        self.transformer = nn.Transformer(hidden_dim, nheads, enc, dec)
        self.linear_class = nn.Linear(hidden_dim, num_classes + 1)
        self.linear_bbox = nn.Linear(hidden_dim, 4)
        self.query_pos = nn.Parameter(torch.rand(100, hidden_dim))
        self.row_embed = nn.Parameter(torch.rand(50, hidden_dim // 2))
        self.col_embed = nn.Parameter(torch.rand(50, hidden_dim // 2))

    def forward(self, inputs):
        h = self.conv(self.backbone(inputs))
        H, W = h.shape[-2:]
        pos = (
            torch.cat(
                [
                    self.col_embed[:W].unsqueeze(0).repeat(H, 1, 1),
                    self.row_embed[:H].unsqueeze(1).repeat(1, W, 1),
                ],
                dim=-1,
            )
            .flatten(0, 1)
            .unsqueeze(1)
        )
        src = pos + 0.1 * h.flatten(2).permute(2, 0, 1)
        tgt = self.query_pos.unsqueeze(1).repeat(1, src.shape[1], 1)
        h = self.transformer(src, tgt).transpose(0, 1)
        return {"pred_logits": self.linear_class(h), "pred_boxes": self.linear_bbox(h).sigmoid()}


def detr_demo() -> nn.Module:
    """DETR as in the appendix of its paper (Carion et al. 2020)."""
    return DETR(num_classes=91)


class Residual(nn.Module):
    def __init__(self, ins, outs):
        super().__init__()
        self.convBlock = nn.Sequential(
            nn.BatchNorm2d(ins), nn.ReLU(inplace=True), nn.Conv2d(ins, outs // 2, 1),
            nn.BatchNorm2d(outs // 2), nn.ReLU(inplace=True),
            nn.Conv2d(outs // 2, outs // 2, 3, 1, 1),
            nn.BatchNorm2d(outs // 2), nn.ReLU(inplace=True), nn.Conv2d(outs // 2, outs, 1),
        )  # fmt: skip
        if ins != outs:
            self.skipConv = nn.Conv2d(ins, outs, 1)
        self.ins, self.outs = ins, outs

    def forward(self, x):
        residual = x
        x = self.convBlock(x)
        if self.ins != self.outs:
            residual = self.skipConv(residual)
        x += residual
        return x


class HourGlass(nn.Module):
    def __init__(self, n=4, f=64):
        super().__init__()
        self._n, self._f = n, f
        self._init_layers(self._n, self._f)

    def _init_layers(self, n, f):
        setattr(self, f"res{n}_1", Residual(f, f))
        setattr(self, f"res{n}_2", Residual(f, f))
        if n > 1:
            self._init_layers(n - 1, f)
        else:
            self.res_center = Residual(f, f)
        setattr(self, f"res{n}_3", Residual(f, f))

    def _forward(self, x, n, f):
        up1 = getattr(self, f"res{n}_1")(x)
        low1 = getattr(self, f"res{n}_2")(F.max_pool2d(x, 2, stride=2))
        low2 = self._forward(low1, n - 1, f) if n > 1 else self.res_center(low1)
        low3 = getattr(self, f"res{n}_3")(low2)
        return up1 + F.interpolate(low3, scale_factor=2, mode="bilinear", align_corners=True)

    def forward(self, x):
        return self._forward(x, self._n, self._f)


class StackedHourGlass(nn.Module):
    def __init__(self, nFeats=64, nStack=2, nJoints=16):
        super().__init__()
        self.nStack = nStack
        self.stem = nn.Sequential(
            nn.Conv2d(3, 32, 7, 2, 3), Residual(32, 64), nn.MaxPool2d(2), Residual(64, nFeats)
        )
        self.hg = nn.ModuleList(HourGlass(4, nFeats) for _ in range(nStack))
        self.out = nn.ModuleList(nn.Conv2d(nFeats, nJoints, 1) for _ in range(nStack))
        self.back = nn.ModuleList(nn.Conv2d(nJoints, nFeats, 1) for _ in range(nStack - 1))

    def forward(self, x):
        x = self.stem(x)
        heatmaps = []
        for i in range(self.nStack):
            y = self.hg[i](x)
            hm = self.out[i](y)
            heatmaps.append(hm)
            if i < self.nStack - 1:
                x = x + y + self.back[i](hm)
        return heatmaps


def stacked_hourglass_mpii() -> nn.Module:
    """Stacked hourglass for 16 joints (Newell et al. 2016)."""
    return StackedHourGlass()


def deep_labcut_net() -> nn.Module:
    """DeepLabCut's part detector: deconvolutions on a backbone (Mathis et al. 2018)."""

    class PartDetector(nn.Module):
        def __init__(self, bodyparts=("nose", "left_ear", "right_ear", "tailbase")):
            super().__init__()
            self.bodyparts = bodyparts
            enc, c = [], 3
            for o in (32, 64, 128, 256):
                enc += [nn.Conv2d(c, o, 3, 2, 1), nn.BatchNorm2d(o), nn.ReLU(True)]
                c = o
            self.encoder = nn.Sequential(*enc)
            k = len(bodyparts)
            self.heatmap = nn.ConvTranspose2d(c, k, 3, 2, 1, output_padding=1)
            self.locref = nn.ConvTranspose2d(c, 2 * k, 3, 2, 1, output_padding=1)

        def forward(self, frame):
            z = self.encoder(frame)
            scoremap = torch.sigmoid(self.heatmap(z))
            b, k, h, w = scoremap.shape
            idx = scoremap.view(b, k, -1).argmax(-1)
            xy = torch.stack((idx % w, torch.div(idx, w, rounding_mode="floor")), dim=-1)
            return dict(scoremap=scoremap, locref=self.locref(z), keypoints=xy)

    return PartDetector()
