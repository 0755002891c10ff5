"""Wrappers that hand on what they are given: the graph is that of the model inside."""

from dataclasses import dataclass

import pytest
import torch
from nar_plugin.hooks import torch as plugin
from torch import Tensor, nn

from nar_plugin import trace


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model


class Keywords(Wrapper):
    def forward(self, **inputs):
        return self.model(**inputs)


class Arguments(Wrapper):
    def forward(self, *args):
        return self.model(*args)


class Both(Wrapper):
    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)


class Spread(Wrapper):
    def forward(self, x):
        return self.model(**x)


class Batch(Wrapper):
    def forward(self, batch: dict[str, Tensor]):
        return self.model(**{name: value.to("cpu") for name, value in batch.items()})


class Passed(Wrapper):
    def forward(self, batch):
        return self.model(batch)


class Optional(Wrapper):
    def forward(self, return_loss=False, **inputs):
        assert not return_loss
        return self.model(**inputs)


class Loss(nn.Module):
    """A loss with a few weights beside the model."""

    def __init__(self, model):
        super().__init__()
        self.loss = nn.CrossEntropyLoss()
        self.scale = nn.Linear(2, 2)
        self.parts = nn.ModuleDict({"bert": model})

    def forward(self, **inputs):
        labels = inputs.pop("labels", None)
        output = self.parts["bert"](**inputs)
        return output if labels is None else self.loss(output.pooler_output, labels)


@dataclass
class Sentence:
    words: Tensor
    chars: Tensor


class Fields(Wrapper):
    def forward(self, batch: Sentence):
        return self.model(batch.words, batch.chars)


class Tables(nn.Module):
    """Needs two inputs, with names that say nothing."""

    def __init__(self):
        super().__init__()
        self.words, self.chars = nn.Embedding(50, 16), nn.Embedding(9, 16)

    def forward(self, words, chars):
        return self.words(words.long()) + self.chars(chars.long())


def bert():
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 32, "intermediate_size": 64, "vocab_size": 99}
    return BertModel(BertConfig(**sizes, num_hidden_layers=2, num_attention_heads=2))


def t5():
    from transformers import T5Config, T5Model

    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "vocab_size": 99}
    return T5Model(T5Config(**sizes, num_layers=2, num_heads=2))


def resnet():
    from torchvision.models import resnet18

    return resnet18()


def vit():
    import timm

    return timm.create_model("vit_tiny_patch16_224", depth=2)


def perceptron():
    return nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))


LIBRARIES = {bert: "transformers", t5: "transformers", resnet: "torchvision", vit: "timm"}


@pytest.mark.parametrize("wrapper", [Keywords, Arguments, Both, Spread, Batch, Optional])
@pytest.mark.parametrize("build", [bert, t5, resnet, vit, perceptron])
def test_a_wrapper_is_followed_like_the_model_inside(wrapper, build):
    if build in LIBRARIES:
        pytest.importorskip(LIBRARIES[build])
    model = build()
    graph = trace(wrapper(model))
    assert graph.method == "meta"
    assert graph.fingerprint == trace(model).fingerprint


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: Keywords(Keywords(model)),
        lambda model: Batch(Keywords(model)),
        lambda model: Passed(Batch(model)),
        lambda model: Passed(Passed(Spread(model))),
        lambda model: Keywords(Both(model)),
        Loss,
    ],
)
def test_nested_wrappers_and_a_loss_beside_the_model_are_followed(wrap):
    pytest.importorskip("transformers")
    model = bert()
    graph = trace(wrap(model))
    assert graph.method == "meta"
    assert graph.fingerprint == trace(model).fingerprint


@pytest.mark.parametrize("wrapper", [Keywords, Fields])
def test_the_part_of_a_wrapper_may_be_nobodys(wrapper):
    graph = trace(wrapper(Tables()))
    assert graph.method == "meta"
    assert [op.kind for op in graph.ops] == ["embedding", "embedding", "add"]


class Hopeless(Wrapper):
    def forward(self, **inputs):
        raise RuntimeError("not to be had")


class HopelessBatch(Wrapper):
    def forward(self, batch):
        raise RuntimeError("not to be had")


@pytest.mark.parametrize("wrapper", [Hopeless, HopelessBatch])
def test_a_wrapper_that_hands_nothing_on_is_read_by_its_modules(wrapper):
    graph = trace(wrapper(perceptron()))
    assert graph.method == "modules"
    assert "no inputs could be found" in graph.reason


def test_two_parts_of_one_size_are_no_lone_part():
    class Towers(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = perceptron(), perceptron()

        def forward(self, **inputs):
            return self.one(**inputs)

    assert all(not guess.kwargs for guess in plugin.nar_example_inputs(Towers()))


def test_a_forward_that_names_its_arguments_is_asked_for_those_alone():
    class Named(Wrapper):
        def forward(self, x: Tensor, mask: Tensor | None = None):
            return self.model(x)

    assert len(plugin.nar_example_inputs(Named(perceptron()))) <= 12
    assert torch.is_tensor(plugin.nar_example_inputs(Named(perceptron()))[0].args[0])
