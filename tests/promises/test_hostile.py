"""A model that answers odd questions with errors is answered for, or refused in plain words."""

import pytest
import torch
from hostile import (
    ANSWERED,
    REFUSED,
    UNFOLLOWED,
    Exiting,
    NoClass,
    Plain,
    Raising,
    Unhashable,
    inputs,
)
from torch import nn

import nar_plugin
from nar_plugin import NarError, TraceError


@pytest.fixture(scope="module")
def plain():
    return nar_plugin.trace(Plain()).fingerprint


@pytest.mark.parametrize("kind", ANSWERED)
@pytest.mark.parametrize("given", [False, True], ids=["guessed", "given"])
def test_what_is_odd_about_it_changes_nothing(kind, given, plain, caplog):
    model = ANSWERED[kind]()
    graph = nar_plugin.trace(model, example_inputs=inputs() if given else None)
    assert (graph.method, graph.fingerprint) == ("meta", plain)
    assert not caplog.records  # no plugin is blamed


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_followed_is_said(kind):
    with pytest.raises(TraceError) as caught:
        nar_plugin.find_similar(REFUSED[kind]())
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("kind", UNFOLLOWED)
def test_a_forward_that_only_raises_is_answered_by_its_layers(kind):
    similar = nar_plugin.find_similar(UNFOLLOWED[kind](), k=1)
    assert similar.query.method == "modules"
    assert similar.notes


def test_an_interrupt_is_the_user_s_own():
    class Interrupted(Plain):
        @property
        def example_input_array(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nar_plugin.trace(Interrupted())


def test_equality_that_raises():
    try:
        nar_plugin.trace(Unhashable())
    except NarError as error:
        assert "Unhashable" in str(error)


@pytest.mark.parametrize("kind", [Raising, Exiting, NoClass, object, int, dict])
def test_what_is_no_model_is_named(kind):
    for ask in (nar_plugin.find_similar, nar_plugin.trace, nar_plugin.motifs, nar_plugin.embed):
        with pytest.raises(NarError, match=rf"{ask.__name__} wants a torch\.nn\.Module"):
            ask(kind())


# Lazy layers


class Lazy(nn.Module):
    """One layer is called twice, and whole numbers steer it."""

    def __init__(self, lazy=True):
        super().__init__()
        self.conv = nn.LazyConv2d(4, 3) if lazy else nn.Conv2d(3, 4, 3)
        self.norm = nn.LazyBatchNorm2d() if lazy else nn.BatchNorm2d(4)
        self.again = nn.LazyLinear(36) if lazy else nn.Linear(36, 36)
        self.head = nn.LazyLinear(2) if lazy else nn.Linear(144, 2)
        self.register_buffer("times", torch.tensor(2))

    def forward(self, x):
        x = self.norm(self.conv(x)).flatten(2)
        for _ in range(int(self.times)):
            x = self.again(x).relu()
        return self.head(x.flatten(1))


def test_inputs_tell_the_sizes_of_lazy_layers():
    picture = torch.ones(1, 3, 8, 8)
    lazy, sized = Lazy(), Lazy(lazy=False)
    graph = nar_plugin.trace(lazy, example_inputs=picture)
    assert graph.fingerprint == nar_plugin.trace(sized, example_inputs=picture).fingerprint
    assert graph.params == sum(parameter.numel() for parameter in sized.parameters())
    assert nn.parameter.is_lazy(lazy.head.weight)  # the user's is as it was
    assert type(lazy.head) is nn.LazyLinear
    lazy.example_input_array = picture
    assert nar_plugin.trace(lazy).fingerprint == graph.fingerprint


def test_lazy_layers_without_inputs_say_which_and_what_to_do():
    with pytest.raises(TraceError, match=r"conv: LazyConv2d.*head: LazyLinear.*example_inputs="):
        nar_plugin.trace(Lazy())


def test_lazy_layers_with_inputs_that_do_not_fit():
    with pytest.raises(TraceError, match=r"raised RuntimeError.*Run one forward"):
        nar_plugin.trace(Lazy(), example_inputs=torch.ones(3))
