"""Forwards that use parameters without a layer: nothing but a refusal tells what they take."""

import pytest
import torch
from nar_plugin.hooks.torch.mend.edits import ranked, resized
from torch import nn
from torch.nn import functional

from nar_plugin import trace


def module(function, **held):
    """A module whose forward is a function of itself and its inputs."""

    class Raw(nn.Module):
        def __init__(self):
            super().__init__()
            for name, value in held.items():
                layer = isinstance(value, nn.Module)
                setattr(self, name, value if layer else nn.Parameter(torch.randn(value)))

        if function.__code__.co_argcount == 2:

            def forward(self, x):
                return function(self, x)

        else:

            def forward(self, a, b):
                return function(self, a, b)

    return Raw()


def attention(m, x):
    heads = [part.unflatten(-1, (4, 6)).transpose(1, 2) for part in (x @ m.packed).chunk(3, -1)]
    return functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2) @ m.out


def global_filter(m, x):
    weight = torch.view_as_complex(torch.stack([m.real, m.imaginary], -1))
    return torch.fft.irfft(torch.fft.rfft(x) * weight)


def kolmogorov_arnold(m, x):
    basis = torch.stack([torch.cos(x * k) for k in range(10)], -1)
    return torch.einsum("bik,oik->bo", basis, m.w)


def codes(m, x):
    return torch.cdist(x, m.w)


# A model, and inputs that its forward takes.
CASES = {
    "experts, bmm": (module(lambda m, x: torch.bmm(x, m.w), w=(5, 16, 8)), [(5, 3, 16)]),
    "experts, matmul": (module(lambda m, x: x @ m.w, w=(5, 16, 8)), [(5, 3, 16)]),
    "experts, baddbmm": (
        module(lambda m, x: torch.baddbmm(m.b, x, m.w), w=(5, 16, 8), b=(5, 1, 8)),
        [(5, 3, 16)],
    ),
    "vmap over weights": (
        module(lambda m, x: torch.vmap(lambda w: functional.linear(x, w))(m.w), w=(5, 8, 16)),
        [(3, 16)],
    ),
    "a vector": (module(lambda m, x: x @ m.w, w=(16,)), [(3, 16)]),
    "Householder": (
        module(lambda m, x: x - 2 * (x @ m.w)[..., None] * m.w / (m.w @ m.w), w=(24,)),
        [(3, 24)],
    ),
    "tensordot": (module(lambda m, x: torch.tensordot(x, m.w, dims=1), w=(16, 8)), [(3, 16)]),
    "two halves": (
        module(lambda m, x: torch.einsum("bi,bj,ijk->bk", x[:, :6], x[:, 6:], m.w), w=(6, 4, 9)),
        [(3, 10)],
    ),
    "skeleton": (
        module(lambda m, x: torch.einsum("nctv,vw->nctw", x, m.w), w=(13, 13)),
        [(1, 3, 16, 13)],
    ),
    "Kolmogorov-Arnold": (module(kolmogorov_arnold, w=(8, 5, 10)), [(3, 5)]),
    "bilinear form": (module(lambda m, x: functional.bilinear(x, x, m.w), w=(4, 5, 5)), [(3, 5)]),
    "bilinear": (
        module(lambda m, a, b: m.layer(a, b), layer=nn.Bilinear(5, 6, 4)),
        [(3, 5), (3, 6)],
    ),
    "prelu": (module(lambda m, x: m.layer(x), layer=nn.PReLU(24)), [(1, 24, 8, 8)]),
    "group norm": (module(lambda m, x: m.layer(x), layer=nn.GroupNorm(6, 24)), [(1, 24, 8, 8)]),
    "rms norm": (module(lambda m, x: functional.rms_norm(x, (24,), m.w), w=(24,)), [(3, 24)]),
    "pixel shuffle": (
        module(lambda m, x: m.layer(functional.pixel_shuffle(x, 2)), layer=nn.Conv2d(5, 3, 1)),
        [(1, 20, 8, 8)],
    ),
    "distances to codes": (module(codes, w=(30, 11)), [(3, 11)]),
    "stacked with a token": (
        module(lambda m, x: torch.stack([m.w, x.mean((0, 1))]) @ m.v, w=(24,), v=(24, 3)),
        [(1, 7, 24)],
    ),
    "global filter": (module(global_filter, real=(24, 17), imaginary=(24, 17)), [(1, 24, 32)]),
    "fixed graph": (module(lambda m, x: m.a @ (x @ m.w), w=(16, 8), a=(34, 34)), [(1, 34, 16)]),
    "bias of positions": (
        module(lambda m, x: torch.softmax(x @ x.mT + m.w, -1) @ x, w=(33, 33)),
        [(1, 33, 8)],
    ),
    "attention": (module(attention, packed=(24, 72), out=(24, 24)), [(1, 7, 24)]),
    "taken apart": (module(lambda m, x: x.unflatten(-1, (6, 16)) @ m.w, w=(16, 4)), [(3, 96)]),
    "lerp": (module(lambda m, x: torch.lerp(x, -x, m.w), w=(24,)), [(3, 24)]),
    "outer": (module(lambda m, x: torch.outer(x, m.w), w=(24,)), [(7,)]),
    "a system": (module(lambda m, x: torch.linalg.solve(m.w, x), w=(24, 24)), [(24, 3)]),
    "queries of a width": (
        module(lambda m, x: m.w.expand(-1, x.shape[1], -1) + x, w=(1, 50, 24)),
        [(1, 50, 24)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_weight_says_what_goes_in(name):
    model, shapes = CASES[name]
    guessed = trace(model)
    told = trace(model, example_inputs=tuple(torch.randn(shape) for shape in shapes))
    assert guessed.method == "meta"
    assert guessed.fingerprint == told.fingerprint


def test_a_message_that_nobody_knows_may_name_sizes():
    def refusing(m, x):
        if x.shape[-1] != 18:
            raise ValueError(f"this wants 18 of them and has {x.shape[-1]}")
        return x @ m.w

    assert [op.kind for op in trace(module(refusing, w=(18, 4))).ops] == ["linear"]


def test_dimensions_do_not_grow_without_end():
    flat = torch.empty(1, 4)
    assert [change(flat) for change in ranked(12)] == [None] * 7
    assert max(made.dim() for change in ranked(8) if (made := change(flat)) is not None) == 8


def test_a_size_of_zero_is_a_size():
    shapes = [
        made.shape for change in resized(0, 5) if (made := change(torch.empty(1, 0))) is not None
    ]
    assert shapes == [(1, 5)]


class Layered(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.head = nn.Linear(8, 4)

    def forward(self, ids):
        return self.head(self.embedding(ids % 30))


class Table(Layered):
    def forward(self, ids):
        return self.head(self.embedding.weight[ids % 30])


@pytest.mark.parametrize("inputs", [None, (torch.arange(12).reshape(3, 4),)])
def test_a_table_that_is_read_at_ids_is_an_embedding(inputs):
    table, layered = (trace(kind(), example_inputs=inputs) for kind in (Table, Layered))
    assert [op.kind for op in table.ops] == ["embedding", "linear"]
    assert table.edges.tolist() == [[0, 1]]
    assert table.fingerprint == layered.fingerprint


def test_a_table_that_is_read_where_a_mask_says_so_is_a_weight():
    model = module(lambda m, x, mask: x * m.w[mask], w=(30,))
    mask = torch.arange(30) % 2 == 0
    graph = trace(model, example_inputs=(torch.randn(15), mask))
    assert [op.kind for op in graph.ops] == ["mul"]
