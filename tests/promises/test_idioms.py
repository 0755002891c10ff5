"""A question changes nothing that the user's forward can see: run for real before and after."""

import pytest
import torch
from idioms import IDIOMS
from process import meta_tensors, modes, no_child_is_left, put_back, random_numbers, seed

from nar_plugin import api
from nar_plugin.errors import NarError

RUNS = 3
FAST = (
    "lru_cached_mask_like_the_input",
    "class_attribute_that_is_made_once",
    "mutable_default",
    "simple_namespace",
    "slots_dataclass",
    "iterator_that_is_given",
    "numpy_array_that_is_given",
    "global_seed",
)


def ask(model, inputs):
    try:
        api.find_similar(model, 1, example_inputs=inputs)
    except NarError:
        pass  # nor does one that fails


def observed(make, question_before_run):
    """The outputs of some runs with the same seeds, and the random numbers that come next."""
    with put_back():
        seed(0)
        model, inputs = make()
        out = []
        for number in range(RUNS):
            if number == question_before_run:
                before, metas = modes(), len(meta_tensors())
                ask(model, inputs)
                assert modes() == before
                assert len(meta_tensors()) == metas
            out.append(model(*inputs).detach().clone())
        return out, random_numbers()


def check(name):
    expected, numbers = observed(IDIOMS[name], None)
    for question_before_run in (0, 1):  # with caches empty, and with them filled
        out, then = observed(IDIOMS[name], question_before_run)
        assert all(torch.equal(a, b) for a, b in zip(expected, out, strict=True))
        assert then == numbers
    assert no_child_is_left()


@pytest.mark.parametrize("name", FAST)
def test_nothing_beside_the_model_is_written(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IDIOMS if name not in FAST])
def test_nothing_beside_the_model_is_written_in_any_idiom(name):
    check(name)


def test_there_are_forty():
    assert len(IDIOMS) >= 40
