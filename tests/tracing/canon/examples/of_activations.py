"""Examples of the rules on activations."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example


def fc():
    return {"fc": nn.Linear(8, 8)}


def halves():
    return {"fc": nn.Linear(8, 16)}


def glu_by_hand(m, x):
    value, gate = m.fc(x).chunk(2, dim=-1)
    return value * torch.sigmoid(gate)


def swiglu(activation):
    def forward(m, x):
        gate, value = m.fc(x).chunk(2, dim=-1)
        return activation(gate) * value

    return forward


def fast_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


def new_gelu(x):
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def cubed_gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def zeroed(x):
    x = x.clone()
    x[x < 0] = 0
    return x


def on(*functions):
    """Each function behind a linear layer."""
    return [lambda m, x, f=f: f(m.fc(x)) for f in functions]


EXAMPLES = {
    "gated linear unit": Example(
        same=[lambda m, x: F.glu(m.fc(x)), lambda m, x: nn.GLU()(m.fc(x)), glu_by_hand],
        different=[
            swiglu(F.silu),
            swiglu(F.gelu),
            swiglu(torch.relu),
            lambda m, x: F.silu(m.fc(x)),
            swiglu(lambda gate: gate),
            lambda m, x: m.fc(x).square(),
        ],
        layers=halves,
    ),
    "SiLU and quick GELU by hand": Example(
        same=on(
            F.silu,
            nn.SiLU(inplace=True),
            lambda x: x * torch.sigmoid(x),
            lambda x: x * x.sigmoid(),
            lambda x: torch.sigmoid(x).mul(x),
            lambda x: x / (1 + torch.exp(-x)),
            lambda x: x * (1 / (1 + torch.exp(-x))),
        ),
        different=on(lambda x: x * torch.sigmoid(1.702 * x), torch.sigmoid, F.gelu, F.mish),
        layers=fc,
    ),
    "hard sigmoid by hand": Example(
        same=on(
            F.hardsigmoid,
            nn.Hardsigmoid(inplace=True),
            lambda x: F.relu6(x + 3) / 6,
            lambda x: F.hardtanh(x + 3.0, 0.0, 6.0) / 6.0,
            lambda x: (x / 6 + 0.5).clamp(0, 1),
            lambda x: ((x + 3) / 6).clamp(0, 1),
        ),
        different=on(F.relu6, torch.sigmoid, F.hardtanh, lambda x: (x + 3) / 6),
        layers=fc,
    ),
    "hard swish by hand": Example(
        same=on(
            F.hardswish,
            lambda x: x * F.hardsigmoid(x),
            lambda x: x * F.relu6(x + 3) / 6,
            lambda x: x.mul(F.relu6(x + 3.0).div(6.0)),
            lambda x: x * (x + 3).clamp(0, 6) / 6,
        ),
        different=on(F.silu, F.hardsigmoid, lambda x: x * F.relu6(x), F.relu6),
        layers=fc,
    ),
    "GELU by hand": Example(
        same=on(
            F.gelu,
            nn.GELU(),
            lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
            lambda x: x * 0.5 * (1.0 + torch.erf(x * 0.7071)),
        ),
        different=on(lambda x: F.gelu(x, approximate="tanh"), torch.erf, F.silu),
        layers=fc,
    ),
    "tanh GELU by hand": Example(
        same=on(lambda x: F.gelu(x, approximate="tanh"), new_gelu, fast_gelu, cubed_gelu),
        different=on(F.gelu, torch.tanh, lambda x: x * torch.tanh(x)),
        layers=fc,
    ),
    "Mish by hand": Example(
        same=on(
            F.mish,
            lambda x: x * torch.tanh(F.softplus(x)),
            lambda x: x * torch.tanh(torch.log1p(torch.exp(x))),
        ),
        different=on(lambda x: x * torch.tanh(x), F.silu, F.softplus),
        layers=fc,
    ),
    "softplus by hand": Example(
        same=on(
            F.softplus,
            lambda x: torch.log(1 + torch.exp(x)),
            lambda x: x.exp().log1p(),
        ),
        different=on(lambda x: torch.log(torch.exp(x)), torch.exp, torch.log1p),
        layers=fc,
    ),
    "sigmoid by hand": Example(
        same=on(
            torch.sigmoid,
            lambda x: 1 / (1 + torch.exp(-x)),
            lambda x: (torch.exp(-1.0 * x) + 1).reciprocal(),
            lambda x: (power := x.exp()) / (power + 1),
        ),
        different=on(
            lambda x: 1 / (2 + torch.exp(-x)),
            lambda x: torch.exp(-x),
            torch.tanh,
        ),
        layers=fc,
    ),
    "clamped activations": Example(
        same=on(
            F.relu,
            nn.ReLU(inplace=True),
            lambda x: x.clamp(min=0),
            lambda x: x.clamp_min(0.0),
            lambda x: F.threshold(x, 0, 0),
            lambda x: torch.maximum(x, torch.zeros_like(x)),
            lambda x: torch.max(torch.tensor(0.0), x),
            lambda x: torch.maximum(x, x.new_zeros(1)),
            lambda x: x.clamp(min=torch.tensor(0.0)),
        ),
        different=on(
            F.relu6,
            F.hardtanh,
            F.leaky_relu,
            lambda x: x.clamp(-1e4, 1e4),
            lambda x: F.elu(x),
            lambda x: torch.maximum(x, -x),
            lambda x: x.clamp(min=x.mean()),
            lambda x: x.clamp(max=x.mean()),
            lambda x: F.threshold(x, 0, 6),
            lambda x: torch.where(x > 0, x, 0.1 * x),
        ),
        layers=fc,
    ),
    "ReLU by comparison": Example(
        same=on(
            F.relu,
            lambda x: x * (x > 0),
            lambda x: (x >= 0).to(x.dtype) * x,
            lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
            lambda x: torch.where(x > 0, x, 0.0),
            lambda x: torch.where(x <= 0, torch.zeros_like(x), x),
            lambda x: x.masked_fill(x < 0, 0),
            zeroed,
            lambda x: F.leaky_relu(x, 0.0),
        ),
        different=on(
            lambda x: x * (x > 1),
            lambda x: x * (x < 0),
            lambda x: torch.where(x < 0, x, 0.0),
            lambda x: x.masked_fill(x > 0, 0),
            lambda x: x.masked_fill(x < 0, 1),
            lambda x: torch.where(x > 0, x, 0.1 * x),
            lambda x: torch.where(x > 0, x, 1.0),
            lambda x: (x > 0).to(x.dtype),
        ),
        layers=fc,
    ),
    "exponential units": Example(
        same=on(F.elu, nn.ELU(inplace=True), lambda x: F.elu(x, 1.0)),
        different=on(F.selu, F.celu, lambda x: F.elu(x, 0.5), F.relu),
        layers=fc,
    ),
    "squares and roots": Example(
        same=on(
            lambda x: torch.relu(x).square(),
            lambda x: torch.relu(x) ** 2,
            lambda x: torch.relu(x).pow(2),
            lambda x: (y := torch.relu(x)) * y,
        ),
        different=on(torch.relu, lambda x: torch.relu(x) ** 3, lambda x: torch.relu(x).sqrt()),
        layers=fc,
    ),
}

# Two more rules of the same tables, by their other members.
ALSO_SAME = {
    "relu6": on(F.relu6, lambda x: x.clamp(0, 6), lambda x: F.hardtanh(x, 0.0, 6.0)),
    "hardtanh": on(F.hardtanh, lambda x: x.clamp(-1, 1)),
    "quick_gelu": on(lambda x: x * torch.sigmoid(1.702 * x), lambda x: (x * 1.702).sigmoid() * x),
    "sqrt": on(lambda x: x.sqrt(), lambda x: x**0.5),
    "leaky_relu": on(
        lambda x: F.leaky_relu(x, 0.1),
        lambda x: torch.where(x > 0, x, 0.1 * x),
        lambda x: torch.maximum(x, 0.1 * x),
        lambda x: torch.maximum(x / 10, x),
    ),
    "rsqrt": on(lambda x: x.rsqrt(), lambda x: x.pow(-0.5)),
}
