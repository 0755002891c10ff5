"""Arguments that are more than a picture or ids: numbers, lists, columns, states, features."""

from typing import Any

import pytest
import torch
from nar_plugin.hooks import torch as plugin
from nar_plugin.hooks.torch.guess.first_state import first_state
from torch import Tensor, nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


class Decoder(nn.Module):
    """Ids, and the features of a sound that it looks at, as Whisper's."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(50, 32)
        self.q = nn.Linear(32, 32, bias=False)
        self.k = nn.Linear(32, 32, bias=False)

    def forward(self, x: Tensor, xa: Tensor) -> Any:
        return self.q(self.token(x)) @ self.k(xa).mT


class Fine(nn.Module):
    """Several codes for each step, and which of them to predict, as Bark's."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(50, 32) for _ in range(4))
        self.out = nn.Linear(32, 50)

    def forward(self, which, codes):  # type: ignore[no-untyped-def]
        assert which.shape[-1] == 1 if isinstance(which, Tensor) else which > 0
        if which > 5:
            raise ValueError("there are four codes")
        found = [table(codes[:, :, place]) for place, table in enumerate(self.tables)]
        return self.out(torch.stack(found[: which + 1]).sum(0))


class Packed(nn.Module):
    """Sequences one behind another, and their lengths, as in mistral-inference."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(50, 32)

    def forward(self, input_ids: Tensor, lengths: list[int], start: int) -> Any:
        (total,) = input_ids.shape
        assert sum(lengths) == total and type(start) is int
        return self.token(input_ids)[start:]


class Stacked(nn.Module):
    """A state for each of its LSTMs, which have no batch_first."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(50, 16)
        self.rnns = nn.ModuleList([nn.LSTM(16, 32), nn.LSTM(32, 16)])

    def init_hidden(self, samples: int) -> list[Any]:
        self.asked = samples
        weight = next(self.parameters())
        return [(weight.new_zeros(1, samples, rnn.hidden_size),) * 2 for rnn in self.rnns]

    def forward(self, input: Tensor, hidden: Any) -> Any:
        x = self.token(input)
        for rnn, state in zip(self.rnns, hidden, strict=True):
            x, _ = rnn(x, state)
        return x


class Spectrogram(nn.Module):
    """A wave without channels, padded by reflection, as PANNs."""

    def __init__(self) -> None:
        super().__init__()
        self.waves = nn.Conv1d(1, 65, 128, stride=32, bias=False)
        self.out = nn.Conv2d(1, 8, 3)

    def forward(self, input: Tensor) -> Any:
        wave = F.pad(input[:, None, :], (64, 64), mode="reflect")
        return self.out(self.waves(wave)[:, None])


class Columns(nn.Module):
    """Numbers and categories, as rtdl's FT-Transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(8, 32))
        self.tables = nn.ModuleList(nn.Embedding(size, 32) for size in (3, 4, 5))
        self.out = nn.Linear(32, 1)

    def forward(self, x_cont: Tensor, x_cat: Tensor) -> Any:
        assert x_cont.is_floating_point()
        told = [table(x_cat[:, place]) for place, table in enumerate(self.tables)]
        numbers = x_cont[..., None] * self.weight
        return self.out(torch.cat([numbers, torch.stack(told, 1)], 1).mean(1))


class ParallelEmbedding(nn.Module):
    """A table of its own, as DeepSeek's."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(50, 32))

    def forward(self, x: Tensor) -> Any:
        return F.embedding(x, self.weight)


class OwnTable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = ParallelEmbedding()
        self.out = nn.Linear(32, 50)

    def forward(self, tokens: Tensor) -> Any:
        return self.out(self.embed(tokens))


class Listener(nn.Module):
    """Frames of one length, and tokens beside them, as Whisper from its paper."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(40, 32, 3, 1, 1), nn.Conv1d(32, 32, 3, 2, 1)
        self.register_buffer("places", torch.zeros(500, 32))
        self.token, self.steps = nn.Embedding(60, 32), nn.Parameter(torch.zeros(100, 32))

    def forward(self, mel: Tensor, tokens: Tensor) -> Any:
        x = self.conv2(self.conv1(mel).relu()).mT
        assert x.shape[1:] == self.places.shape, "incorrect audio shape"
        return (self.token(tokens) + self.steps[: tokens.shape[1]]) @ (x + self.places).mT


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Listener(), "float32[1, 40, 1000], int64[1, 64]"),
        (Decoder(), "int64[1, 64], float32[1, 64, 32]"),
        (Packed(), "int64[64], [64], 0"),
        (Spectrogram(), "float32[1, 1024]"),
        (Columns(), "float32[1, 8], int64[1, 3]"),
        (OwnTable(), "int64[1, 64]"),
    ],
)
def test_each_argument_is_what_its_forward_means(model: nn.Module, inputs: str) -> None:
    graph = trace(model)
    assert (graph.method, graph.inputs) == ("meta", inputs)


def test_a_number_that_is_compared_is_found() -> None:
    assert trace(Fine()).method == "meta"


def test_a_state_is_the_models_own_and_the_model_is_only_read() -> None:
    model = Stacked()
    graph = trace(model)
    assert graph.method == "meta"
    assert graph.inputs.endswith(
        "[[float32[1, 1, 32], float32[1, 1, 32]], [float32[1, 1, 16], float32[1, 1, 16]]]"
    )
    assert not hasattr(model, "asked")
    assert next(first_state(model))[0][0].is_meta
    assert list(first_state(nn.Linear(2, 2))) == []


def test_ids_come_first_where_a_name_says_so() -> None:
    first, *_ = plugin.nar_example_inputs(OwnTable())
    assert first.args[0].dtype == torch.int64
    assert first.args[0].max() < 50


def test_ids_do_not_pass_for_vectors() -> None:
    """As the other kernels, that of meta refuses whole numbers beside a float weight."""
    from nar_plugin.errors import TraceError

    for layer, ids in ((nn.Linear(4, 4), (1, 4)), (nn.Conv1d(4, 4, 1, bias=False), (1, 4, 4))):
        with pytest.raises(TraceError, match="same dtype"):
            trace(layer, torch.ones(ids, dtype=torch.int64))


def test_ids_that_are_squeezed_in_place_are_still_ids() -> None:
    from nar_plugin.errors import TraceError

    class Squeezed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x.squeeze_(0).unsqueeze_(0))

    assert trace(Squeezed(), torch.ones(1, 4)).method == "meta"
    with pytest.raises(TraceError, match="dtype"):
        trace(Squeezed(), torch.ones(1, 4, dtype=torch.int64))
