"""Cells derived by hand."""

import torch
from nar_plugin.hooks.nas_cells import darts, nasbench201

from nar_plugin.train.nge.cell_space import DARTS
from nar_plugin.train.nge.derivation import darts_genotype, nas201_cell


def test_the_two_strongest_edges_of_each_node_the_stronger_first():
    chances = torch.full((2, 14, 7), 0.1)
    strong = {(0, 2): (3, 0.5), (1, 2): (0, 0.6), (1, 3): (4, 0.7), (2, 3): (1, 0.4)}
    strong |= {(3, 4): (6, 0.9), (0, 4): (2, 0.3), (4, 5): (5, 0.8), (2, 5): (3, 0.81)}
    for number, edge in enumerate(DARTS.edges):
        if edge in strong:
            operation, chance = strong[edge]
            chances[0, number, operation] = chance
    genotype = darts.parsed(darts_genotype(chances))
    assert genotype.normal == [
        ("skip_connect", 1),
        ("sep_conv_3x3", 0),
        ("sep_conv_5x5", 1),
        ("max_pool_3x3", 2),
        ("dil_conv_5x5", 3),
        ("avg_pool_3x3", 0),
        ("sep_conv_3x3", 2),
        ("dil_conv_3x3", 4),
    ]
    assert [source for _, source in genotype.reduce] == [0, 1] * 4  # all alike: the first two
    assert list(genotype.normal_concat) == [2, 3, 4, 5]


def test_the_strongest_operation_of_each_edge():
    chances = torch.eye(4)[[0, 1, 2, 3, 2, 1]][None]
    assert nasbench201.parsed(nas201_cell(chances)) == (
        "skip_connect",
        "nor_conv_1x1",
        "nor_conv_3x3",
        "avg_pool_3x3",
        "nor_conv_3x3",
        "nor_conv_1x1",
    )
