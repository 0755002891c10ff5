"""Whatever is computed from parameters and constants alone is a weight of that shape.

So each layer here is the plain layer of its widths, however its weight is made.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize

from nar_plugin.tracing import trace

pytestmark = pytest.mark.usefixtures("in_this_process")
WIDTH = 16


class Layer(nn.Module):
    """A layer whose weight is a function of parameters, between a linear layer and a head."""

    def __init__(self, weight, *shapes, apply=F.linear):
        super().__init__()
        self.before, self.after = nn.Linear(8, WIDTH), nn.Linear(WIDTH, 4)
        self.made_of = nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in shapes)
        self.weight, self.apply_weight = weight, apply

    def forward(self, x):
        x = self.apply_weight(self.before(x).relu(), self.weight(*self.made_of))
        return self.after(x.relu())


def plain(weight):
    return weight


def cayley(weight):
    skew, one = weight.triu(1) - weight.triu(1).T, torch.eye(WIDTH)
    return (one - skew) @ torch.inverse(one + skew)


def truncated(weight):
    left, values, right = torch.linalg.svd(weight)
    return left[:, :4] * values[:4] @ right[:4]


def circulant(row):
    return torch.stack([row.roll(place) for place in range(WIDTH)])


def hashed(values):
    places = torch.arange(WIDTH * WIDTH).remainder(7).view(WIDTH, WIDTH)
    return values[places]


def radial(centres):
    return torch.exp(-torch.cdist(centres, centres).square())


def rotations(angles):
    whole = torch.eye(WIDTH)
    for place in range(0, WIDTH, 2):
        sine, cosine = angles[place // 2].sin(), angles[place // 2].cos()
        turned = torch.eye(WIDTH)
        turned[place, place] = turned[place + 1, place + 1] = cosine
        turned[place, place + 1], turned[place + 1, place] = -sine, sine
        whole = whole @ turned
    return whole


def concrete(weight, gate):
    return weight * (gate.sigmoid() > 0.5).float()


def of_a_network(codes, first, second):
    """A hypernetwork on learned codes."""
    return torch.tanh(F.layer_norm(codes, (5,)) @ first) @ second


SQUARE = (WIDTH, WIDTH)
MADE = {
    "product with its transpose": Layer(lambda a: a @ a.T, SQUARE),
    "Cayley map by an inverse": Layer(cayley, SQUARE),
    "Q of QR": Layer(lambda a: torch.linalg.qr(a).Q, SQUARE),
    "truncated SVD": Layer(truncated, SQUARE),
    "binary": Layer(lambda a: a.sign() * a.abs().mean(1, keepdim=True), SQUARE),
    "from its spectrum": Layer(
        lambda a, b: torch.fft.irfft2(torch.complex(a, b), s=SQUARE), (WIDTH, 9), (WIDTH, 9)
    ),
    "circulant": Layer(circulant, (WIDTH,)),
    "increasing": Layer(lambda a: F.softplus(a).cumsum(1), SQUARE),
    "Kronecker product": Layer(torch.kron, (4, 4), (4, 4)),
    "sorted": Layer(lambda a: a.sort(dim=1).values, SQUARE),
    "Cholesky factor": Layer(lambda a: a.tril(-1) + a.diagonal().exp().diag(), SQUARE),
    "hard gates": Layer(concrete, SQUARE, SQUARE),
    "hashed": Layer(hashed, (7,)),
    "tensor train": Layer(
        lambda a, b: torch.einsum("imr,rjn->ijmn", a, b).reshape(SQUARE), (4, 4, 3), (3, 4, 4)
    ),
    "layer norm of a weight": Layer(lambda a: F.layer_norm(a, (WIDTH,)), SQUARE),
    "radial": Layer(radial, (WIDTH, 2)),
    "rotations of planes": Layer(rotations, (WIDTH // 2,)),
    "exponential of a scaled weight": Layer(lambda a: torch.matrix_exp(a / 3), SQUARE),
    "hypernetwork on learned codes": Layer(of_a_network, (WIDTH, 5), (5, 6), (6, WIDTH)),
    "low rank, by einsum": Layer(
        lambda a, b: torch.einsum("or,ri->oi", a, b), (WIDTH, 2), (2, WIDTH)
    ),
    "low rank, in an einsum": Layer(
        lambda a, b: a @ b,
        (WIDTH, 2),
        (2, WIDTH),
        apply=lambda x, weight: torch.einsum("bi,oi->bo", x, weight),
    ),
    "log-sum-exp": Layer(lambda a: a - a.logsumexp(0), SQUARE),
    "clipped by its own quantile": Layer(lambda a: a.clamp(max=a.flatten().quantile(0.9)), SQUARE),
    "straight-through": Layer(lambda a: a + (a.round() - a).detach(), SQUARE),
}


def in_words(model, *shape):
    return [str(op) for op in trace(model, torch.empty(shape)).ops]


@pytest.fixture(scope="module")
def of_a_plain_weight():
    return in_words(Layer(plain, SQUARE), 2, 8)


@pytest.mark.parametrize("name", MADE)
def test_a_weight_that_is_computed_is_a_weight(name, of_a_plain_weight):
    assert in_words(MADE[name], 2, 8) == of_a_plain_weight


def gabor(width, angle, phase):
    side = torch.arange(-2.0, 3.0)
    y, x = torch.meshgrid(side, side, indexing="ij")
    turned = x * angle[:, None, None].cos() + y * angle[:, None, None].sin()
    wave = torch.cos(2 * math.pi * turned / 3 + phase[:, None, None])
    bell = torch.exp(-(x**2 + y**2) / width[:, None, None] ** 2)
    return (wave * bell)[:, None].repeat(1, 3, 1, 1)


def test_a_kernel_that_is_computed_is_a_kernel():
    class Filters(nn.Module):
        def __init__(self, kernel, *shapes):
            super().__init__()
            self.made_of = nn.ParameterList(nn.Parameter(torch.randn(shape)) for shape in shapes)
            self.kernel = kernel

        def forward(self, x):
            return F.conv2d(x, self.kernel(*self.made_of), padding=2)

    whole = in_words(Filters(plain, (8, 3, 5, 5)), 1, 3, 12, 12)
    of_low_rank = Filters(lambda a, b: (a @ b).view(8, 3, 5, 5), (8, 4), (4, 75))
    assert in_words(Filters(gabor, 8, 8, 8), 1, 3, 12, 12) == whole
    assert in_words(of_low_rank, 1, 3, 12, 12) == whole


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
def test_orthogonal_parametrizations_of_torch(kind):
    layers = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
    parametrizations.orthogonal(layers[0], orthogonal_map=kind)
    assert in_words(layers[0], 2, WIDTH) == in_words(layers[1], 2, WIDTH)


def test_ternary_weights_and_masks_of_the_largest():
    class Ternary(nn.Module):
        def forward(self, weight):
            scale = weight.abs().mean()
            return (weight / scale).round().clamp(-1, 1) * scale

    class Largest(nn.Module):
        def forward(self, weight):
            return weight * (weight.abs() >= weight.abs().flatten().topk(40).values[-1])

    wanted = in_words(nn.Linear(WIDTH, WIDTH), 2, WIDTH)
    for made in (Ternary(), Largest()):
        layer = nn.Linear(WIDTH, WIDTH)
        parametrize.register_parametrization(layer, "weight", made)
        assert in_words(layer, 2, WIDTH) == wanted


@pytest.mark.parametrize("how", ["complex", "polar", "view"])
def test_complex_weights_of_two_reals(how):
    make = {
        "complex": torch.complex,
        "polar": torch.polar,
        "view": lambda a, b: torch.view_as_complex(torch.stack([a, b], -1)),
    }[how]

    def product(x, weight):
        return (x.to(torch.cfloat) @ weight).real

    model = Layer(make, SQUARE, SQUARE, apply=product)
    one = Layer(lambda a: a.cfloat(), SQUARE, apply=product)
    assert in_words(model, 2, 8) == in_words(one, 2, 8)


def test_learned_queries_that_pass_through_layers_stay_tokens():
    class Latents(nn.Module):
        def __init__(self, *queries):
            super().__init__()
            self.latents = nn.Parameter(torch.randn(5, WIDTH))
            self.query = nn.Sequential(*queries)
            self.kv = nn.Linear(8, 2 * WIDTH)

        def forward(self, x):
            keys, values = self.kv(x).chunk(2, -1)
            queries = self.query(self.latents).expand(len(x), -1, -1)
            parts = (queries, keys, values)
            heads = [part.unflatten(-1, (4, -1)).transpose(1, 2) for part in parts]
            return (heads[0] @ heads[1].mT).softmax(-1) @ heads[2]

    one, normed = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
    assert len(in_words(Latents(normed, one), 2, 7, 8)) == len(in_words(Latents(one), 2, 7, 8)) + 1
