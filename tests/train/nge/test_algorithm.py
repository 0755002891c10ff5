"""Algorithm 1 on images made up: what learns when, and a search that goes on."""

import pytest
import torch
from nar_plugin.hooks.nas_cells import darts

from nar_plugin.train.nge.algorithm import Schedule, search
from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.images import Images
from nar_plugin.train.nge.mixed_operation import MixedOperation
from nar_plugin.train.nge.supernets import DartsSupernet, Nas201Supernet


def halves(count=8):
    torch.manual_seed(1)
    return tuple(Images(torch.randn(count, 3, 8, 8), torch.randint(10, (count,))) for _ in range(2))


def made(network, **size):
    torch.manual_seed(0)
    supernet = network(**size)
    return supernet, METHODS["nge"](supernet.space)


def test_an_edge_is_the_weighted_sum_of_all_operations():
    torch.manual_seed(0)
    names = ("skip_connect", "max_pool_3x3", "sep_conv_3x3")
    edge = MixedOperation(names, lambda name: darts.operation(name, 4, 1, affine=False), 4).eval()
    image, chances = torch.randn(1, 4, 5, 5), torch.tensor([0.2, 0.3, 0.5])
    pooled = torch.nn.functional.max_pool2d(image, 3, 1, 1) / (1 + 1e-5) ** 0.5  # the fresh norm
    expected = 0.2 * image + 0.3 * pooled + 0.5 * edge.operations[2](image)
    torch.testing.assert_close(edge(image, chances), expected)


@pytest.mark.parametrize(
    ("network", "size"),
    [(Nas201Supernet, {"width": 2}), (DartsSupernet, {"width": 2, "cells": 3})],
)
def test_a_supernet_takes_the_probabilities_of_its_space(network, size):
    supernet, chooser = made(network, **size)
    chances = chooser()
    logits = supernet(torch.randn(2, 3, 8, 8), chances)
    assert logits.shape == (2, 10)
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in supernet.parameters())
    assert all(parameter.grad is not None for parameter in chooser.parameters())


LITTLE = Schedule(epochs=2, batch=4)


def test_a_search_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    whole = made(Nas201Supernet, width=2)
    expected = search(*whole, halves(), LITTLE, 5, tmp_path / "whole.pt")
    assert not torch.equal(expected, made(Nas201Supernet, width=2)[1]())  # it learned

    class Interrupted(Exception):
        pass

    from nar_plugin.train.nge import algorithm

    write, written = algorithm.write_whole, []

    def stops(content, path):
        write(content, path)
        written.append(path)
        if len(written) == 1:
            raise Interrupted

    monkeypatch.setattr(algorithm, "write_whole", stops)
    state = tmp_path / "part.pt"
    with pytest.raises(Interrupted):
        search(*made(Nas201Supernet, width=2), halves(), LITTLE, 5, state)
    again = search(*made(Nas201Supernet, width=2), halves(), LITTLE, 5, state)
    torch.testing.assert_close(again, expected)


def test_weights_and_architecture_take_turns(tmp_path):
    """With a rate of zero for one, it stays, and the other learns."""
    for fixed, learns in (("weight_rate", 1), ("architecture_rate", 0)):
        parts = made(Nas201Supernet, width=2)
        before = [[p.detach().clone() for p in part.parameters()] for part in parts]
        schedule = Schedule(epochs=1, batch=8, **{fixed: 0.0})
        search(*parts, halves(), schedule, 0, tmp_path / f"{fixed}.pt")
        changed = [
            any(not torch.equal(a, b) for a, b in zip(old, part.parameters(), strict=True))
            for old, part in zip(before, parts, strict=True)
        ]
        assert changed == [learns == 0, learns == 1]
