"""GANs, autoencoders, flows, diffusion and radiance fields."""

import math
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, nz=100, ngf=64, nc=3):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 8, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 8),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 8, ngf * 4, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


def dcgan_generator() -> nn.Module:
    """DCGAN generator (Radford et al. 2016)."""
    return Generator()


def dcgan_discriminator() -> nn.Module:
    """DCGAN discriminator, a plain Sequential (Radford et al. 2016)."""
    ndf = 64
    layers = [nn.Conv2d(3, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
    for i in range(3):
        layers.append(nn.Conv2d(ndf * 2**i, ndf * 2 ** (i + 1), 4, 2, 1, bias=False))
        layers.append(nn.BatchNorm2d(ndf * 2 ** (i + 1)))
        layers.append(nn.LeakyReLU(0.2, inplace=True))
    return nn.Sequential(*layers, nn.Conv2d(ndf * 8, 1, 4, 1, 0, bias=False), nn.Sigmoid())


class CGANGenerator(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.label_emb = nn.Embedding(opt.n_classes, opt.n_classes)
        self.img_shape = (opt.channels, opt.img_size, opt.img_size)

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim + opt.n_classes, 128, normalize=False),
            *block(128, 256),
            *block(256, 512),
            nn.Linear(512, int(math.prod(self.img_shape))),
            nn.Tanh(),
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        img = self.model(gen_input)
        return img.view(img.size(0), *self.img_shape)


def cgan_generator() -> nn.Module:
    """Conditional GAN generator (Mirza and Osindero 2014)."""
    return CGANGenerator(SimpleNamespace(n_classes=10, latent_dim=100, channels=1, img_size=32))


class PatchDiscriminator(nn.Module):
    def __init__(self, in_channels=3):
        super().__init__()

        def discriminator_block(in_filters, out_filters, normalization=True):
            layers = [nn.Conv2d(in_filters, out_filters, 4, stride=2, padding=1)]
            if normalization:
                layers.append(nn.InstanceNorm2d(out_filters))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *discriminator_block(in_channels * 2, 64, normalization=False),
            *discriminator_block(64, 128),
            *discriminator_block(128, 256),
            *discriminator_block(256, 512),
            nn.ZeroPad2d((1, 0, 1, 0)),
            nn.Conv2d(512, 1, 4, padding=1, bias=False),
        )

    def forward(self, img_A, img_B):
        img_input = torch.cat((img_A, img_B), 1)
        return self.model(img_input)


def pix2pix_discriminator() -> nn.Module:
    """PatchGAN discriminator on an image pair (Isola et al. 2017)."""
    return PatchDiscriminator()


class ModulatedConv(nn.Module):
    def __init__(self, cin, cout, style, k=3, up=False, demod=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, cout, cin, k, k) / math.sqrt(cin * k * k))
        self.affine = nn.Linear(style, cin)
        self.up, self.k, self.demod = up, k, demod

    def forward(self, x, w):
        b, c, h, wd = x.shape
        weight = self.weight * self.affine(w).view(b, 1, c, 1, 1)
        if self.demod:
            weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        if self.up:
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        x = x.reshape(1, -1, *x.shape[2:])
        x = F.conv2d(x, weight.view(-1, c, self.k, self.k), padding=self.k // 2, groups=b)
        return x.view(b, -1, *x.shape[2:])


class StyleGenerator(nn.Module):
    def __init__(self, size=64, style_dim=256, n_mlp=4):
        super().__init__()
        self.style_dim = style_dim
        self.mapping = nn.Sequential(
            *[
                nn.Sequential(nn.Linear(style_dim, style_dim), nn.LeakyReLU(0.2))
                for _ in range(n_mlp)
            ]
        )
        self.const = nn.Parameter(torch.randn(1, 128, 4, 4))
        self.log_size = int(math.log2(size))
        self.convs = nn.ModuleList(
            ModulatedConv(128, 128, style_dim, up=i > 0) for i in range(self.log_size - 1)
        )
        self.to_rgb = nn.ModuleList(
            ModulatedConv(128, 3, style_dim, k=1, demod=False) for _ in self.convs
        )
        self.noise_strength = nn.Parameter(torch.zeros(self.log_size - 1))

    def forward(self, styles, noise=None, truncation=1, truncation_latent=None):
        styles = [self.mapping(s * torch.rsqrt(s.pow(2).mean(1, keepdim=True))) for s in styles]
        if truncation < 1:
            styles = [truncation_latent + truncation * (s - truncation_latent) for s in styles]
        x = self.const.repeat(styles[0].shape[0], 1, 1, 1)
        skip = None
        for i, (conv, rgb) in enumerate(zip(self.convs, self.to_rgb, strict=True)):
            w = styles[0] if i < 2 else styles[-1]
            x = conv(x, w)
            eps = torch.randn_like(x[:, :1]) if noise is None else noise[i]
            x = F.leaky_relu(x + self.noise_strength[i] * eps, 0.2)
            y = rgb(x, w)
            skip = y if skip is None else y + F.interpolate(skip, scale_factor=2)
        return skip, styles


def stylegan2_generator() -> nn.Module:
    """StyleGAN2 generator whose input is a list of latents (Karras et al. 2020)."""
    return StyleGenerator()


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 400)
        self.fc21 = nn.Linear(400, 20)
        self.fc22 = nn.Linear(400, 20)
        self.fc3 = nn.Linear(20, 400)
        self.fc4 = nn.Linear(400, 784)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 784))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def vae_mnist() -> nn.Module:
    """Variational autoencoder (Kingma and Welling 2014), as in the examples of PyTorch."""
    return VAE()


class BetaVAE(nn.Module):
    def __init__(self, in_channels, latent_dim, hidden_dims=None):
        super().__init__()
        self.latent_dim = latent_dim
        modules = []
        if hidden_dims is None:
            hidden_dims = [32, 64, 128, 256, 512]
        c = in_channels
        for h_dim in hidden_dims:
            modules.append(
                nn.Sequential(nn.Conv2d(c, h_dim, 3, 2, 1), nn.BatchNorm2d(h_dim), nn.LeakyReLU())
            )
            c = h_dim
        self.encoder = nn.Sequential(*modules)
        self.fc_mu = nn.Linear(hidden_dims[-1] * 4, latent_dim)
        self.fc_var = nn.Linear(hidden_dims[-1] * 4, latent_dim)
        self.decoder_input = nn.Linear(latent_dim, hidden_dims[-1] * 4)
        hidden_dims.reverse()
        modules = []
        for a, b in zip(hidden_dims, [*hidden_dims[1:], hidden_dims[-1]], strict=True):
            modules.append(
                nn.Sequential(
                    nn.ConvTranspose2d(a, b, 3, 2, 1, 1), nn.BatchNorm2d(b), nn.LeakyReLU()
                )
            )
        self.decoder = nn.Sequential(*modules)
        self.final_layer = nn.Sequential(nn.Conv2d(hidden_dims[-1], 3, 3, padding=1), nn.Tanh())

    def forward(self, input: torch.Tensor, **kwargs) -> list:
        result = torch.flatten(self.encoder(input), start_dim=1)
        mu, log_var = self.fc_mu(result), self.fc_var(result)
        z = torch.randn_like(mu) * torch.exp(0.5 * log_var) + mu
        out = self.decoder_input(z).view(-1, 512, 2, 2)
        return [self.final_layer(self.decoder(out)), input, mu, log_var]


def beta_vae_celeba() -> nn.Module:
    """beta-VAE on 64-pixel faces (Higgins et al. 2017)."""
    return BetaVAE(3, 128)


class VectorQuantizer(nn.Module):
    def __init__(self, K, D, beta=0.25):
        super().__init__()
        self.K, self.D, self.beta = K, D, beta
        self.embedding = nn.Embedding(K, D)
        self.embedding.weight.data.uniform_(-1 / K, 1 / K)

    def forward(self, latents):
        latents = latents.permute(0, 2, 3, 1).contiguous()
        shape = latents.shape
        flat = latents.view(-1, self.D)
        dist = (
            torch.sum(flat**2, dim=1, keepdim=True)
            + torch.sum(self.embedding.weight**2, dim=1)
            - 2 * torch.matmul(flat, self.embedding.weight.t())
        )
        inds = torch.argmin(dist, dim=1).unsqueeze(1)
        one_hot = torch.zeros(inds.size(0), self.K, device=latents.device)
        one_hot.scatter_(1, inds, 1)
        q = torch.matmul(one_hot, self.embedding.weight).view(shape)
        loss = F.mse_loss(q.detach(), latents) * self.beta + F.mse_loss(q, latents.detach())
        q = latents + (q - latents).detach()
        return q.permute(0, 3, 1, 2).contiguous(), loss


class VQVAE(nn.Module):
    def __init__(self, h=64, k=512, d=64):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(3, h, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(h, h, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(h, d, 1),
        )
        self.vq = VectorQuantizer(k, d)
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(d, h, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(h, 3, 4, 2, 1)
        )

    def forward(self, x):
        q, vq_loss = self.vq(self.enc(x))
        x_hat = self.dec(q)
        return {"x_hat": x_hat, "loss": F.mse_loss(x_hat, x) + vq_loss}


def vq_vae() -> nn.Module:
    """VQ-VAE (van den Oord et al. 2017)."""
    return VQVAE()


class MaskedConv2d(nn.Conv2d):
    def __init__(self, mask_type, *args, **kwargs):
        super().__init__(*args, **kwargs)
        assert mask_type in ("A", "B")
        self.register_buffer("mask", self.weight.data.clone())
        _, _, kH, kW = self.weight.size()
        self.mask.fill_(1)
        self.mask[:, :, kH // 2, kW // 2 + (mask_type == "B") :] = 0
        self.mask[:, :, kH // 2 + 1 :] = 0

    def forward(self, x):
        self.weight.data *= self.mask
        return super().forward(x)


def pixel_cnn() -> nn.Module:
    """PixelCNN on grey images (van den Oord et al. 2016)."""
    fm = 64
    body = []
    for i in range(5):
        body += [MaskedConv2d("B" if i else "A", fm if i else 1, fm, 7, 1, 3, bias=False)]
        body += [nn.BatchNorm2d(fm), nn.ReLU(True)]
    return nn.Sequential(*body, nn.Conv2d(fm, 256, 1))


class Coupling(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(
            nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh()
        )
        self.t = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim))

    def forward(self, z):
        z_ = self.mask * z
        s, t = self.s(z_) * (1 - self.mask), self.t(z_) * (1 - self.mask)
        return (1 - self.mask) * (z - t) * torch.exp(-s) + z_, -s.sum(dim=1)


class RealNVP(nn.Module):
    def __init__(self, dim=2, hidden=256, n=6):
        super().__init__()
        mask = torch.arange(dim) % 2
        self.layers = nn.ModuleList(
            Coupling(dim, hidden, (mask if i % 2 else 1 - mask).float()) for i in range(n)
        )

    def forward(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, ld = layer(x)
            log_det += ld
        prior = -0.5 * (x**2 + math.log(2 * math.pi)).sum(1)
        return prior + log_det


def real_nvp_moons() -> nn.Module:
    """RealNVP on two-dimensional points (Dinh et al. 2017)."""
    return RealNVP()


class GlowStep(nn.Module):
    def __init__(self, c, hidden=128):
        super().__init__()
        self.loc, self.scale = (
            nn.Parameter(torch.zeros(1, c, 1, 1)),
            nn.Parameter(torch.ones(1, c, 1, 1)),
        )
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))
        self.weight = nn.Parameter(torch.eye(c).unsqueeze(2).unsqueeze(3))
        self.net = nn.Sequential(
            nn.Conv2d(c // 2, hidden, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(hidden, hidden, 1), nn.ReLU(inplace=True), nn.Conv2d(hidden, c, 3, padding=1),
        )  # fmt: skip

    def forward(self, x):
        _, _, h, w = x.shape
        out = self.scale * (x + self.loc)
        logdet = h * w * torch.sum(torch.log(torch.abs(self.scale)))
        out = F.conv2d(out, self.weight)
        logdet = logdet + h * w * torch.slogdet(self.weight.squeeze().double())[1].float()
        in_a, in_b = out.chunk(2, 1)
        log_s, t = self.net(in_a).chunk(2, 1)
        s = torch.sigmoid(log_s + 2)
        return torch.cat([in_a, (in_b + t) * s], 1), logdet + torch.sum(
            torch.log(s).view(x.shape[0], -1), 1
        )


class Glow(nn.Module):
    def __init__(self, in_channel, n_flow, n_block):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(n_block):
            self.blocks.append(nn.ModuleList(GlowStep(in_channel * 4) for _ in range(n_flow)))
            in_channel *= 2

    def forward(self, input):
        out, log_det, z_outs = input, 0, []
        for i, block in enumerate(self.blocks):
            b, c, h, w = out.shape
            out = out.view(b, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4)
            out = out.contiguous().view(b, c * 4, h // 2, w // 2)
            for step in block:
                out, det = step(out)
                log_det = log_det + det
            if i < len(self.blocks) - 1:
                out, z = out.chunk(2, 1)
                z_outs.append(z)
        return [*z_outs, out], log_det


def glow() -> nn.Module:
    """Glow with invertible 1x1 convolutions (Kingma and Dhariwal 2018)."""
    return Glow(3, n_flow=2, n_block=3)


def _timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(
        -math.log(max_period) * torch.arange(start=0, end=half, dtype=torch.float32) / half
    ).to(device=timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, i, o, emb):
        super().__init__()
        self.in_layers = nn.Sequential(nn.GroupNorm(8, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * o))
        self.out_norm = nn.GroupNorm(8, o)
        self.out_rest = nn.Sequential(nn.SiLU(), nn.Conv2d(o, o, 3, padding=1))
        self.skip = nn.Identity() if i == o else nn.Conv2d(i, o, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        scale, shift = torch.chunk(emb_out, 2, dim=1)
        return self.skip(x) + self.out_rest(self.out_norm(h) * (1 + scale) + shift)


class DiffusionUNet(nn.Module):
    def __init__(self, ch=64, mult=(1, 2, 2), num_classes=None):
        super().__init__()
        self.ch, emb, self.num_classes = ch, ch * 4, num_classes
        self.time_embed = nn.Sequential(nn.Linear(ch, emb), nn.SiLU(), nn.Linear(emb, emb))
        if num_classes is not None:
            self.label_emb = nn.Embedding(num_classes, emb)
        self.conv_in = nn.Conv2d(3, ch, 3, padding=1)
        self.downs, self.ups, c, skips = nn.ModuleList(), nn.ModuleList(), ch, []
        for i, m in enumerate(mult):
            self.downs.append(ResBlock(c, ch * m, emb))
            c = ch * m
            skips.append(c)
            if i < len(mult) - 1:
                self.downs.append(nn.Conv2d(c, c, 3, 2, 1))
        self.mid = ResBlock(c, c, emb)
        self.attn, self.attn_norm = (
            nn.MultiheadAttention(c, 4, batch_first=True),
            nn.GroupNorm(8, c),
        )
        for i, m in reversed(list(enumerate(mult))):
            self.ups.append(ResBlock(c + skips.pop(), ch * m, emb))
            c = ch * m
            if i > 0:
                self.ups.append(
                    nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(c, c, 3, 1, 1))
                )
        self.out = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))

    def forward(self, x, timesteps, y=None):
        assert (y is not None) == (self.num_classes is not None), (
            "must specify y if and only if the model is class-conditional"
        )
        emb = self.time_embed(_timestep_embedding(timesteps, self.ch))
        if self.num_classes is not None:
            assert y.shape == (x.shape[0],)
            emb = emb + self.label_emb(y)
        h, hs = self.conv_in(x), []
        for module in self.downs:
            if isinstance(module, ResBlock):
                h = module(h, emb)
                hs.append(h)
            else:
                h = module(h)
        h = self.mid(h, emb)
        b, c, hh, ww = h.shape
        t = self.attn_norm(h).flatten(2).transpose(1, 2)
        h = h + self.attn(t, t, t, need_weights=False)[0].transpose(1, 2).reshape(b, c, hh, ww)
        for module in self.ups:
            h = (
                module(torch.cat([h, hs.pop()], 1), emb)
                if isinstance(module, ResBlock)
                else module(h)
            )
        return self.out(h)


def ddpm_unet_class_conditional() -> nn.Module:
    """Diffusion U-Net with labels (Dhariwal and Nichol 2021)."""
    return DiffusionUNet(num_classes=10)


def ddpm_unet() -> nn.Module:
    """Diffusion U-Net without labels (Ho et al. 2020)."""
    return DiffusionUNet(mult=(1, 2))


def _modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class DiTBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(d, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(d, elementwise_affine=False)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(d, 4 * d), nn.GELU(approximate="tanh"), nn.Linear(4 * d, d)
        )
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d))

    def forward(self, x, c):
        s1, sc1, g1, s2, sc2, g2 = self.adaLN_modulation(c).chunk(6, dim=1)
        h = _modulate(self.norm1(x), s1, sc1)
        x = x + g1.unsqueeze(1) * self.attn(h, h, h)[0]
        return x + g2.unsqueeze(1) * self.mlp(_modulate(self.norm2(x), s2, sc2))


class DiT(nn.Module):
    def __init__(
        self, input_size=32, patch_size=2, in_channels=4, d=192, depth=3, num_classes=1000
    ):
        super().__init__()
        self.p, self.c = patch_size, in_channels
        self.x_embedder = nn.Conv2d(in_channels, d, patch_size, patch_size)
        n = (input_size // patch_size) ** 2
        self.pos_embed = nn.Parameter(torch.zeros(1, n, d), requires_grad=False)
        self.t_mlp = nn.Sequential(nn.Linear(256, d), nn.SiLU(), nn.Linear(d, d))
        self.y_embedder = nn.Embedding(num_classes + 1, d)
        self.blocks = nn.ModuleList([DiTBlock(d, 6) for _ in range(depth)])
        self.final = nn.Linear(d, patch_size**2 * in_channels * 2)

    def unpatchify(self, x):
        c, p = self.c * 2, self.p
        h = w = int(x.shape[1] ** 0.5)
        assert h * w == x.shape[1]
        x = x.reshape(shape=(x.shape[0], h, w, p, p, c))
        x = torch.einsum("nhwpqc->nchpwq", x)
        return x.reshape(shape=(x.shape[0], c, h * p, h * p))

    def forward(self, x, t, y):
        x = self.x_embedder(x).flatten(2).transpose(1, 2) + self.pos_embed
        c = self.t_mlp(_timestep_embedding(t, 256)) + self.y_embedder(y)
        for block in self.blocks:
            x = block(x, c)
        return self.unpatchify(self.final(x))


def dit_latents() -> nn.Module:
    """Diffusion transformer on latents (Peebles and Xie 2023)."""
    return DiT()


class NeRF(nn.Module):
    def __init__(self, D=8, W=256, input_ch=63, input_ch_views=27, skips=(4,)):
        super().__init__()
        self.input_ch = input_ch
        self.input_ch_views = input_ch_views
        self.skips = skips
        self.pts_linears = nn.ModuleList(
            [nn.Linear(input_ch, W)]
            + [
                nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W)
                for i in range(D - 1)
            ]
        )
        self.views_linears = nn.ModuleList([nn.Linear(input_ch_views + W, W // 2)])
        self.feature_linear = nn.Linear(W, W)
        self.alpha_linear = nn.Linear(W, 1)
        self.rgb_linear = nn.Linear(W // 2, 3)

    def forward(self, x):
        input_pts, input_views = torch.split(x, [self.input_ch, self.input_ch_views], dim=-1)
        h = input_pts
        for i, _ in enumerate(self.pts_linears):
            h = self.pts_linears[i](h)
            h = F.relu(h)
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        alpha = self.alpha_linear(h)
        feature = self.feature_linear(h)
        h = torch.cat([feature, input_views], -1)
        for layer in self.views_linears:
            h = F.relu(layer(h))
        return torch.cat([self.rgb_linear(h), alpha], -1)


def nerf_mlp() -> nn.Module:
    """NeRF's network on encoded positions and directions (Mildenhall et al. 2020)."""
    return NeRF()


class SirenLayer(nn.Module):
    def __init__(self, i, o, w0=30.0):
        super().__init__()
        self.lin, self.w0 = nn.Linear(i, o), w0
        bound = math.sqrt(6 / i) / w0
        nn.init.uniform_(self.lin.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.w0 * self.lin(x))


class VolumeRenderer(nn.Module):
    def __init__(self, near=2.0, far=6.0, n_samples=32):
        super().__init__()
        self.near, self.far, self.n_samples = near, far, n_samples
        self.field = nn.Sequential(SirenLayer(3, 128), SirenLayer(128, 128), nn.Linear(128, 4))

    def forward(self, rays_o, rays_d):
        t = torch.linspace(self.near, self.far, self.n_samples, device=rays_o.device)
        pts = rays_o[..., None, :] + rays_d[..., None, :] * t[..., :, None]  # [N, S, 3]
        raw = self.field(pts)
        rgb, sigma = torch.sigmoid(raw[..., :3]), F.relu(raw[..., 3])
        delta = torch.cat([t[1:] - t[:-1], torch.full_like(t[:1], 1e10)])
        alpha = 1.0 - torch.exp(-sigma * delta)
        trans = torch.cumprod(
            torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha + 1e-10], -1), -1
        )[:, :-1]
        weights = alpha * trans
        return (weights[..., None] * rgb).sum(-2), (weights * t).sum(-1), weights


def siren_ray_renderer() -> nn.Module:
    """Volume rendering of a SIREN field along rays (Sitzmann et al. 2020)."""
    return VolumeRenderer()
