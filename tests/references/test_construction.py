import random
import resource

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.references.construction import built


def draws():
    return random.random(), torch.rand(1).item(), np.random.rand()


def test_built_on_the_meta_device():
    assert built(lambda: nn.Linear(10**6, 10**6)).weight.is_meta


def test_the_callers_random_numbers_go_on_as_if_nothing_happened():
    def seed():
        random.seed(1)
        torch.manual_seed(1)
        np.random.seed(1)

    seed()
    expected = draws()
    seed()
    inside = [built(lambda: (random.random(), np.random.rand())) for _ in range(2)]
    assert draws() == expected
    assert inside[0] == inside[1]


def test_a_constructor_that_reads_values_allocates_no_weight():
    def make():
        rates = torch.linspace(0, 1, 2).tolist()
        model = nn.Sequential(*[nn.Linear(16_000, 16_000) for _ in rates])
        for layer in model:
            nn.init.trunc_normal_(layer.weight)
        return model

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert built(make)[0].weight.is_meta
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 16_000 * 16_000 * 4 / 10
    assert not nn.Linear(2, 2).weight.is_meta


def test_tied_parameters_stay_tied():
    def make():
        torch.ones(1).item()
        model, weight = (
            nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)),
            nn.Parameter(torch.ones(2, 2)),
        )
        model[0].weight = model[1].weight = weight
        return model

    model = built(make)
    assert model[0].weight is model[1].weight
    assert len(list(model.parameters())) == 3


def test_an_error_of_the_constructor_is_raised_as_it_is():
    def make():
        raise RuntimeError("the width must be even")

    with pytest.raises(RuntimeError, match="the width must be even"):
        built(make)
