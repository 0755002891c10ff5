"""The module against Eq. 5 to 10 written out in numpy, on a cell of three nodes and two kinds."""

import numpy as np
import pytest
import torch

from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.cell_space import DARTS, NAS201, CellSpace
from nar_plugin.train.nge.embedding import NeuralGraphEmbedding, adjacency

TINY = CellSpace(nodes=3, inputs=1, operations=("a", "b"), kinds=("one", "other"))
# Worked by hand. Printed, nodes 1 to 3: row 2 has 1 / 3 of node 3, rows 1 and 3 have nothing.
BY_HAND = {
    "printed": [[0, 0, 0], [0, 0, 1 / 3], [0, 0, 0]],
    "mean": [[0, 0, 0], [1, 0, 0], [1 / 2, 1 / 2, 0]],
}


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize("mixing", ["printed", "mean"])
def test_equations_5_to_10(mixing):
    torch.manual_seed(0)
    module = NeuralGraphEmbedding(TINY, mixing).double()
    with torch.no_grad():
        module.nodes.add_(torch.randn_like(module.nodes))  # no longer one-hot
    weight = {name: value.detach().numpy() for name, value in module.named_parameters()}
    mix = np.array(BY_HAND[mixing]) + np.eye(3)
    found = module().detach().numpy()
    assert found.shape == (2, 3, 2)
    for kind in range(2):
        h = weight["nodes"][kind]
        for number in range(3):
            h = relu(mix @ h @ weight[f"convolutions.{number}.weight"].T)
        for edge, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            e = np.concatenate([h[i], h[j]])
            for name in ("first", "second"):
                e = relu(weight[f"edges.{name}.weight"] @ e)
            logits = weight["edges.operations.weight"] @ e
            expected = np.exp(logits) / np.exp(logits).sum()
            # A is kept as float32: 1 / 3 is exact to 1e-8 alone.
            np.testing.assert_allclose(found[kind, edge], expected, atol=1e-6)


def test_the_sizes_that_the_paper_states():
    assert (DARTS.nodes, len(DARTS.edges), len(DARTS.operations)) == (6, 14, 7)
    widths = [tuple(c.weight.shape[::-1]) for c in METHODS["nge"](DARTS).convolutions]
    assert widths == [(64, 128), (128, 128), (128, 64)]
    assert not any("bias" in name for name, _ in METHODS["nge"](DARTS).named_parameters())
    assert adjacency(DARTS, "mean")[5].tolist() == pytest.approx([0.2] * 5 + [0])
    assert adjacency(DARTS, "printed")[1].tolist() == pytest.approx([0, 0] + [1 / 3] * 4)


@pytest.mark.parametrize(("name", "space"), [(name, DARTS) for name in METHODS] + [("nge", NAS201)])
def test_every_method_gives_probabilities_and_learns(name, space):
    torch.manual_seed(0)
    method = METHODS[name](space)
    found = method()
    assert found.shape == (len(space.kinds), len(space.edges), len(space.operations))
    torch.testing.assert_close(found.sum(-1), torch.ones(found.shape[:2]))
    assert found.min() > 0.5 / len(space.operations)  # nothing is decided at first
    rate = 0.2 if name == "baseline" else 0.01
    optimiser = torch.optim.Adam(method.parameters(), lr=rate)
    losses = []
    for _ in range(30):  # towards the first operation on even edges, the last on odd ones
        wanted = [0 if edge % 2 else -1 for edge in range(len(space.edges))]
        found = method()
        loss = -torch.log(torch.stack([found[:, e, o] for e, o in enumerate(wanted)])).mean()
        losses.append(float(loss))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert losses[-1] < losses[0] / 1.5


def test_nodes_see_each_other_in_the_graph_and_the_sequence_alone():
    """What Table 4 is about: the first edge's operations depend on the last node, or do not."""
    for name, sees in [("plain", False), ("rnn", False), ("nge", True), ("nge-mean", False)]:
        torch.manual_seed(0)
        method = METHODS[name](DARTS)
        method()[0, 0, 0].backward()  # edge 0 -> 2
        assert bool(method.nodes.grad[0, 5].abs().sum() > 0) == sees, name
    for name, sees in [("plain", False), ("rnn", True), ("nge", False), ("nge-mean", True)]:
        torch.manual_seed(0)
        method = METHODS[name](DARTS)
        method()[0, -1, 0].backward()  # edge 4 -> 5
        assert bool(method.nodes.grad[0, 1].abs().sum() > 0) == sees, name


def test_the_recurrent_layers_are_those_of_torch():
    torch.manual_seed(0)
    method = METHODS["rnn"](DARTS)
    layers = torch.nn.RNN(64, 64, num_layers=2, bias=False, batch_first=True)
    for number, cell in enumerate(method.recurrent):
        own, before = cell.weight.data.split(64, dim=1)
        getattr(layers, f"weight_ih_l{number}").data = own
        getattr(layers, f"weight_hh_l{number}").data = before
    torch.testing.assert_close(method(), method.edges(layers(method.nodes)[0]))
