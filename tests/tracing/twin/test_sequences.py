"""A recurrent layer is one operation, whether its sequences come padded or packed."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nar_plugin.tracing import trace

IDS, LENGTHS = torch.randint(1, 100, (3, 7)), torch.tensor([7, 5, 2])


class Sentiment(nn.Module):
    """A classifier of sentences; its states must have the shapes that torch documents."""

    def __init__(self, cell, *, packed=True, given=False, bidirectional=False, **options):
        super().__init__()
        self.packed, self.given, self.width = packed, given, 32 * (1 + bidirectional)
        self.options = {"batch_first": True, "enforce_sorted": True} | options
        self.embedding = nn.Embedding(100, 16)
        first = self.options["batch_first"]
        self.rnn = cell(16, 32, 2, batch_first=first, bidirectional=bidirectional)
        self.head = nn.Linear(self.width, 2)

    def forward(self, ids, lengths):
        batch, first = len(ids), self.options["batch_first"]
        x = self.embedding(ids if first else ids.t())
        states = (self.width // 16, batch, 32)
        x = pack_padded_sequence(x, lengths.cpu(), **self.options) if self.packed else x
        y, h = self.rnn(x, self.start(torch.zeros(states)) if self.given else None)
        y = pad_packed_sequence(y, batch_first=first)[0] if self.packed else y
        h = h[0] if isinstance(h, tuple) else h
        assert h.shape == states
        return self.head(y), h.unflatten(0, (2, -1))[-1].transpose(0, 1).reshape(batch, self.width)

    def start(self, zeros):
        return (zeros, zeros) if isinstance(self.rnn, nn.LSTM) else zeros


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_packed_layer_is_the_layer(cell, bidirectional, given):
    inputs = IDS, LENGTHS
    padded = trace(Sentiment(cell, packed=False, bidirectional=bidirectional), inputs)
    for options in ({}, {"batch_first": False}, {"enforce_sorted": False}):
        model = Sentiment(cell, bidirectional=bidirectional, given=given, **options)
        model(*inputs)
        graph = trace(model, inputs)
        assert graph.fingerprint == padded.fingerprint, options
        assert graph.method == "meta"
        assert trace(model).fingerprint == padded.fingerprint  # unasked
    unsorted = trace(
        Sentiment(cell, bidirectional=bidirectional, enforce_sorted=False), (IDS, LENGTHS.flip(0))
    )
    assert unsorted.fingerprint == padded.fingerprint


class SortedByHand(nn.Module):
    """As it was written before `enforce_sorted`."""

    def __init__(self):
        super().__init__()
        self.project, self.head = nn.Linear(8, 16), nn.Linear(32, 2)
        self.rnn = nn.LSTM(16, 32, batch_first=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(descending=True)
        x = self.project(x)[order]
        y, _ = self.rnn(pack_padded_sequence(x, lengths.tolist(), batch_first=True))
        return self.head(pad_packed_sequence(y, batch_first=True)[0][order.argsort()])


def test_rows_sorted_by_hand_are_no_choice():
    graph = trace(SortedByHand(), (torch.randn(3, 7, 8), LENGTHS.flip(0)))
    assert [op.kind for op in graph.ops] == ["linear", "lstm", "linear"]


class Chosen(SortedByHand):
    """The rows that have any step, and of these the last step."""

    def forward(self, x, lengths):
        some = lengths > 0
        x, lengths = self.project(x)[some], lengths[some]
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(y[torch.arange(len(y)), lengths - 1])


def test_rows_that_were_picked_are_a_choice():
    graph = trace(Chosen(), (torch.randn(3, 7, 8), LENGTHS))
    kinds = [op.kind for op in graph.ops]
    assert kinds[0] == "linear"
    assert kinds.index("gather") < kinds.index("lstm") < len(kinds) - 2
    assert kinds[-2:] == ["gather", "linear"]


@pytest.mark.parametrize("shape", [(5, 16), (5, 3, 16)])
def test_states_of_padded_sequences(shape):
    class States(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(16, 32, 2, proj_size=8)

        def forward(self, x):
            y, (h, c) = self.rnn(x)
            assert y.shape == (*shape[:-1], 8)
            assert h.shape == (2, *shape[1:-1], 8)
            assert c.shape == (2, *shape[1:-1], 32)
            return y

    States()(torch.randn(shape))
    assert [op.kind for op in trace(States(), torch.randn(shape)).ops] == ["lstm"]


class InPlainList(nn.Module):
    """Its layer is found by no path of modules."""

    def __init__(self, container):
        super().__init__()
        self.project = nn.Linear(8, 8)
        self.layers = container([nn.LSTM(8, 8, batch_first=True)])

    def forward(self, x):
        return self.layers[0](self.project(x))[0]


def test_a_layer_in_a_plain_list_is_one_operation_too():
    hidden, registered = (
        trace(InPlainList(container), torch.randn(1, 5, 8)) for container in (list, nn.ModuleList)
    )
    assert hidden.fingerprint == registered.fingerprint
    assert hidden.classes[""] == "InPlainList"


@pytest.mark.parametrize(("proj_size", "each"), [(0, 4 * 16 * (8 + 16)), (4, 4 * 16 * 12 + 16 * 4)])
def test_a_projected_state_costs_one_more_product(proj_size, each):
    """Four gates of 16 meet the input and the state; the state of 4 is a product of the 16."""
    steps = 14
    found = trace(nn.LSTM(8, 16, proj_size=proj_size), torch.ones(steps, 8))
    assert found.flops == 2 * steps * each
