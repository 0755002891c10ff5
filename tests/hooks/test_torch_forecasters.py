"""Forecasters with the arguments of the Time-Series-Library."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from nar_plugin.hooks import torch as plugin
from torch import Tensor, nn

from nar_plugin.tracing import trace


class Patches(nn.Module):
    """Patches of each series; the head wants exactly the window that it was made for."""

    def __init__(self, window: int = 96, horizon: int = 24, series: int = 7) -> None:
        super().__init__()
        self.seq_len, self.pred_len, self.enc_in = window, horizon, series
        self.patch = nn.Linear(16, 32)
        self.head = nn.Linear(32 * ((window - 16) // 8 + 1), horizon)

    def forward(
        self, x_enc: Tensor, x_mark_enc: Tensor, x_dec: Tensor, x_mark_dec: Tensor, mask: Any = None
    ) -> Any:
        patches = self.patch(x_enc.mT.unfold(-1, 16, 8))
        return self.head(patches.flatten(2)).mT


class Embedding(nn.Module):
    """Values by a convolution, the calendar by a linear layer."""

    def __init__(self, series: int) -> None:
        super().__init__()
        self.value_embedding = nn.Conv1d(series, 16, 3, padding=1)
        self.temporal_embedding = nn.Linear(4, 16, bias=False)

    def forward(self, x: Tensor, mark: Tensor) -> Any:
        return self.value_embedding(x.mT).mT + self.temporal_embedding(mark)


class EncoderDecoder(nn.Module):
    """It keeps its settings whole, and no number of series."""

    def __init__(self) -> None:
        super().__init__()
        self.configs = SimpleNamespace(seq_len=48, label_len=12, pred_len=24)
        self.enc_embedding = Embedding(5)
        self.dec_embedding = Embedding(3)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x_enc: Tensor, x_mark_enc: Tensor, x_dec: Tensor, x_mark_dec: Tensor) -> Any:
        memory = self.enc_embedding(x_enc, x_mark_enc)
        return self.attention(self.dec_embedding(x_dec, x_mark_dec), memory, memory)[0]


class Classifier(Patches):
    """Its marks say which steps are there."""

    def forward(
        self, x_enc: Tensor, x_mark_enc: Tensor, x_dec: Tensor, x_mark_dec: Tensor, mask: Any = None
    ) -> Any:
        present = x_enc * x_mark_enc.unsqueeze(-1)
        return super().forward(present, x_mark_enc, x_dec, x_mark_dec)


class RevIN(nn.Module):
    """Only the factors of its norm know how many series there are."""

    def __init__(self) -> None:
        super().__init__()
        self.affine_weight = nn.Parameter(torch.ones(9))
        self.out = nn.Linear(96, 96)

    def forward(self, x_enc: Tensor, x_mark_enc: Tensor) -> Any:
        return self.out((x_enc * self.affine_weight).mT)


SHAPES = {
    Patches: ([1, 96, 7], [1, 96, 4], [1, 24, 7], [1, 24, 4]),
    EncoderDecoder: ([1, 48, 5], [1, 48, 4], [1, 36, 3], [1, 36, 4]),
    Classifier: ([1, 96, 7], [1, 96], [1, 24, 7], [1, 24, 4]),
    RevIN: ([1, 96, 9], [1, 96, 4]),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_a_forecaster_is_given_its_window_and_its_horizon(kind: type[nn.Module]) -> None:
    graph = trace(kind())
    assert graph.method == "meta"
    assert graph.inputs == ", ".join(f"float32{shape}" for shape in SHAPES[kind])


def test_other_names_get_other_guesses() -> None:
    class Plain(Patches):
        def forward(self, x: Tensor, x_dec: Tensor) -> Any:  # type: ignore[override]
            return super().forward(x, x, x_dec, x_dec)

    first, *_ = plugin.nar_example_inputs(Plain())
    assert first.args[0].shape != (1, 96, 7)
