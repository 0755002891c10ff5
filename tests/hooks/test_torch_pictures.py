"""Models that make another picture of what they get: gray ones repeated, dimensions added."""

import pytest
import torch
import torchvision
from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import trace


class Changed(nn.Module):
    """A Swin, whose windows are cut where a picture is small, on what a function makes."""

    def __init__(self, change, stem=3):
        super().__init__()
        with torch.device("meta"):
            self.model = torchvision.models.swin_t(weights=None)
            if stem != 3:
                self.model.features[0][0] = nn.Conv2d(stem, 96, 4, 4)
        self.change = change

    def forward(self, x):
        return self.model(self.change(x))


class HeadFirst(Changed):
    """Its head, which takes vectors, is registered before what sees the picture."""

    def __init__(self):
        nn.Module.__init__(self)
        self.head = nn.Linear(1000, 10, device="meta")
        whole = Changed(lambda x: x.repeat(1, 3, 1, 1))
        self.model, self.change = whole.model, whole.change

    def forward(self, x):
        return self.head(super().forward(x))


class Pair(nn.Module):
    """Two pictures, one after the other along the channels."""

    def __init__(self):
        super().__init__()
        self.model = Changed(nn.Identity(), 6).model

    def forward(self, before, after):
        return self.model(torch.cat([before, after], 1))


class Checked(nn.Module):
    """Checks one side after the other, as timm's patches do, and repeats a gray picture."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 16, 16)

    def forward(self, x):
        for name, side in zip(("height", "width"), x.shape[-2:], strict=True):
            assert side == 384, f"Input {name} ({side}) doesn't match model (384)."
        return self.patches(x.repeat(1, 3, 1, 1))


class Slices(nn.Module):
    """One scan at a time, and its slices as a batch, as in MRNet."""

    def __init__(self):
        super().__init__()
        self.model = Changed(nn.Identity()).model

    def forward(self, scan):
        return self.model(scan.squeeze(0)).max(0).values


@pytest.mark.parametrize(
    ("change", "inputs"),
    [
        (lambda x: x.repeat(1, 3, 1, 1), "float32[1, 1, 224, 224]"),
        (lambda x: x.expand(-1, 3, -1, -1), "float32[1, 1, 224, 224]"),
        (lambda x: torch.cat([x, x, x], 1), "float32[1, 1, 224, 224]"),
        (lambda x: x.unsqueeze(1).repeat(1, 3, 1, 1), "float32[1, 224, 224]"),
        (lambda x: x.unsqueeze(1).expand(-1, 3, -1, -1), "float32[1, 224, 224]"),
        (lambda x: torch.stack([x, x, x], 1), "float32[1, 224, 224]"),
    ],
)
def test_repeated_picture_is_traced_in_its_resolution(change, inputs):
    graph = trace(Changed(change))
    assert graph.inputs == inputs
    assert graph.fingerprint == trace(Changed(nn.Identity())).fingerprint


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (lambda: Changed(lambda x: x.mean(1, keepdim=True), 1), "float32[1, 1, 224, 224]"),
        (HeadFirst, "float32[1, 1, 224, 224]"),
        (Pair, "float32[1, 3, 224, 224], float32[1, 3, 224, 224]"),
        (Checked, "float32[1, 1, 384, 384]"),
        (Slices, "float32[1, 8, 3, 224, 224]"),
    ],
)
def test_picture_keeps_its_resolution(model, inputs):
    assert trace(model()).inputs == inputs


def test_fewer_channels_come_before_other_ranks():
    from nar_plugin.hooks.torch.mend.messages import mended

    message = "expected input[1, 9, 64, 64] to have 3 channels, but got 9 channels instead"
    first = mended(nn.Identity(), ExampleInputs((torch.empty(1, 3, 64, 64),)), message)[0]
    assert first.args[0].shape == (1, 1, 64, 64)


def test_stated_picture_may_be_gray_or_without_channels():
    model = Changed(lambda x: x.unsqueeze(1).repeat(1, 3, 1, 1))
    model.input_shape = (3, 224, 224)
    assert trace(model).inputs == "float32[1, 224, 224]"


class Registers(nn.Module):
    """Darcet et al. 2024: four learned tokens beside the patches, whose table is resized."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 14, 14)
        self.registers = nn.Parameter(torch.zeros(1, 4, 32))
        self.places = nn.Parameter(torch.zeros(1, 1 + 37 * 37, 32))
        self.layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)

    def forward(self, x):
        x = self.patches(x)
        places = self.places[:, 1:].unflatten(1, (37, 37)).permute(0, 3, 1, 2)
        if x.shape[2:] != (37, 37):
            places = nn.functional.interpolate(places, x.shape[2:], mode="bicubic")
        x = (x + places).flatten(2).transpose(1, 2)
        return self.layer(torch.cat([self.registers, x], 1))


def test_a_picture_has_the_size_of_the_longest_table():
    assert trace(Registers()).inputs == "float32[1, 3, 518, 518]"
