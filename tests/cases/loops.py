"""Modules that walk along their input, and whose inputs are hard to find."""

import torch
from torch import nn


class RecurrentPolicy(nn.Module):
    """Two LSTMs that go step by step, reset where an episode starts, as sb3-contrib's policies."""

    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.LSTM(6, 64), nn.LSTM(6, 64)
        self.action, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, obs, lstm_states, episode_starts):
        actor, actor_state = self.steps(obs, lstm_states[0], episode_starts, self.actor)
        critic, critic_state = self.steps(obs, lstm_states[1], episode_starts, self.critic)
        return self.action(actor), self.value(critic), (actor_state, critic_state)

    def steps(self, features, states, starts, lstm):
        count = states[0].shape[1]
        features = features.reshape(count, -1, 6).swapaxes(0, 1)
        starts, outs = starts.reshape(count, -1).swapaxes(0, 1), []
        for step, start in zip(features, starts, strict=True):
            kept = (1.0 - start).view(1, count, 1)
            out, states = lstm(step[None], (kept * states[0], kept * states[1]))
            outs.append(out)
        return torch.cat(outs).transpose(0, 1).flatten(0, 1), states


class RefusedAtTheEnd(nn.Module):
    """A cell over the steps of a signal, then a choice that few inputs allow."""

    def __init__(self):
        super().__init__()
        self.convolution, self.cell = nn.Conv1d(4, 8, 3, padding=1), nn.GRUCell(8, 16)

    def forward(self, x, y):
        state, x = torch.zeros(x.shape[0], 16), self.convolution(x)
        for step in range(x.shape[-1]):
            state = self.cell(x[..., step], state)
        return state + y[3]


class PixelByPixel(nn.Module):
    """Rows and columns of a picture, one pixel at a time; seven channels are wanted at the end."""

    def __init__(self):
        super().__init__()
        self.convolution, self.cell = nn.Conv2d(3, 8, 3, padding=1), nn.GRUCell(8, 8)

    def forward(self, image):
        state, x = torch.zeros(len(image), 8), self.convolution(image)
        for row in range(x.shape[2]):
            for column in range(x.shape[3]):
                state = self.cell(x[:, :, row, column], state)
        assert image.shape[1] == 7
        return state


class SampleBySample(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution, self.next = nn.Conv1d(1, 16, 2, padding=1), nn.Linear(16, 16)

    def forward(self, wave, speaker):
        x, state = self.convolution(wave), torch.zeros(16)
        for step in range(x.shape[-1]):
            state = torch.tanh(self.next(x[..., step] + state))
        return state @ speaker.table


class Transducer(nn.Module):
    """A joint network for each pair of a frame and a token."""

    def __init__(self):
        super().__init__()
        self.frames, self.tokens = nn.Conv1d(80, 16, 3), nn.Embedding(40, 16)
        self.joint = nn.Linear(16, 40)

    def forward(self, features, tokens):
        frames, words = self.frames(features), self.tokens(tokens)
        scores = [
            self.joint(torch.tanh(frames[..., t] + words[:, u]))
            for t in range(frames.shape[-1])
            for u in range(words.shape[1])
        ]
        return torch.stack(scores) + features.lengths


class WaitsForASign(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Linear(8, 8)

    def forward(self, x):
        while self.step(x).max().item() > -5_000:
            x = self.step(x)
        return x


class ManyRounds(nn.Module):
    """A decoder of a thousand steps, on a memory of a size that nobody guesses."""

    def __init__(self):
        super().__init__()
        self.cell, self.read = nn.LSTMCell(20, 20), nn.Linear(20, 11)

    def forward(self, x, memory):
        state = cell = torch.zeros(x.shape[0], 20)
        for _ in range(1_000):
            state, cell = self.cell(x[:, :20], (state, cell))
        return self.read(state) @ memory.reshape(11, 13, 17)[0]


class Video(nn.Module):
    """A convolutional recurrence over frames, whose first state is asked for as a pair."""

    def __init__(self):
        super().__init__()
        self.gates = nn.Conv2d(3 + 8, 4 * 8, 3, padding=1)

    def forward(self, video, state):
        hidden, cell = state["hidden"], state["cell"]
        for frame in video.unbind(2):
            i, f, o, g = self.gates(torch.cat([frame, hidden], 1)).chunk(4, 1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
        return hidden


class OfAMask(nn.Module):
    """Where a mask is zero the state begins anew, as in many a policy on GitHub."""

    def __init__(self):
        super().__init__()
        self.base, self.gru = nn.Linear(12, 32), nn.GRU(32, 32)

    def forward(self, inputs, rnn_hxs, masks):
        x, count = self.base(inputs), rnn_hxs.size(0)
        steps = x.size(0) // count
        x, masks = x.view(steps, count, x.size(1)), masks.view(steps, count, 1)
        outs, hxs = [], rnn_hxs[None]
        for step in range(steps):
            out, hxs = self.gru(x[step : step + 1], hxs * masks[step])
            outs.append(out)
        return torch.cat(outs).view(steps * count, -1), hxs[0]


class Tree(nn.Module):
    """Joins nodes as a list of pairs says."""

    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Embedding(100, 16), nn.Linear(32, 16)

    def forward(self, words, merges):
        nodes = list(self.leaf(words)[0])
        for left, right in merges:
            nodes.append(self.join(torch.cat([nodes[left], nodes[right]])))
        return nodes[-1]


class Rounds(nn.Module):
    """Messages along a matrix of neighbours that must be a square of 30."""

    def __init__(self):
        super().__init__()
        self.update = nn.GRUCell(24, 24)

    def forward(self, nodes, neighbours):
        assert neighbours.shape == (30, 30), neighbours.shape
        for _ in range(64):
            nodes = self.update(neighbours @ nodes, nodes)
        return nodes


class Diffusion(nn.Module):
    """The loop of a sampler; its shape is a tuple, which no guess is."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 3, 1))

    def forward(self, shape, steps):
        x = torch.zeros(*shape)
        for step in range(steps):
            x = x - self.net(x) / (step + 1)
        return x


STATED = (RecurrentPolicy, RefusedAtTheEnd)
FURTHER = (
    PixelByPixel,
    SampleBySample,
    Transducer,
    WaitsForASign,
    ManyRounds,
    Video,
    OfAMask,
    Tree,
    Rounds,
    Diffusion,
)
