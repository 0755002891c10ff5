"""Which rows of a linear layer are patches of an image."""

import pytest
import torch
from torch import nn

import nar_plugin

FRAMES, SIDE = 4, 8


class Rows(nn.Module):
    """A linear layer on rows that a film of one channel is cut into."""

    def __init__(self, sides):
        super().__init__()
        self.sides = sides
        self.layer = nn.Linear(sides[0] * sides[1] * sides[2], 5)

    def forward(self, film):
        frames, high, wide = self.sides
        cut = film.reshape(1, FRAMES // frames, frames, SIDE // high, high, SIDE // wide, wide)
        return self.layer(cut.permute(0, 1, 3, 5, 2, 4, 6).reshape(1, -1, frames * high * wide))


@pytest.mark.parametrize(
    ("sides", "kernel"),
    [
        ((2, 4, 4), "2x4x4"),
        ((1, 2, 4), "1x2x4"),
        ((FRAMES, 1, 1), None),  # the features of each point: no picture is cut
        ((1, SIDE, SIDE), None),  # each frame as a whole
    ],
)
def test_a_patch_has_several_pixels_of_a_frame(sides, kernel):
    graph = nar_plugin.trace(Rows(sides), example_inputs=torch.randn(1, 1, FRAMES, SIDE, SIDE))
    (op,) = graph.ops
    assert op.kind == ("conv" if kernel else "linear")
    assert dict(op.attributes).get("kernel") == kernel
