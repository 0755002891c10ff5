"""Videos: in lists, with their frames before their channels, and in a row of pictures."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


class Pathway(nn.Module):
    """X3D: the clips are a list of one, of which a part takes the first."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm3d(3)

    def forward(self, x):
        return self._first(x)

    def _first(self, clips):
        return self.norm(clips[0])


class Patches(nn.Module):
    """MViT: the same, and a convolution that takes one clip without its batch as well."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 32, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, 32))

    def forward(self, x):
        x = self.conv(x[0]).flatten(2).transpose(1, 2)
        return torch.cat([self.token, x], 1)


class Streams(nn.Module):
    """Simonyan & Zisserman 2014: colours and flow, of which nothing says that they are two."""

    def __init__(self):
        super().__init__()
        self.colours = nn.Conv2d(3, 8, 3)
        self.flow = nn.Conv2d(20, 8, 3)

    def forward(self, streams):
        return self.colours(streams[0]) + self.flow(streams[1])


class FramesFirst(nn.Module):
    """DUF: seven frames, of which one is left."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 25, 3, padding=(0, 1, 1))
        self.more = nn.Conv3d(25, 25, (5, 1, 1))

    def forward(self, x):
        batch, _, _, height, width = x.shape
        x = self.more(self.conv(x.permute(0, 2, 1, 3, 4)))
        return x.view(batch, 25, height, width).softmax(1)


class Row(nn.Module):
    """TOFlow: the frames are normalized as one row of pictures."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 64, 1)

    def forward(self, frames):
        batch, count, _, height, width = frames.shape
        row = F.relu(frames.view(-1, 3, height, width)).view(batch, count, 3, height, width)
        return self.conv(torch.cat([row[:, 0], row[:, 1], row[:, 2, :2]], 1))


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Pathway, "[float32[1, 3, 16, 112, 112]]"),
        (Patches, "[float32[1, 3, 16, 112, 112]]"),
        (Streams, "[float32[1, 3, 224, 224], float32[1, 20, 224, 224]]"),
        (FramesFirst, "float32[1, 7, 3, 112, 112]"),
        (Row, "float32[1, 8, 3, 224, 224]"),
    ],
)
def test_a_video_is_found(model, inputs):
    graph = trace(model())
    assert (graph.method, graph.inputs) == ("meta", inputs)
