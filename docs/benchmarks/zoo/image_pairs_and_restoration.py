"""Super-resolution, denoising, style transfer, optical flow, stereo, embeddings of pairs."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualBlockNoBN(nn.Module):
    def __init__(self, nf=64):
        super().__init__()
        self.conv1 = nn.Conv2d(nf, nf, 3, 1, 1, bias=True)
        self.conv2 = nn.Conv2d(nf, nf, 3, 1, 1, bias=True)

    def forward(self, x):
        identity = x
        out = F.relu(self.conv1(x), inplace=True)
        return identity + 0.1 * self.conv2(out)


class EDSR(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        nf = args["n_feats"]
        self.register_buffer("mean", torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1))
        self.head = nn.Conv2d(args["n_colors"], nf, 3, padding=1)
        self.body = nn.Sequential(
            *[ResidualBlockNoBN(nf) for _ in range(args["n_resblocks"])], nn.Conv2d(nf, nf, 3, 1, 1)
        )
        self.tail = nn.Sequential(
            nn.Conv2d(nf, nf * args["scale"] ** 2, 3, padding=1),
            nn.PixelShuffle(args["scale"]),
            nn.Conv2d(nf, args["n_colors"], 3, padding=1),
        )

    def forward(self, x):
        x = x - self.mean
        x = self.head(x)
        res = self.body(x)
        res += x
        return self.tail(res) + self.mean


def edsr_x2() -> nn.Module:
    """EDSR (Lim et al. 2017)."""
    return EDSR({"n_feats": 64, "n_colors": 3, "n_resblocks": 8, "scale": 2})


class DnCNN(nn.Module):
    def __init__(self, depth=17, n_channels=64, image_channels=1, kernel_size=3):
        super().__init__()
        layers = [nn.Conv2d(image_channels, n_channels, kernel_size, padding=1), nn.ReLU(True)]
        for _ in range(depth - 2):
            layers.append(nn.Conv2d(n_channels, n_channels, kernel_size, padding=1, bias=False))
            layers.append(nn.BatchNorm2d(n_channels, eps=0.0001, momentum=0.95))
            layers.append(nn.ReLU(inplace=True))
        layers.append(nn.Conv2d(n_channels, image_channels, kernel_size, padding=1, bias=False))
        self.dncnn = nn.Sequential(*layers)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.orthogonal_(m.weight)

    def forward(self, x):
        y = x
        out = self.dncnn(x)
        return y - out


def dncnn_gray() -> nn.Module:
    """DnCNN (Zhang et al. 2017)."""
    return DnCNN()


class SimpleGate(nn.Module):
    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        return x1 * x2


class NAFBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, c), nn.GroupNorm(1, c)
        self.conv1 = nn.Sequential(
            nn.Conv2d(c, 2 * c, 1), nn.Conv2d(2 * c, 2 * c, 3, 1, 1, groups=2 * c)
        )
        self.sg = SimpleGate()
        self.sca = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c, 1))
        self.conv3, self.conv4, self.conv5 = (
            nn.Conv2d(c, c, 1),
            nn.Conv2d(c, 2 * c, 1),
            nn.Conv2d(c, c, 1),
        )
        self.beta = nn.Parameter(torch.zeros((1, c, 1, 1)), requires_grad=True)
        self.gamma = nn.Parameter(torch.zeros((1, c, 1, 1)), requires_grad=True)

    def forward(self, inp):
        x = self.sg(self.conv1(self.norm1(inp)))
        x = self.conv3(x * self.sca(x))
        y = inp + x * self.beta
        return y + self.conv5(self.sg(self.conv4(self.norm2(y)))) * self.gamma


class NAFNet(nn.Module):
    def __init__(self, img_channel=3, width=16, enc=(1, 1, 2), dec=(1, 1, 1)):
        super().__init__()
        self.intro, self.ending = (
            nn.Conv2d(img_channel, width, 3, 1, 1),
            nn.Conv2d(width, 3, 3, 1, 1),
        )
        self.encoders, self.decoders = nn.ModuleList(), nn.ModuleList()
        self.ups, self.downs = nn.ModuleList(), nn.ModuleList()
        chan = width
        for num in enc:
            self.encoders.append(nn.Sequential(*[NAFBlock(chan) for _ in range(num)]))
            self.downs.append(nn.Conv2d(chan, 2 * chan, 2, 2))
            chan = chan * 2
        self.middle_blks = nn.Sequential(NAFBlock(chan))
        for num in dec:
            self.ups.append(nn.Sequential(nn.Conv2d(chan, chan * 2, 1), nn.PixelShuffle(2)))
            chan = chan // 2
            self.decoders.append(nn.Sequential(*[NAFBlock(chan) for _ in range(num)]))
        self.padder_size = 2 ** len(self.encoders)

    def check_image_size(self, x):
        _, _, h, w = x.size()
        mod_pad_h = (self.padder_size - h % self.padder_size) % self.padder_size
        mod_pad_w = (self.padder_size - w % self.padder_size) % self.padder_size
        return F.pad(x, (0, mod_pad_w, 0, mod_pad_h))

    def forward(self, inp):
        _, _, H, W = inp.shape
        inp = self.check_image_size(inp)
        x, encs = self.intro(inp), []
        for encoder, down in zip(self.encoders, self.downs, strict=True):
            x = encoder(x)
            encs.append(x)
            x = down(x)
        x = self.middle_blks(x)
        for decoder, up, enc_skip in zip(self.decoders, self.ups, encs[::-1], strict=True):
            x = decoder(up(x) + enc_skip)
        x = self.ending(x) + inp
        return x[:, :, :H, :W]


def nafnet() -> nn.Module:
    """NAFNet for deblurring (Chen et al. 2022)."""
    return NAFNet()


def _calc_mean_std(feat, eps=1e-5):
    size = feat.data.size()
    assert len(size) == 4
    N, C = size[:2]
    feat_var = feat.view(N, C, -1).var(dim=2) + eps
    feat_std = feat_var.sqrt().view(N, C, 1, 1)
    feat_mean = feat.view(N, C, -1).mean(dim=2).view(N, C, 1, 1)
    return feat_mean, feat_std


def _adaptive_instance_normalization(content_feat, style_feat):
    assert content_feat.data.size()[:2] == style_feat.data.size()[:2]
    size = content_feat.data.size()
    style_mean, style_std = _calc_mean_std(style_feat)
    content_mean, content_std = _calc_mean_std(content_feat)
    normalized = (content_feat - content_mean.expand(size)) / content_std.expand(size)
    return normalized * style_std.expand(size) + style_mean.expand(size)


class AdaINNet(nn.Module):
    def __init__(self):
        super().__init__()

        def rc(i, o):
            return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(i, o, 3), nn.ReLU())

        self.enc_1 = rc(3, 64)
        self.enc_2 = nn.Sequential(nn.MaxPool2d(2), rc(64, 128))
        self.enc_3 = nn.Sequential(nn.MaxPool2d(2), rc(128, 256))
        self.decoder = nn.Sequential(
            rc(256, 128),
            nn.Upsample(scale_factor=2),
            rc(128, 64),
            nn.Upsample(scale_factor=2),
            rc(64, 3),
        )
        for name in ["enc_1", "enc_2", "enc_3"]:
            for param in getattr(self, name).parameters():
                param.requires_grad = False

    def encode_with_intermediate(self, input):
        results = [input]
        for i in range(3):
            func = getattr(self, f"enc_{i + 1:d}")
            results.append(func(results[-1]))
        return results[1:]

    def forward(self, content, style, alpha=1.0):
        assert 0 <= alpha <= 1
        style_feats = self.encode_with_intermediate(style)
        content_feat = self.encode_with_intermediate(content)[-1]
        t = _adaptive_instance_normalization(content_feat, style_feats[-1])
        t = alpha * t + (1 - alpha) * content_feat
        g_t = self.decoder(t)
        g_t_feats = self.encode_with_intermediate(g_t)
        loss_c = F.mse_loss(g_t_feats[-1], t)
        loss_s = 0
        for i in range(3):
            m1, s1 = _calc_mean_std(g_t_feats[i])
            m2, s2 = _calc_mean_std(style_feats[i])
            loss_s += F.mse_loss(m1, m2) + F.mse_loss(s1, s2)
        return g_t, loss_c, loss_s


def adain_style_transfer() -> nn.Module:
    """AdaIN style transfer with its losses (Huang and Belongie 2017)."""
    return AdaINNet()


class FlowNetS(nn.Module):
    def __init__(self, batchNorm=True):
        super().__init__()

        def conv(i, o, k=3, s=1):
            return nn.Sequential(
                nn.Conv2d(i, o, k, s, (k - 1) // 2, bias=not batchNorm),
                nn.BatchNorm2d(o) if batchNorm else nn.Identity(),
                nn.LeakyReLU(0.1, inplace=True),
            )

        self.conv1, self.conv2 = conv(6, 32, 7, 2), conv(32, 64, 5, 2)
        self.conv3, self.conv4 = conv(64, 128, 5, 2), conv(128, 256, 3, 2)
        self.deconv3 = nn.ConvTranspose2d(256, 128, 4, 2, 1)
        self.deconv2 = nn.ConvTranspose2d(258, 64, 4, 2, 1)
        self.flow4, self.flow3 = nn.Conv2d(256, 2, 3, 1, 1), nn.Conv2d(258, 2, 3, 1, 1)
        self.flow2 = nn.Conv2d(130, 2, 3, 1, 1)
        self.up4, self.up3 = nn.ConvTranspose2d(2, 2, 4, 2, 1), nn.ConvTranspose2d(2, 2, 4, 2, 1)

    def forward(self, im1, im2):
        x = torch.cat([im1, im2], dim=1)
        c2 = self.conv2(self.conv1(x))
        c3 = self.conv3(c2)
        c4 = self.conv4(c3)
        flow4 = self.flow4(c4)
        cat3 = torch.cat((c3, self.deconv3(c4), self.up4(flow4)), 1)
        flow3 = self.flow3(cat3)
        cat2 = torch.cat((c2, self.deconv2(cat3), self.up3(flow3)), 1)
        flow2 = self.flow2(cat2)
        if self.training:
            return flow2, flow3, flow4
        return flow2


def flownet_s() -> nn.Module:
    """FlowNetSimple on two frames (Dosovitskiy et al. 2015)."""
    return FlowNetS()


class RAFTSmall(nn.Module):
    def __init__(self, radius=3, iters=4):
        super().__init__()
        self.radius, self.iters = radius, iters
        self.fnet = nn.Sequential(
            nn.Conv2d(3, 32, 7, 2, 3), nn.InstanceNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.InstanceNorm2d(64), nn.ReLU(),
            nn.Conv2d(64, 64, 3, 2, 1),
        )  # fmt: skip
        self.cnet = nn.Sequential(
            nn.Conv2d(3, 32, 7, 2, 3), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(64, 96, 3, 2, 1),
        )  # fmt: skip
        corr = (2 * radius + 1) ** 2
        self.convz = nn.Conv2d(48 + 48 + corr + 2, 48, 3, padding=1)
        self.convq = nn.Conv2d(48 + 48 + corr + 2, 48, 3, padding=1)
        self.flow_head = nn.Conv2d(48, 2, 3, padding=1)

    def coords_grid(self, batch, ht, wd, device):
        coords = torch.meshgrid(
            torch.arange(ht, device=device), torch.arange(wd, device=device), indexing="ij"
        )
        coords = torch.stack(coords[::-1], dim=0).float()
        return coords[None].repeat(batch, 1, 1, 1)

    def lookup(self, corr, coords):
        b, h, w = corr.shape[:3]
        r = self.radius
        d = torch.linspace(-r, r, 2 * r + 1, device=coords.device)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), axis=-1)
        centroid = coords.permute(0, 2, 3, 1).reshape(b * h * w, 1, 1, 2)
        xy = centroid + delta.view(1, 2 * r + 1, 2 * r + 1, 2)
        xgrid, ygrid = xy.split([1, 1], dim=-1)
        grid = torch.cat([2 * xgrid / (w - 1) - 1, 2 * ygrid / (h - 1) - 1], dim=-1)
        out = F.grid_sample(corr.reshape(b * h * w, 1, h, w), grid, align_corners=True)
        return out.view(b, h, w, -1).permute(0, 3, 1, 2)

    def forward(self, image1, image2, flow_init=None, test_mode=False):
        image1, image2 = 2 * (image1 / 255.0) - 1.0, 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet(image1), self.fnet(image2)
        b, c, h, w = fmap1.shape
        corr = torch.matmul(fmap1.view(b, c, -1).transpose(1, 2), fmap2.view(b, c, -1)) / c**0.5
        corr = corr.view(b, h, w, h * w)
        net, inp = torch.split(self.cnet(image1), [48, 48], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)
        coords0 = self.coords_grid(b, h, w, image1.device)
        coords1 = coords0.clone()
        if flow_init is not None:
            coords1 = coords1 + flow_init
        flow_predictions = []
        for _ in range(self.iters):
            coords1 = coords1.detach()
            x = torch.cat([inp, self.lookup(corr, coords1), coords1 - coords0], dim=1)
            z = torch.sigmoid(self.convz(torch.cat([net, x], 1)))
            net = (1 - z) * net + z * torch.tanh(self.convq(torch.cat([net, x], 1)))
            coords1 = coords1 + self.flow_head(net)
            flow_predictions.append(F.interpolate(8 * (coords1 - coords0), scale_factor=8))
        if test_mode:
            return coords1 - coords0, flow_predictions[-1]
        return flow_predictions


def raft_small() -> nn.Module:
    """RAFT with one correlation level (Teed and Deng 2020)."""
    return RAFTSmall()


class PSMNet(nn.Module):
    def __init__(self, maxdisp=64):
        super().__init__()
        self.maxdisp = maxdisp
        self.feature_extraction = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(True),
            nn.Conv2d(32, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(True),
            nn.Conv2d(32, 32, 3, 1, 1),
        )  # fmt: skip
        self.dres0 = nn.Sequential(nn.Conv3d(64, 32, 3, 1, 1), nn.BatchNorm3d(32), nn.ReLU(True))
        self.dres1 = nn.Sequential(nn.Conv3d(32, 32, 3, 1, 1), nn.BatchNorm3d(32))
        self.classify = nn.Conv3d(32, 1, 3, 1, 1, bias=False)

    def forward(self, left, right):
        refimg_fea = self.feature_extraction(left)
        targetimg_fea = self.feature_extraction(right)
        b, c, h, w = refimg_fea.size()
        cost = torch.FloatTensor(b, c * 2, self.maxdisp // 4, h, w).zero_().to(left.device)
        for i in range(self.maxdisp // 4):
            if i > 0:
                cost[:, :c, i, :, i:] = refimg_fea[:, :, :, i:]
                cost[:, c:, i, :, i:] = targetimg_fea[:, :, :, :-i]
            else:
                cost[:, :c, i, :, :] = refimg_fea
                cost[:, c:, i, :, :] = targetimg_fea
        cost = cost.contiguous()
        cost0 = self.dres0(cost)
        cost0 = self.dres1(cost0) + cost0
        cost = self.classify(cost0)
        size = [self.maxdisp, left.size()[2], left.size()[3]]
        cost = F.interpolate(cost, size, mode="trilinear", align_corners=False)
        pred = F.softmax(torch.squeeze(cost, 1), dim=1)
        disp = torch.arange(self.maxdisp, device=pred.device).view(1, -1, 1, 1).float()
        return torch.sum(pred * disp, 1)


def psmnet_stereo() -> nn.Module:
    """PSMNet with a short cost-volume network (Chang and Chen 2018)."""
    return PSMNet()


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn1 = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 4, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(4),
            nn.ReflectionPad2d(1),
            nn.Conv2d(4, 8, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(8),
        )
        self.fc1 = nn.Sequential(
            nn.Linear(8 * 100 * 100, 500),
            nn.ReLU(inplace=True),
            nn.Linear(500, 5),
        )

    def forward_once(self, x):
        output = self.cnn1(x)
        output = output.view(output.size()[0], -1)
        output = self.fc1(output)
        return output

    def forward(self, input1, input2):
        output1 = self.forward_once(input1)
        output2 = self.forward_once(input2)
        return output1, output2


def siamese_faces() -> nn.Module:
    """Siamese network on face crops (Chopra et al. 2005)."""
    return SiameseNetwork()


class EmbeddingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convnet = nn.Sequential(
            nn.Conv2d(1, 32, 5), nn.PReLU(), nn.MaxPool2d(2, stride=2),
            nn.Conv2d(32, 64, 5), nn.PReLU(), nn.MaxPool2d(2, stride=2),
        )  # fmt: skip
        self.fc = nn.Sequential(nn.Linear(64 * 4 * 4, 256), nn.PReLU(), nn.Linear(256, 2))

    def forward(self, x):
        return self.fc(self.convnet(x).view(x.size()[0], -1))


class TripletNet(nn.Module):
    def __init__(self, embedding_net):
        super().__init__()
        self.embedding_net = embedding_net

    def forward(self, anchor, positive, negative):
        return (
            self.embedding_net(anchor),
            self.embedding_net(positive),
            self.embedding_net(negative),
        )


def triplet_mnist() -> nn.Module:
    """Triplet network (Hoffer and Ailon 2015)."""
    return TripletNet(EmbeddingNet())


class ProtoNet(nn.Module):
    def __init__(self, x_dim=1, hid_dim=64, z_dim=64, n_way=5, k_shot=1):
        super().__init__()

        def block(i, o):
            return nn.Sequential(
                nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2)
            )

        self.n_way, self.k_shot = n_way, k_shot
        self.encoder = nn.Sequential(
            block(x_dim, hid_dim),
            block(hid_dim, hid_dim),
            block(hid_dim, hid_dim),
            block(hid_dim, z_dim),
        )

    def forward(self, support, query):
        # support: [n_way, k_shot, C, H, W], query: [n_way, n_query, C, H, W]
        s = self.encoder(support.view(-1, *support.shape[2:])).flatten(1)
        q = self.encoder(query.view(-1, *query.shape[2:])).flatten(1)
        proto = s.view(self.n_way, self.k_shot, -1).mean(1)
        dists = torch.pow(q.unsqueeze(1) - proto.unsqueeze(0), 2).sum(2)
        return F.log_softmax(-dists, dim=1).view(self.n_way, -1, self.n_way)


def prototypical_omniglot() -> nn.Module:
    """Prototypical network, five ways, one shot (Snell et al. 2017)."""
    return ProtoNet()


class SimCLR(nn.Module):
    def __init__(self, encoder, projection_dim, n_features, temperature=0.5):
        super().__init__()
        self.encoder = encoder
        self.n_features = n_features
        self.encoder.fc = nn.Identity()
        self.temperature = temperature
        self.projector = nn.Sequential(
            nn.Linear(n_features, n_features, bias=False),
            nn.ReLU(),
            nn.Linear(n_features, projection_dim, bias=False),
        )

    def forward(self, x_i, x_j):
        h_i, h_j = self.encoder(x_i), self.encoder(x_j)
        z = F.normalize(torch.cat([self.projector(h_i), self.projector(h_j)]), dim=1)
        sim = z @ z.T / self.temperature
        n = x_i.size(0)
        mask = torch.eye(2 * n, dtype=torch.bool, device=z.device)
        sim.masked_fill_(mask, float("-inf"))
        labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(z.device)
        return F.cross_entropy(sim, labels), h_i, h_j


class SmallResNet(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.conv1 = nn.Conv2d(3, w, 3, 1, 1, bias=False)
        self.blocks = nn.ModuleList(ResidualBlockNoBN(w) for _ in range(3))
        self.fc = nn.Linear(w, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        for b in self.blocks:
            x = F.avg_pool2d(b(x), 2)
        return self.fc(x.mean(dim=(2, 3)))


def simclr_cifar() -> nn.Module:
    """SimCLR wrapper with its loss (Chen et al. 2020)."""
    return SimCLR(SmallResNet(), 64, 32)
