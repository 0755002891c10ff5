"""What is written into a tensor, or into a part of it, is what the tensor then holds."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace

X = torch.ones(1, 6, 8)


class Layers(nn.Module):
    """Three linear layers, and a forward that uses them."""

    def __init__(self, run):
        super().__init__()
        self.a, self.b, self.o = (nn.Linear(8, 8) for _ in range(3))
        self.narrow = nn.Linear(4, 8)
        self.run = run

    def forward(self, x):
        return self.run(self, x)


def graph(run, x=X):
    return trace(Layers(run), x)


def after(write):
    """The last layer on what the first makes, once `write` has run on it and the second's."""

    def run(m, x):
        y = m.a(x)
        returned = write(y, m.b(x))
        return m.o(y if returned is None else returned)

    return graph(run)


def kinds(found):
    return [op.kind for op in found.ops]


def assigned(y, where, value):
    y[where] = value
    return y


def in_place(change):
    """A write that returns nothing."""

    def write(y, z):
        change(y, z)

    return write


FIRST, MIDDLE = (..., slice(4)), (..., slice(2, 4))


def both_ends(y, z):
    """As detection heads turn the numbers of a box into places and sizes."""
    y[..., 0:2].sigmoid_()
    y[..., 4:].exp_()


def a_part_of_a_part(y, z):
    y[..., :6][..., 2:4].mul_(z[MIDDLE])


ALIKE = {
    "activation of a part": (
        ["linear", "sigmoid", "cat", "linear"],
        lambda y, z: torch.cat([y[FIRST].sigmoid(), y[..., 4:]], -1),
        in_place(lambda y, z: y[FIRST].sigmoid_()),
        in_place(lambda y, z: y[FIRST].mul_(2).sigmoid_()),
        lambda y, z: assigned(y, FIRST, y[FIRST].sigmoid()),
        in_place(lambda y, z: torch.sigmoid(y[FIRST], out=y[FIRST])),
        lambda y, z: torch.slice_scatter(y, y[FIRST].sigmoid(), 2, 0, 4),
    ),
    "sum in a part": (
        ["linear", "linear", "add", "cat", "linear"],
        lambda y, z: torch.cat([y[FIRST] + z[FIRST], y[..., 4:]], -1),
        in_place(lambda y, z: y[FIRST].add_(z[FIRST])),
        lambda y, z: assigned(y, FIRST, y[FIRST] + z[FIRST]),
    ),
    "product in the middle": (
        ["linear", "mul", "cat", "linear"],  # two linear layers of one input are one
        lambda y, z: torch.cat([y[..., :2], y[MIDDLE] * z[MIDDLE], y[..., 4:]], -1),
        in_place(lambda y, z: y[MIDDLE].mul_(z[MIDDLE])),
        in_place(a_part_of_a_part),
    ),
    "two parts": (
        ["linear", "sigmoid", "exp", "cat", "linear"],
        lambda y, z: torch.cat([y[..., :2].sigmoid(), y[..., 2:4], y[..., 4:].exp()], -1),
        in_place(both_ends),
    ),
    "one row": (
        ["linear", "linear", "cat", "linear"],
        lambda y, z: torch.cat([z[:, :1], y[:, 1:]], 1),
        lambda y, z: assigned(y, (slice(None), 0), z[:, 0]),
        lambda y, z: torch.select_scatter(y, z[:, 0], 1, 0),
        in_place(lambda y, z: y[:, :1].copy_(z[:, :1])),
    ),
    "a number times a part": (
        ["linear", "linear"],
        lambda y, z: torch.cat([y[FIRST] * 2, y[..., 4:]], -1),
        in_place(lambda y, z: y[FIRST].mul_(2)),
        lambda y, z: assigned(y, FIRST, y[FIRST] * 2),
    ),
    "all of it": (
        ["linear", "linear", "add", "linear"],
        lambda y, z: y + z,
        in_place(lambda y, z: y.add_(z)),
        in_place(lambda y, z: y.view(6, 8)[:].add_(z.view(6, 8))),
        lambda y, z: torch.add(y, z, out=torch.empty(1, 6, 8)),
        lambda y, z: torch.add(y, z, out=torch.empty(0)),
    ),
    "a copy of it": (
        ["linear", "relu", "linear"],
        lambda y, z: z.relu(),
        in_place(lambda y, z: y.copy_(z.relu())),
        lambda y, z: torch.ops.aten.copy(y, z.relu()),
        lambda y, z: torch.clamp(z, min=0, out=torch.empty(1, 6, 8)),
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_spellings_of_a_write_are_one(name):
    expected, *writes = ALIKE[name]
    found = [after(write) for write in writes]
    assert sorted(kinds(found[0])) == sorted(expected)
    assert len({item.fingerprint for item in found}) == 1


def test_other_writes_are_others():
    found = [after(writes[0]).fingerprint for _, *writes in ALIKE.values()]
    found += [after(lambda y, z: y.sigmoid()).fingerprint]
    found += [after(in_place(lambda y, z: y[..., 4:].sigmoid_())).fingerprint]
    assert len(set(found)) == len(found)


def test_the_part_itself_is_what_was_computed():
    def changed(m, x):
        part = m.a(x)[FIRST]
        part.sigmoid_()
        return m.narrow(part)

    def other_half(m, x):
        part, rest = m.a(x).chunk(2, -1)
        part.sigmoid_()
        return m.narrow(rest)

    assert kinds(graph(changed)) == ["linear", "sigmoid", "linear"]
    assert kinds(graph(other_half)) == ["linear", "linear"]


@pytest.mark.parametrize("buffer", [torch.zeros, torch.ones])
def test_a_part_of_a_constant_is_what_was_written(buffer):
    def parts(m, x):
        y = buffer(1, 6, 8)
        y[:, :3] = m.a(x[:, :3])
        y[:, 3:] = m.b(x[:, 3:]).relu()
        return m.o(y)

    joined = graph(lambda m, x: m.o(torch.cat([m.a(x[:, :3]), m.b(x[:, 3:]).relu()], 1)))
    assert graph(parts).fingerprint == joined.fingerprint


def test_a_loop_that_writes_rows_is_as_long_as_one_that_is_shorter():
    def run(m, x):
        y, state = m.a(x), m.a(x).mean(1)
        for step in range(x.shape[1]):
            state = torch.tanh(m.b(x[:, step]) + state)
            y[:, step] = state
        return m.o(y)

    def added(m, x):
        y = m.a(x)
        for step in range(x.shape[1]):
            y[:, step] += m.b(x[:, step])
        return m.o(y)

    for forward in (run, added):
        short, long = (graph(forward, torch.ones(1, steps, 8)) for steps in (6, 11))
        assert short.fingerprint == long.fingerprint


@pytest.mark.parametrize(
    ("empty", "value"),
    [
        (torch.zero_, 0.0),
        (lambda y: y.fill_(1.0), 1.0),
        (lambda y: y.copy_(torch.tensor(3.0)), 3.0),
    ],
)
def test_a_tensor_that_is_filled_holds_a_constant(empty, value):
    """Of the layer that made it before, nothing is left; half of it may be."""
    for use in (torch.add, torch.mul):

        def filled(y, z, use=use):
            empty(y)
            return use(y, z)

        found = after(filled)
        assert kinds(found).count("linear") == 2
        constant = after(lambda y, z, use=use: use(torch.full((1, 6, 8), value), z))
        assert found.fingerprint == constant.fingerprint

    def then_in_place(y, z):
        empty(y)
        y += z

    def half(y, z):
        empty(y[FIRST])
        y += z

    kept = after(then_in_place)
    constant = after(lambda y, z: torch.full((1, 6, 8), value) + z)
    assert kept.fingerprint == constant.fingerprint
    assert kinds(after(half)).count("linear") == 3


def test_a_parameter_that_is_filled_is_learned_still():
    def started(m, x):
        m.a.weight.data.normal_()
        return m.a(x)

    assert graph(started).fingerprint == graph(lambda m, x: m.a(x)).fingerprint


def test_results_go_where_out_says():
    def product(m, x):
        buffer = torch.empty(6, 8)
        torch.matmul(m.a(x)[0], m.b.weight.t(), out=buffer)
        return m.o(buffer)

    def joined(m, x):
        buffer = torch.empty(0)
        torch.cat([m.a(x), x], 1, out=buffer)
        assert buffer.shape == (1, 12, 8)
        return m.o(buffer)

    def largest(m, x):
        values, places = torch.empty(1, 6), torch.empty(1, 6, dtype=torch.int64)
        torch.max(m.a(x), -1, out=(values, places))
        return m.o(x * values[..., None])

    plain = graph(lambda m, x: m.o(m.a(x)[0] @ m.b.weight.t()))
    assert graph(product).fingerprint == plain.fingerprint
    assert kinds(plain) == ["linear", "linear", "linear"]
    plain = graph(lambda m, x: m.o(torch.cat([m.a(x), x], 1)))
    assert graph(joined).fingerprint == plain.fingerprint
    plain = graph(lambda m, x: m.o(x * m.a(x).max(-1).values[..., None]))
    assert graph(largest).fingerprint == plain.fingerprint


@pytest.mark.parametrize("place", [0, slice(2), slice(3, 5)])
def test_an_exported_assignment_is_the_assignment(place):
    def run(m, x):
        y = m.a(x).clone()
        y[:, place] = F.relu(m.b(x[:, place]))
        return m.o(y)

    model = Layers(run).eval()
    program = torch.export.export(model, (X,)).run_decompositions({})
    assert trace(program.module(), X).fingerprint == trace(model, X).fingerprint
