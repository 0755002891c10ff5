"""A loop over positions is one step, whatever it runs on, and nothing else is taken for a loop."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace
from nar_plugin.tracing.canon import loops


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

    def __init__(self, width, layers):
        super().__init__()
        self.sizes = [8 * width] + [64] * (layers - 1)
        self.conv, self.weights = nn.Conv2d(3, width, 3), nn.Linear(8, sum(self.sizes))

    def forward(self, x, code):
        x = self.conv(x)
        for weight in self.weights(code).split(self.sizes):
            x = F.relu(F.conv2d(x, weight.view(8, -1, 1, 1)))
        return x


@pytest.mark.parametrize(("width", "layers"), [(10, 3), (8, 3), (8, 5)])
def test_generated_layers_are_no_loop(width, layers):
    found = kinds(Generated(width, layers), torch.ones(1, 3, 9, 9), torch.ones(8))
    assert found.count("conv") == 1 + layers


class Pyramid(nn.Module):
    """One convolution for all chunks, each with its own dilation."""

    def __init__(self, dilations):
        super().__init__()
        self.weight, self.dilations = nn.Parameter(torch.ones(4, 4, 3, 3)), dilations

    def forward(self, x):
        parts = zip(x.chunk(4, 1), self.dilations, strict=True)
        return torch.cat([F.conv2d(p, self.weight, padding=d, dilation=d) for p, d in parts], 1)


def test_steps_with_numbers_of_their_own_are_no_loop():
    x = torch.ones(1, 16, 9, 9)
    assert kinds(Pyramid((1, 2, 3, 4)), x).count("conv") == 4
    assert kinds(Pyramid((2, 2, 2, 2)), x).count("conv") == 1


class ByTurns(nn.Module):
    """A step that is the same but for one number: a slope, a limit, a dimension."""

    def __init__(self, functions):
        super().__init__()
        self.layer, self.functions = nn.Linear(8, 8), functions

    def forward(self, x):
        steps = zip(x.unbind(1), self.functions, strict=True)
        return torch.stack([f(self.layer(step)) for step, f in steps], 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda y, i: F.elu(y, 1.0 + i),
        lambda y, i: F.leaky_relu(y, 0.1 + 0.1 * i),
        lambda y, i: y.clamp(-1, 1 + 5 * i),
        lambda y, i: y.sum(1 + i),
        lambda y, i: y.softmax(1 + i),
    ],
)
def test_one_number_makes_another_step(function):
    def once(y):
        return function(y, 0)

    def otherwise(y):
        return function(y, 1)

    x = torch.ones(1, 3, 8, 8)
    assert kinds(ByTurns([once] * 3), x).count("linear") == 1
    assert kinds(ByTurns([once, otherwise, once]), x).count("linear") == 3


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

    def __init__(self, stacked, look_up):
        super().__init__()
        made = [nn.Parameter(torch.ones(8, 8)) for _ in range(5)]
        self.weights = nn.Parameter(torch.stack(made)) if stacked else nn.ParameterList(made)
        self.look_up = look_up

    def forward(self, x):
        state = torch.zeros(len(x), 8)
        for step in range(5):
            weight = self.look_up(self.weights, step).view(8, 8)
            state = torch.tanh(x[:, step] @ weight + state)
        return state


LOOK_UPS = {
    "by number": lambda weights, step: weights[step],
    "by index": lambda weights, step: weights[torch.tensor([step])],
    "selected": lambda weights, step: weights.index_select(0, torch.tensor([step])),
    "embedded": lambda weights, step: F.embedding(torch.tensor(step), weights.flatten(1)),
}


@pytest.mark.parametrize(
    ("stacked", "look_up"),
    [(False, "by number"), *[(True, look_up) for look_up in LOOK_UPS]],
)
def test_steps_with_weights_of_their_own_are_no_loop(stacked, look_up):
    model = OwnWeights(stacked, LOOK_UPS[look_up])
    assert kinds(model, torch.ones(1, 5, 8)).count("tanh") == 5


def test_one_matrix_that_is_looked_up_in_each_step_is_a_loop():
    model = OwnWeights(True, lambda weights, step: weights[torch.tensor([2])])
    found = kinds(model, torch.ones(1, 5, 8))
    assert found.count("tanh") == 3  # the loop is found from the product on: first, second, last


class Several(nn.Module):
    """Many alike calls within a step."""

    def __init__(self, count):
        super().__init__()
        self.weights = nn.ParameterList(torch.ones(8, 8) for _ in range(count))

    def forward(self, x):
        state = torch.zeros(len(x), 8)
        for step in x.unbind(1):
            state = torch.tanh(sum(torch.sigmoid(step @ w) for w in self.weights) + state)
        return state


@pytest.mark.parametrize("count", [1, 4, 5, 9])
def test_many_alike_calls_within_a_step(count):
    model = Several(count)
    for length in (3, 4, 9):
        assert kinds(model, torch.ones(1, length, 8)).count("sigmoid") == 2 * count


class Parts(nn.Module):
    """What is done to each part of a layer by itself, without weights."""

    def __init__(self, function, count):
        super().__init__()
        self.both, self.out = nn.Linear(16, 16), nn.Linear(16, 16)
        self.function, self.count = function, count

    def forward(self, x):
        parts = self.both(x).chunk(self.count, -1)
        return self.out(torch.cat([self.function(part) for part in parts], -1))


@pytest.mark.parametrize("count", [2, 4, 8])
def test_parts_without_weights_stay_as_they_are_written(count):
    x = torch.ones(1, 6, 16)
    for function in (
        torch.relu,
        lambda y: y.relu() + y.sigmoid(),
        lambda y: y * y.relu().sigmoid(),
        lambda y: y.relu() * y.cos().relu(),
    ):
        found = kinds(Parts(function, count), x)
        assert found.count("relu") in (count, 2 * count)


class Heads(nn.Module):
    """Attention, one head after the other."""

    def __init__(self, count):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.out, self.count = nn.Linear(16, 16), count

    def forward(self, x):
        made = [layer(x).chunk(self.count, -1) for layer in (self.query, self.key, self.value)]
        heads = [(q @ k.mT).softmax(-1) @ v for q, k, v in zip(*made, strict=True)]
        return self.out(torch.cat(heads, -1))


@pytest.mark.parametrize("count", [2, 4, 8])
def test_heads_by_hand_stay_as_they_are_written(count):
    assert kinds(Heads(count), torch.ones(1, 6, 16)).count("attention") == count


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
    assert kinds(Propagation(), torch.ones(4, 8), edges).count("matmul") == 5


def test_slices_without_weights_take_linear_time():
    count = 0

    class Counted(nn.Module):
        def forward(self, x):
            return torch.stack([torch.relu(part) for part in x.unbind(1)], 1)

    def compared(length):
        nonlocal count
        count = 0
        with pytest.MonkeyPatch.context() as patch:
            repeats = loops.Loops._repeats

            def counting(*args, **kwargs):
                nonlocal count
                count += 1
                return repeats(*args, **kwargs)

            patch.setattr(loops.Loops, "_repeats", counting)
            trace(Counted(), torch.ones(1, length, 8))
        return count

    assert compared(400) < 3 * compared(200)


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
