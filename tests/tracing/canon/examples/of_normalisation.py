"""Examples of the rules on normalisations."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example


def affine(*shape):
    def layers():
        return {
            "fc": nn.Linear(8, 8),
            "conv": nn.Conv2d(3, 8, 3),
            "wave": nn.Conv1d(3, 8, 3),
            "rows": nn.Parameter(torch.ones(6, 1)),
            "steps": nn.Parameter(torch.ones(18)),
            "square": nn.Parameter(torch.ones(7, 7)),
            "weight": nn.Parameter(torch.ones(*shape)),
            "bias": nn.Parameter(torch.zeros(*shape)),
            "norm": nn.LayerNorm(8),
            "rms": nn.RMSNorm(8),
            "batch": nn.BatchNorm2d(8),
            "sync": nn.SyncBatchNorm(8),
            "slow": nn.BatchNorm2d(8, momentum=0.01),
            "instance": nn.InstanceNorm2d(8),
            "scale": nn.Buffer(torch.ones(8)),
            "shift": nn.Buffer(torch.zeros(8)),
            "scaled": nn.InstanceNorm2d(8, affine=True),
            **{f"group{groups}": nn.GroupNorm(groups, 8) for groups in (1, 2, 4, 8)},
        }

    return layers


def variance(m, x):
    x = m.fc(x)
    mean, var = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
    return m.weight * (x - mean) / torch.sqrt(var + 1e-6) + m.bias


def deviation(m, x):  # The Annotated Transformer's
    x = m.fc(x)
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return m.weight * (x - mean) / (std + 1e-6) + m.bias


def mean_of_squares(m, x):
    x = m.fc(x)
    u = x.mean(-1, keepdim=True)
    s = (x - u).pow(2).mean(-1, keepdim=True)
    return (x - u) * torch.rsqrt(s + 1e-6) * m.weight + m.bias


def both_moments(m, x):
    x = m.fc(x)
    var, mean = torch.var_mean(x, dim=-1, keepdim=True)
    return torch.addcmul(m.bias, (x - mean) / (var + 1e-6).sqrt(), m.weight)


def difference_of_squares(m, x):
    x = m.fc(x)
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / ((x**2).mean(-1, keepdim=True) - mean**2 + 1e-5).sqrt() * m.weight + m.bias


def with_statistics(m, x):  # Dive into Deep Learning's
    x = (m.conv(x) - m.shift[:, None, None]) / torch.sqrt(m.scale[:, None, None] + 1e-5)
    return m.weight[:, None, None] * x + m.bias[:, None, None]


def weight_first(m, x):
    x = m.weight[:, None, None] * (m.conv(x) - m.shift[:, None, None])
    return x / torch.sqrt(m.scale[:, None, None] + 1e-5) + m.bias[:, None, None]


def groups_by_hand(many, flat=False):
    def forward(m, x):
        x = m.conv(x)
        y = x.view(len(x), many, -1) if flat else x.unflatten(1, (many, -1))
        axes = tuple(range(2, y.dim()))
        mean, var = y.mean(axes, keepdim=True), y.var(axes, unbiased=False, keepdim=True)
        y = ((y - mean) / (var + 1e-5).sqrt()).view(x.shape)
        return y * m.weight[:, None, None] + m.bias[:, None, None]

    return forward


def in_steps(x, *dims):
    for dim in dims:
        x = x.mean(dim, keepdim=True)
    return x


def sums_in_groups(m, x):
    y = (x := m.conv(x)).unflatten(1, (2, -1))
    mean = y.sum((2, 3, 4), keepdim=True) / y[0, 0].numel()
    y = y - mean
    y = y / (in_steps(y**2, 4, 3, 2) + 1e-5).sqrt()
    return y.view(x.shape) * m.weight[:, None, None] + m.bias[:, None, None]


def by_moments(layer, mean, var):
    """A norm without weights by two statistics, of which the second is of the squares."""

    def forward(m, x):
        y = getattr(m, layer)(x)
        centred = y - mean(y)
        return centred / (var(centred**2) + 1e-5).sqrt()

    return forward


def over(*dims):
    return lambda x: x.mean(dims, keepdim=True)


def one_by_one(*dims):
    return lambda x: in_steps(x, *dims)


def global_layer(statistic):  # Conv-TasNet's, with gamma before the division
    def forward(m, x):
        y = m.wave(x)
        mean = statistic(y)
        var = statistic((y - mean) ** 2)
        return m.weight[None, :, None] * (y - mean) / torch.pow(var + 1e-8, 0.5) + m.bias[:, None]

    return forward


def global_layer_transposed(m, x):  # Asteroid's gain and bias
    y = by_moments("wave", over(1, 2), over(1, 2))(m, x)
    return (m.weight * y.transpose(1, -1) + m.bias).transpose(1, -1)


def global_layer_of_rows(m, x):  # channels last
    y = m.wave(x).transpose(1, 2)
    var, mean = torch.var_mean(y, (1, 2), correction=0, keepdim=True)
    return (m.weight * ((y - mean) / (var + 1e-8).sqrt()) + m.bias).transpose(1, 2)


def global_layer_of_squares(m, x):
    y = m.wave(x)
    mean = in_steps(y, 2, 1)
    y = m.weight[:, None] * (y - mean) / (in_steps(y**2, 1, 2) - mean**2 + 1e-8).sqrt()
    return y + m.bias[:, None]


def frozen(m, x):  # torchvision's FrozenBatchNorm2d
    scale = m.scale * (m.scale + 1e-5).rsqrt()
    x = m.conv(x)
    return x * scale[:, None, None] + (m.shift - m.shift * scale)[:, None, None]


def channels_first(m, x):  # ConvNeXt's LayerNorm2d
    x = m.conv(x)
    u = x.mean(1, keepdim=True)
    s = (x - u).pow(2).mean(1, keepdim=True)
    x = (x - u) / torch.sqrt(s + 1e-6)
    return m.weight[:, None, None] * x + m.bias[:, None, None]


def permuted(m, x):
    return m.norm(m.conv(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def adaptive_instance(m, x):
    x = m.conv(x)
    mean, std = x.mean((2, 3), keepdim=True), (x.var((2, 3), keepdim=True) + 1e-5).sqrt()
    return (x - mean) / std


def rms(m, x, weight=True):
    x = m.fc(x)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return m.weight * x if weight else x


def normalised_rms(m, x):  # lucidrains'
    return F.normalize(m.fc(x), dim=-1) * 8**0.5 * m.weight


def scaled_by_norm(m, x):
    x = m.fc(x)
    return x / (x.norm(dim=-1, keepdim=True) * 8**-0.5).clamp(min=1e-8) * m.weight


def behind_conv(name):
    return lambda m, x: getattr(m, name)(m.conv(x))


EXAMPLES = {
    "layer norm by hand": Example(
        same=[
            lambda m, x: m.norm(m.fc(x)),
            variance,
            deviation,
            mean_of_squares,
            both_moments,
            difference_of_squares,
        ],
        different=[
            rms,
            lambda m, x: m.fc(x) - m.fc(x).mean(-1, keepdim=True),
            lambda m, x: F.layer_norm(m.fc(x), (8,)),
            lambda m, x: m.fc(x) * m.weight + m.bias,
            lambda m, x: m.fc(x) / m.fc(x).std(-1, keepdim=True),
        ],
        layers=affine(8),
    ),
    "layer and group normalisation": Example(
        same=[permuted, channels_first],
        different=[
            behind_conv("group1"),
            behind_conv("group4"),
            behind_conv("instance"),
            behind_conv("batch"),
        ],
        shape=(1, 3, 9, 9),
        layers=affine(8),
    ),
    "batch normalisation": Example(
        same=[
            behind_conv("batch"),
            behind_conv("sync"),
            behind_conv("slow"),
        ],
        different=[
            behind_conv("instance"),
            behind_conv("group2"),
            lambda m, x: m.conv(x),
        ],
        shape=(1, 3, 9, 9),
        layers=affine(8),
    ),
    "frozen batch normalisation": Example(
        same=[
            behind_conv("batch"),
            frozen,
            lambda m, x: m.conv(x) * m.scale.view(1, 8, 1, 1) + m.shift.view(1, 8, 1, 1),
            with_statistics,
            weight_first,
        ],
        different=[
            lambda m, x: m.conv(x) * m.scale[:, None, None],
            lambda m, x: m.conv(x) + m.shift[:, None, None],
            lambda m, x: m.conv(x) * m.scale[:7] + m.shift[:7],
            lambda m, x: (m.conv(x) - m.shift[:, None, None]) / m.scale[:, None, None],
            lambda m, x: m.conv(x) * m.weight[:, None, None] + m.bias[:, None, None],
        ],
        shape=(1, 3, 9, 9),
        layers=affine(8),
    ),
    "instance normalisation": Example(
        same=[
            behind_conv("instance"),
            behind_conv("scaled"),
            behind_conv("group8"),
        ],
        different=[behind_conv("group4"), behind_conv("batch")],
        shape=(2, 3, 9, 9),
        layers=affine(8),
    ),
    "instance norm by hand": Example(
        same=[
            behind_conv("instance"),
            adaptive_instance,
            by_moments("conv", one_by_one(3, 2), one_by_one(-1, -2)),
            by_moments("conv", one_by_one(-2, -1), over(2, 3)),
            by_moments("conv", over(2, 3), lambda x: x.sum(3, True).sum(2, True) / 49),
            lambda m, x: (
                by_moments("conv", one_by_one(2, 3), over(2, 3))(m, x) * m.weight[:, None, None]
            ),
        ],
        different=[
            channels_first,
            lambda m, x: (y := m.conv(x)) - y.mean((2, 3), keepdim=True),
            by_moments("conv", one_by_one(3, 2), over(3)),
            by_moments("conv", over(3), over(3)),
            by_moments("conv", over(1), over(2, 3)),
            by_moments("conv", one_by_one(3, 2), over(1, 2, 3)),
            by_moments("conv", lambda x: in_steps(x[..., :5], 3, 2), over(2, 3)),
            lambda m, x: by_moments("conv", over(2, 3), over(2, 3))(m, x) * m.square,
        ],
        shape=(1, 3, 9, 9),
        layers=affine(8),
    ),
    "group norm by hand": Example(
        same=[
            behind_conv("group2"),
            groups_by_hand(2),
            groups_by_hand(2, flat=True),
            sums_in_groups,
        ],
        different=[groups_by_hand(4), behind_conv("instance"), permuted],
        shape=(1, 3, 9, 9),
        layers=affine(8),
    ),
    "global layer norm by hand": Example(
        same=[
            lambda m, x: m.group1(m.wave(x)),
            global_layer(one_by_one(1, 2)),
            global_layer(one_by_one(-1, -2)),
            global_layer(over(1, 2)),
            by_moments("wave", one_by_one(1, 2), one_by_one(1, 2)),
            by_moments("wave", over(2, 1), one_by_one(2, 1)),
            global_layer_transposed,
            global_layer_of_rows,
            global_layer_of_squares,
        ],
        different=[
            lambda m, x: m.group2(m.wave(x)),
            by_moments("wave", over(1), one_by_one(1, 2)),
            by_moments("wave", one_by_one(1, 2), over(1)),
            by_moments("wave", over(1), over(1)),
            by_moments("wave", over(2), over(2)),
            by_moments("wave", lambda x: in_steps(x[..., :9], 1, 2), over(1, 2)),
            lambda m, x: by_moments("wave", over(1, 2), over(1, 2))(m, x) * m.steps,
            lambda m, x: global_layer(over(1, 2))(m, x) + m.steps,
            lambda m, x: m.wave(x) / in_steps(m.wave(x) ** 2, 1, 2).sqrt(),
        ],
        shape=(1, 3, 20),
        layers=affine(8),
    ),
    "affine part apart": Example(
        same=[
            lambda m, x: m.norm(m.fc(x)),
            lambda m, x: F.layer_norm(m.fc(x), (8,)) * m.weight + m.bias,
        ],
        different=[
            lambda m, x: F.layer_norm(m.fc(x), (8,)),
            lambda m, x: F.layer_norm(m.fc(x), (8,)) * m.weight,
            lambda m, x: F.layer_norm(m.fc(x), (8,)) + m.bias,
        ],
        layers=affine(8),
    ),
    "RMS norm by hand": Example(
        same=[
            lambda m, x: m.rms(m.fc(x)),
            rms,
            normalised_rms,
            scaled_by_norm,
            lambda m, x: (y := m.fc(x)) / torch.sqrt((y * y).mean(-1, keepdim=True)) * m.weight,
            lambda m, x: rms(m, x, weight=False) * (1 + m.bias),
            lambda m, x: m.weight * (y := m.fc(x)) / (y * y).mean(-1, keepdim=True).sqrt(),
            lambda m, x: F.rms_norm(m.fc(x), (8,)) * m.weight,
            lambda m, x: (y := m.fc(x)) * m.weight.expand_as(y) / (y * y).sum(-1, True).sqrt(),
        ],
        different=[
            lambda m, x: rms(m, x, weight=False),
            lambda m, x: m.norm(m.fc(x)),
            lambda m, x: m.fc(x) * m.weight,
            lambda m, x: rms(m, x, weight=False) * m.rows,
            lambda m, x: m.rows * (y := m.fc(x)) / (y * y).mean(-1, keepdim=True).sqrt(),
        ],
        layers=affine(8),
    ),
    "L2 norm": Example(
        same=[
            lambda m, x: F.normalize(m.fc(x), dim=-1),
            lambda m, x: (y := m.fc(x)) / y.norm(dim=-1, keepdim=True),
            lambda m, x: (y := m.fc(x)) * torch.rsqrt(y.square().sum(-1, keepdim=True)),
        ],
        different=[
            lambda m, x: m.fc(x),
            lambda m, x: rms(m, x, weight=False),
            normalised_rms,
            lambda m, x: F.normalize(m.fc(x), p=1, dim=-1),
            lambda m, x: F.normalize(m.fc(x), p=float("inf"), dim=-1),
        ],
        layers=affine(8),
    ),
}


def behind_pooling(m, x):  # HorNet's own layer norm
    x = m.fc(x).mean(1)
    mean = x.mean(1, keepdim=True)
    var = (x - mean).pow(2).mean(1, keepdim=True)
    return m.weight * ((x - mean) / torch.sqrt(var + 1e-6)) + m.bias


ALSO_SAME = {
    "a layer norm of pooled features": [behind_pooling, lambda m, x: m.norm(m.fc(x).mean(1))],
}
