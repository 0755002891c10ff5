"""Optional conditions without which a layer finds another width than its own."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace


class CrossAttention(nn.Module):
    """Rombach et al. 2022: without a context the picture attends to itself."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(4, 32, 3, padding=1)
        self.query = nn.Linear(32, 32)
        self.key = nn.Linear(128, 32)

    def forward(self, x, context=None, label=None):
        x = self.look(x).flatten(2).transpose(1, 2)
        context = x if context is None else context
        return (self.query(x) @ self.key(context).transpose(1, 2)).softmax(-1)


class Denoiser(CrossAttention):
    """Of a time as well, which is optional too: a step, as in training, and no fraction."""

    def __init__(self):
        super().__init__()
        self.time = nn.Linear(32, 32)

    def forward(self, x, timesteps=None, context=None):
        scales = torch.exp(-torch.arange(32, device=timesteps.device))
        x = self.look(x) + self.time((timesteps[:, None].float() * scales).sin())[..., None, None]
        x = x.flatten(2).transpose(1, 2)
        context = x if context is None else context
        return (self.query(x) @ self.key(context).transpose(1, 2)).softmax(-1)


class Policy(nn.Module):
    """Chi et al. 2023: an observation is appended to the time."""

    def __init__(self):
        super().__init__()
        self.time = nn.Linear(1, 256)
        self.film = nn.Linear(256 + 40, 8)
        self.conv = nn.Conv1d(2, 8, 3)

    def forward(self, sample, timestep, global_cond=None):
        when = self.time(timestep.reshape(-1, 1).float())
        if global_cond is not None:
            when = torch.cat([when, global_cond], -1)
        return self.conv(sample) + self.film(when)[..., None]


@pytest.mark.parametrize(
    ("model", "condition"),
    [
        (CrossAttention, "context=float32[1, 16, 128]"),
        (Denoiser, "timesteps=int64[1], context=float32[1, 16, 128]"),
        (Policy, "global_cond=float32[1, 40]"),
    ],
)
def test_a_condition_is_offered(model, condition):
    graph = trace(model())
    assert graph.method == "meta"
    assert graph.inputs.endswith(condition)


class Modulated(nn.Module):
    """Rows of a text beside those of a picture, and a row of it all, as in Stable Diffusion 3."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(16, 64, 2, 2)
        self.places = nn.Parameter(torch.zeros(1, 256, 64))
        self.text, self.row, self.time = nn.Linear(384, 64), nn.Linear(192, 64), nn.Linear(32, 64)
        self.both = nn.Linear(64, 64)

    def embedded(self, t):
        scales = torch.exp(-torch.arange(16, device=t.device))
        angles = t[:, None].float() * scales
        return self.time(torch.cat([angles.sin(), angles.cos()], -1))

    def forward(self, x, t, context, pooled):
        batch, _, _, _ = x.shape
        row = self.embedded(t) + self.row(pooled)
        x = self.patches(x).flatten(2).transpose(1, 2) + self.places
        x = torch.cat([self.text(context), x], 1) * row.unsqueeze(1)
        return self.both(x).unflatten(-1, (4, 16)).permute(0, 2, 1, 3).reshape(batch, 4, -1, 16)


class OldNames(Modulated):
    """Names of the first code of Stable Diffusion."""

    def forward(self, x, t, context, y):
        return super().forward(x, t, context, y)


class OtherNames(Modulated):
    """Names of diffusers."""

    def forward(self, hidden_states, timestep, encoder_hidden_states, pooled_projections):
        return super().forward(hidden_states, timestep, encoder_hidden_states, pooled_projections)


class NoNames(Modulated):
    """Names that say nothing."""

    def forward(self, x, t, c, v):
        return super().forward(x, t, c, v)


@pytest.mark.parametrize("model", [Modulated, OldNames, OtherNames, NoNames])
def test_a_text_beside_a_picture_has_rows_and_one_row(model):
    graph = trace(model())
    assert graph.method == "meta"
    assert "float32[1, 16, 384]" in graph.inputs
    assert graph.inputs.endswith("float32[1, 192]")
    assert "float32[1, 16, 32, 32]" in graph.inputs
