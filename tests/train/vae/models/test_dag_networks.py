"""All graphs in step and only distinct states: the same numbers as one decision at a time."""

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.train.vae.models.by_name import build
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs

KINDS, VERTICES, COUNT = 5, 6, 7


# The reference: one graph, one vertex and one decision at a time, as D-VAE is written.


def told(passes, state, vertex):
    gate, message = (passes.speak(state) + passes.numbers[vertex]).split(passes.hidden)
    return torch.sigmoid(gate) * message


def state_of(passes, inputs, states, read, vertex):
    """The state of a vertex that reads those whose numbers are given, from its definition."""
    heard = torch.zeros(passes.hidden)
    for other in read:
        heard = heard + told(passes, states[other], other)
    return after(passes, inputs, heard, vertex)


def after(passes, inputs, heard, vertex):
    """What the GRU makes of a vertex and what it heard."""
    if passes.numbered:
        inputs = torch.cat([inputs, torch.eye(VERTICES)[vertex]])
    return passes.cell(inputs[None], heard[None])[0]


def encode_one(encoder, types, edges):
    """float32[hidden] of types [v] and edges [v, v]."""
    inputs = [encoder.operations.table[kind] for kind in types]
    ends = []
    for passes, order, links in (
        (encoder.forwards, range(len(types)), edges),
        (encoder.backwards, range(len(types) - 1, -1, -1), edges.T),
    ):
        states = {}
        for vertex in order:
            read = [other for other in states if links[other, vertex]]
            states[vertex] = state_of(passes, inputs[vertex], states, read, vertex)
        ends.append(states[vertex])
    return encoder.unify(torch.cat(ends))


def log_likelihood_of_one(decoder, latent, types, edges):
    """float32[v]: the log-probability of the decisions for each vertex."""
    table, passes = decoder.operations.table, decoder.passes
    start = torch.tanh(decoder.first(latent))
    states = [after(passes, table[types[0]], start, 0)]
    found = [torch.tensor(0.0)]
    for vertex in range(1, len(types)):
        total = torch.log_softmax(decoder.types(states[-1]), 0)[types[vertex]]
        inputs, read = table[types[vertex]], []
        state = state_of(passes, inputs, states, read, vertex)
        for other in range(vertex - 1, -1, -1):
            hidden = decoder.edge_start(states[other]) + decoder.edge_end(state)
            chance = torch.sigmoid(decoder.edge(torch.relu(hidden)))[0]
            total = total + torch.log(chance if edges[other, vertex] else 1 - chance)
            if edges[other, vertex]:
                read.append(other)
                state = state_of(passes, inputs, states, read, vertex)
        states.append(state)
        found.append(total)
    return torch.stack(found)


@pytest.fixture(params=[("D-VAE", False), ("DVAE-EMB", False), ("DVAE-EMB", True)], ids=str)
def network(request):
    model, numbered = request.param
    torch.manual_seed(0)
    return build(model, KINDS, VERTICES, 9, numbered=numbered)


@pytest.fixture
def graphs():
    """Any edges: also vertices that read nothing, or not the vertex before."""
    torch.manual_seed(1)
    types = torch.randint(2, KINDS, (COUNT, VERTICES))
    types[:, 0], types[:, -1] = START, END
    edges = (torch.rand(COUNT, VERTICES, VERTICES) < 0.5).triu(1)
    edges[0, :, 3] = False
    return Graphs(types, edges, KINDS)


def test_the_encoder(network, graphs):
    every = network.encoder(graphs)
    for number in range(COUNT):
        one = encode_one(network.encoder, graphs.types[number], graphs.edges[number])
        torch.testing.assert_close(every[number], one, atol=1e-5, rtol=0)


def test_the_decoder(network, graphs):
    latent = torch.randn(COUNT, 56)
    every = network.decoder.log_likelihood(latent, graphs)
    assert every.shape == (COUNT, VERTICES)
    for number in range(COUNT):
        one = log_likelihood_of_one(
            network.decoder, latent[number], graphs.types[number], graphs.edges[number]
        )
        torch.testing.assert_close(every[number], one, atol=1e-5, rtol=0)
    every.sum().backward()
    assert all(weight.grad is not None for weight in network.decoder.parameters())


def test_only_numbers_tell_apart_vertices_that_read_the_input_alone(network):
    types = torch.tensor([[START, 2, 2, 2, 2, END]])
    edges = torch.zeros(1, VERTICES, VERTICES, dtype=torch.bool)
    edges[:, 0, 1:-1] = True
    seen = []
    network.decoder.types.register_forward_hook(lambda _, inputs, __: seen.extend(inputs))
    network.decoder.log_likelihood(torch.randn(1, 56), Graphs(types, edges, KINDS))
    _, first, second, *_ = seen[0][0]
    assert torch.allclose(first, second) is not network.decoder.passes.numbered


def test_chained_graphs():
    edges = torch.ones(2, 4, 4, dtype=torch.bool).triu(1)
    types = torch.tensor([[START, 2, 2, END]] * 2)
    assert Graphs(types, edges, KINDS).chained
    edges[1, 1, 2] = False
    assert not Graphs(types, edges, KINDS).chained
