"""Repeats in small graphs whose blocks are known, and in large ones."""

import time

import numpy as np
import pytest

from nar_plugin.mining import Repeat, mine, repeated_blocks
from nar_plugin.mining.halves import whole
from nar_plugin.tracing.graph import ArchitectureGraph, Op


class Net:
    """Writes a graph down by hand: each call adds an operation and returns its number."""

    def __init__(self):
        self.ops, self.edges = [], []

    def __call__(self, kind, *inputs, **attributes):
        self.ops.append(Op(kind, tuple(sorted(attributes.items()))))
        self.edges += [(source, len(self.ops) - 1) for source in inputs]
        return len(self.ops) - 1

    @property
    def graph(self):
        edges = np.array(self.edges, dtype=np.int32).reshape(-1, 2)
        return ArchitectureGraph(tuple(self.ops), edges, ("",) * len(self.ops))


def attention(net, x, memory=None):
    """Seven operations, pre-norm."""
    normed = net("layer_norm", x)
    source = normed if memory is None else memory
    query, key, value = net("linear", normed), net("linear", source), net("linear", source)
    return net("add", x, net("linear", net("attention", query, key, value)))


def mlp(net, x, activation="gelu"):
    """Five operations, pre-norm."""
    return net("add", x, net("linear", net(activation, net("linear", net("layer_norm", x)))))


def conv_norm(net, x, **attributes):
    return net("batch_norm", net("conv", x, **attributes))


def bottleneck(net, x, project):
    """Ten operations, and two of a projection."""
    inner = net("relu", conv_norm(net, x, kernel="1x1"))
    inner = conv_norm(net, net("relu", conv_norm(net, inner, kernel="3x3")), kernel="1x1")
    skip = conv_norm(net, x, kernel="1x1") if project else x
    return net("relu", net("add", inner, skip))


def found(net):
    return [(repeat.starts, repeat.stop) for repeat in repeated_blocks(net.graph)]


def test_transformer_layers_between_embedding_and_head():
    net = Net()
    x = net("embedding")
    for _ in range(6):
        x = mlp(net, attention(net, x))
    net("linear", net("layer_norm", x))
    assert found(net) == [((1, 13, 25, 37, 49, 61), 73)]


def test_a_bottleneck_with_a_projection_is_a_bottleneck():
    # 12, 10, 10 operations in each of two stages, behind a stem of four
    net = Net()
    x = net("max_pool", net("relu", conv_norm(net, net("image"), kernel="7x7")))
    for _ in range(2):
        for number in range(3):
            x = bottleneck(net, x, project=number == 0)
    net("linear", net("mean", x))
    assert found(net) == [((5, 17, 27, 37, 49, 59), 69)]


def test_encoder_and_decoder():
    net = Net()
    x = net("embedding")
    for _ in range(4):
        x = mlp(net, attention(net, x))
    memory = net("layer_norm", x)
    y = net("layer_norm", net("conv", net("embedding"), kernel="3"))
    for _ in range(4):
        y = mlp(net, attention(net, attention(net, y), memory))
    net("linear", y)
    starts = [start for repeat in repeated_blocks(net.graph) for start in repeat.starts]
    assert starts == [1, 13, 25, 37, 53, 72, 91, 110]
    # what lies between the two, at 49 to 53, is no part of a layer
    assert [row.count for row in mine(net.graph).table()[:2]] == [4, 4]


def test_layers_of_two_kinds_in_turn_are_layers():
    # every other activation differs: six layers, not three pairs
    net = Net()
    x = net("embedding")
    for number in range(6):
        x = mlp(net, attention(net, x), "gelu" if number % 2 else "relu")
    net("linear", x)
    assert found(net) == [((1, 13, 25, 37, 49, 61), 73)]


def experts(net, x):
    """Twenty-six operations, pre-norm: a router, and five experts of four."""
    normed = net("layer_norm", x)
    gates = net("topk", net("softmax", net("linear", normed)))
    parts = [net("mul", mlp_inside(net, normed), gates) for _ in range(5)]
    return net("add", x, net("sum", *parts))


def mlp_inside(net, x):
    return net("linear", net("gelu", net("linear", x)))


def test_a_dense_layer_before_layers_of_experts_is_a_layer():
    net = Net()
    x = net("embedding")
    x = mlp(net, attention(net, x))  # 12 operations; the layers of experts have 33
    for _ in range(5):
        x = experts(net, attention(net, x))
    net("linear", x)
    assert found(net) == [((1, 13, 46, 79, 112, 145), 178)]


def linear_attention(net, x):
    """Eight operations, pre-norm."""
    normed = net("layer_norm", x)
    query, key, value = net("linear", normed), net("linear", normed), net("linear", normed)
    state = net("matmul", net("elu", key), value)
    return net("add", x, net("linear", net("matmul", query, state)))


def post_norm_layer(net, x):
    """Twelve operations, as in OLMo: each half is normed where it ends."""
    query, key, value = net("linear", x), net("linear", x), net("linear", x)
    mixed = net("linear", net("attention", query, key, value))
    x = net("add", x, net("layer_norm", mixed))
    return net("add", x, net("layer_norm", mlp_inside(net, x)))


def test_layers_of_another_kind_among_others_are_layers():
    # three layers of 14 operations and one of 12, three times
    net = Net()
    x = net("embedding")
    for _ in range(3):
        for _ in range(3):
            x = mlp(net, linear_attention(net, x))
        x = post_norm_layer(net, x)
    net("softmax", net("linear", net("rms_norm", x)))
    starts = [1 + 54 * turn + 14 * number for turn in range(3) for number in range(4)]
    assert found(net) == [(tuple(starts), 163)]
    assert [row.count for row in mine(net.graph).table()[:2]] == [9, 3]


def test_what_lies_between_two_stages_is_no_layer():
    # a norm, a convolution and one residual sum after every third layer
    net = Net()
    x = net("embedding")
    for _ in range(3):
        for _ in range(3):
            x = mlp(net, attention(net, x))
        x = net("add", x, net("conv", net("batch_norm", x), kernel="2x2"))
    net("linear", x)
    ((starts, _),) = found(net)
    assert len(starts) == 9


def test_a_chain_in_which_nothing_repeats():
    net = Net()
    x = net("image")
    for number in range(40):
        x = net("conv", x, kernel=f"{number}x{number}")
    assert found(net) == []


def transformer(layers):
    net = Net()
    x = net("embedding")
    for _ in range(layers):
        x = mlp(net, attention(net, x))
    net("linear", x)
    return net.graph


@pytest.mark.perf
def test_fifty_thousand_operations_in_seconds():
    graph = transformer(4166)
    seconds = []
    for _ in range(3):  # of the processor, when other programs leave it its cache
        started = time.process_time()
        macro = mine(graph)
        seconds.append(time.process_time() - started)
    assert min(seconds) < 2
    assert len(graph) == 49_994
    assert macro.table()[0].count == 4166


@pytest.mark.perf
def test_time_grows_with_the_operations():
    def seconds(graph):
        started = time.process_time()
        mine(graph)
        return time.process_time() - started

    small, large = transformer(250), transformer(2000)
    # eight times the operations; a quadratic method takes 64 times as long
    assert min(seconds(large) for _ in range(3)) < 24 * min(seconds(small) for _ in range(3))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_tiny_graphs(count):
    net = Net()
    for _ in range(count):
        net("relu")
    assert found(net) == []


def two_streams(net, text, image):
    """A block of a half for each stream, 12 operations each; they meet in one attention."""
    one, other = net("layer_norm", text), net("layer_norm", image)
    parts = [net("linear", source) for source in (one, other) for _ in range(3)]
    query, key, value = (net("cat", parts[place], parts[place + 3]) for place in range(3))
    mixed = net("attention", query, key, value)
    return tuple(mlp(net, net("add", x, net("linear", mixed))) for x in (text, image))


def test_a_block_of_two_streams_is_one_block():
    net = Net()
    text, image = net("embedding"), net("conv", kernel="2x2")
    for _ in range(8):
        text, image = two_streams(net, text, image)
    net("linear", net("cat", text, image))
    # Twenty-six operations a block, wherever it begins; the first and the last are cut elsewhere.
    (starts, _), *_ = found(net)
    assert set(np.diff(starts[1:-1])) == {26}
    assert len(starts) in (7, 8)


def test_every_other_border_that_is_wider_lies_inside_a_block():
    repeat = Repeat((0, 5, 10, 15, 20, 25, 30, 35), 40)
    values = np.ones(41, dtype=np.int32)
    assert whole(repeat, values) == repeat
    values[[5, 15, 25, 35]] = 2
    assert whole(repeat, values) == Repeat((0, 10, 20, 30), 40)
    values[[5, 15, 25, 35]] = 0
    assert whole(repeat, values) == Repeat((5, 15, 25, 35), 40)
    values[15] = 1  # one border that is like the others
    assert whole(repeat, values) == repeat
