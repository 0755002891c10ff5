"""All graphs in step and only distinct states: the same numbers as one decision at a time."""

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.train.vae.graphs import END, START, Graphs
from nar_plugin.train.vae.models import build

KINDS, VERTICES, COUNT = 5, 6, 7


# The reference: one graph, one vertex and one decision at a time, as D-VAE is written.


def told(passes, state, vertex):
    gate, message = (passes.speak(state) + passes.numbers[vertex]).split(passes.hidden)
    return torch.sigmoid(gate) * message


def state_of(passes, inputs, states, read):
    """The state of a vertex that reads those whose numbers are given, from its definition."""
    heard = torch.zeros(passes.hidden)
    for vertex in read:
        heard = heard + told(passes, states[vertex], vertex)
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
            states[vertex] = state_of(passes, inputs[vertex], states, read)
        ends.append(states[vertex])
    return encoder.unify(torch.cat(ends))


def log_likelihood_of_one(decoder, latent, types, edges):
    """float32[v]: the log-probability of the decisions for each vertex."""
    table, passes = decoder.operations.table, decoder.passes
    start = torch.tanh(decoder.first(latent))
    states = [passes.cell(table[types[0]][None], start[None])[0]]
    found = [torch.tensor(0.0)]
    for vertex in range(1, len(types)):
        total = torch.log_softmax(decoder.types(states[-1]), 0)[types[vertex]]
        inputs, read = table[types[vertex]], []
        state = state_of(passes, inputs, states, read)
        for other in range(vertex - 1, -1, -1):
            hidden = decoder.edge_start(states[other]) + decoder.edge_end(state)
            chance = torch.sigmoid(decoder.edge(torch.relu(hidden)))[0]
            total = total + torch.log(chance if edges[other, vertex] else 1 - chance)
            if edges[other, vertex]:
                read.append(other)
                state = state_of(passes, inputs, states, read)
        states.append(state)
        found.append(total)
    return torch.stack(found)


@pytest.fixture(params=["D-VAE", "DVAE-EMB"])
def network(request):
    torch.manual_seed(0)
    return build(request.param, KINDS, VERTICES, 9)


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
