"""A loop over positions is one step, whatever it runs on, and nothing else is taken for a loop."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


def kinds(model, *inputs):
    return [op.kind for op in trace(model, inputs).ops]


class Translator(nn.Module):
    """An encoder and a decoder that is told the words one by one, with or without attention."""

    def __init__(self, attends):
        super().__init__()
        self.words, self.said = nn.Embedding(50, 16), nn.Embedding(60, 16)
        self.encoder = nn.GRU(16, 32, batch_first=True)
        self.decoder = nn.GRU(48 if attends else 16, 32, batch_first=True)
        self.scores, self.head = nn.Linear(64, 1), nn.Linear(32, 60)
        self.attends = attends

    def forward(self, words, said):
        memory, state = self.encoder(self.words(words))
        found = []
        for step in range(said.shape[1]):
            x = self.said(said[:, step]).unsqueeze(1)
            if self.attends:
                asked = state[-1].unsqueeze(1).expand_as(memory)
                weights = self.scores(torch.cat([memory, asked], -1)).softmax(1)
                x = torch.cat([x, (weights * memory).sum(1, keepdim=True)], -1)
            y, state = self.decoder(x, state)
            found.append(self.head(y.squeeze(1)))
        return torch.stack(found, 1)


@pytest.mark.parametrize("attends", [False, True])
def test_a_decoder_is_one_step(attends):
    model = Translator(attends)
    graphs = {
        trace(model, (torch.ones(2, words).long(), torch.ones(2, said).long())).fingerprint
        for words, said in ((4, 3), (4, 4), (5, 6), (7, 9))
    }
    assert len(graphs) == 1
    found = kinds(model, torch.ones(2, 4).long(), torch.ones(2, 5).long())
    assert found.count("gru") == 2  # the encoder, from whose state the decoder begins
    assert found.count("embedding") == 2


class Frames(nn.Module):
    """A network on each frame, then a recurrent one."""

    def __init__(self):
        super().__init__()
        self.conv, self.rnn, self.head = nn.Conv2d(3, 8, 3), nn.LSTM(8, 16), nn.Linear(16, 3)

    def forward(self, clip):
        seen = [F.relu(self.conv(frame)).mean((2, 3)) for frame in clip.unbind(1)]
        return self.head(self.rnn(torch.stack(seen))[0][-1])


class FramesAtOnce(Frames):
    def forward(self, clip):
        seen = F.relu(self.conv(clip.flatten(0, 1))).mean((2, 3)).view(len(clip), -1, 8)
        return self.head(self.rnn(seen.transpose(0, 1))[0][-1])


def test_frames_one_by_one_are_frames_at_once():
    clips = [torch.ones(1, count, 3, 16, 16) for count in (3, 8)]
    models = Frames(), FramesAtOnce()
    assert len({trace(model, clip).fingerprint for model in models for clip in clips}) == 1


class QueriesAndKeys(nn.Module):
    """One norm for two slices of one layer, as attention has it: no loop."""

    def __init__(self):
        super().__init__()
        self.both, self.norm, self.out = nn.Linear(8, 16), nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x):
        query, key = self.both(x).chunk(2, -1)
        return self.out(self.norm(query) * self.norm(key))


def test_two_slices_with_one_layer_are_no_loop():
    assert kinds(QueriesAndKeys(), torch.ones(1, 4, 8)).count("layer_norm") == 2


class Generated(nn.Module):
    """Layers whose weights are slices of one that a network makes, as CondInst's: no loop."""

    def __init__(self):
        super().__init__()
        self.conv, self.weights = nn.Conv2d(3, 10, 3), nn.Linear(8, 80 + 64 + 64)

    def forward(self, x, code):
        x = self.conv(x)
        made = self.weights(code).split([80, 64, 64])
        for weight in made:
            x = F.relu(F.conv2d(x, weight.view(8, -1, 1, 1)))
        return x


def test_generated_layers_are_no_loop():
    found = kinds(Generated(), torch.ones(1, 3, 9, 9), torch.ones(8))
    assert found.count("conv") == 4


class Hierarchical(nn.Module):
    """Res2Net's layers: each has its own weights, and reads a slice and what the last one made."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(4))

    def forward(self, x):
        y, found = torch.zeros(()), []
        for conv, part in zip(self.convs, x.chunk(4, 1), strict=True):
            y = conv(part + y)
            found.append(y)
        return torch.cat(found, 1)


def test_layers_with_weights_of_their_own_are_no_loop():
    assert kinds(Hierarchical(), torch.ones(1, 16, 8, 8)).count("conv") == 4


class Triplet(nn.Module):
    """One network for three inputs, which are no slices of one."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

    def forward(self, one, same, other):
        one, same, other = self.net(one), self.net(same), self.net(other)
        return one - same, one - other


def test_three_inputs_are_no_loop():
    assert kinds(Triplet(), *[torch.ones(1, 8)] * 3).count("relu") == 3


class OwnWeights(nn.Module):
    """A matrix for each step, in one parameter or in several, in one module."""

    def __init__(self, stacked):
        super().__init__()
        made = [nn.Parameter(torch.ones(8, 8)) for _ in range(5)]
        self.weights = nn.Parameter(torch.stack(made)) if stacked else nn.ParameterList(made)

    def forward(self, x):
        state = torch.zeros(len(x), 8)
        for step in range(5):
            state = torch.tanh(x[:, step] @ self.weights[step] + state)
        return state


@pytest.mark.parametrize("stacked", [False, True])
def test_steps_with_weights_of_their_own_are_no_loop(stacked):
    assert kinds(OwnWeights(stacked), torch.ones(1, 5, 8)).count("tanh") == 5


class Propagation(nn.Module):
    """APPNP: along the same edges again and again, which come in and are cut out each time."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, edges):
        y = start = self.layer(x)
        for _ in range(5):
            y = torch.zeros_like(y).index_add(0, edges[1], y[edges[0]]) + start
        return y


def test_the_same_slice_again_is_no_loop():
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    assert kinds(Propagation(), torch.ones(4, 8), edges).count("scatter_add") == 5


def test_library_models_do_not_depend_on_the_length():
    transformers = pytest.importorskip("transformers")
    made = {
        "Mamba": {"num_hidden_layers": 2, "hidden_size": 64},
        "Rwkv": {"num_hidden_layers": 2, "hidden_size": 64, "attention_hidden_size": 64},
        "xLSTM": {"num_hidden_layers": 2, "hidden_size": 256, "num_heads": 4},
    }
    for name, sizes in made.items():
        with torch.device("meta"):
            model = getattr(transformers, f"{name}Model")(
                getattr(transformers, f"{name}Config")(**sizes)
            )
        graphs = [trace(model, torch.ones(1, length).long()) for length in (6, 9, 20)]
        assert len({graph.fingerprint for graph in graphs}) == 1, name
        assert len(graphs[0].ops) < 200, name
