"""What `novelty` says beside its number."""

import copy
import tomllib
from pathlib import Path

import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin.encoder import encoder_sha256
from nar_plugin.index.store.folder import EMBEDDED
from nar_plugin.likeness.novelty import calibration, percentile

timm = pytest.importorskip("timm")


class Gated(nn.Module):
    """A ResNet-18 whose last layer is a gated mixture that no ResNet has."""

    def __init__(self):
        super().__init__()
        self.resnet = timm.create_model("resnet18", num_classes=0)
        self.experts = nn.ModuleList(nn.Linear(512, 64) for _ in range(4))
        self.gate = nn.Linear(512, 4)

    def forward(self, x):
        x = self.resnet(x)
        parts = torch.stack([expert(x).sigmoid() for expert in self.experts], 1)
        return (self.gate(x).softmax(-1)[..., None] * parts).cumsum(1)


@pytest.fixture(scope="module")
def found():
    return nar_plugin.novelty(Gated(), example_inputs=torch.zeros(1, 3, 64, 64))


def test_the_calibration_is_of_the_encoder_that_ships():
    assert calibration()["encoder_sha256"] == encoder_sha256(EMBEDDED), "run `nar dev calibrate`"


def test_quantiles_ascend_and_families_are_more_novel_than_sizes():
    path = Path(nar_plugin.__file__).parent / "likeness" / "novelty.toml"
    stored = tomllib.loads(path.read_text())
    for name in ("unseen_families", "new_sizes"):
        assert stored[name] == sorted(stored[name])
        assert percentile(stored[name][0] - 0.01, name) == 0
        assert percentile(stored[name][-1] + 0.01, name) == 1
    assert 0.5 < stored["auc"] < 1
    assert stored["medians"]["unseen_families"] > stored["medians"]["new_sizes"]


def test_a_known_design_is_not_novel():
    known = nar_plugin.novelty("timm:resnet50")
    assert known == 0.0
    assert "a known design" in repr(known)


def test_it_is_one_minus_the_score_of_the_nearest(found):
    assert 0 < found < 1
    assert found == pytest.approx(1 - found.nearest.score)
    assert 0 <= found.unseen_families <= found.new_sizes <= 1
    assert copy.copy(found).nearest.name == found.nearest.name


def test_the_report_names_prior_art_and_the_blocks_that_it_lacks(found):
    text = repr(found)
    assert f"nearest prior art: {found.nearest.name}" in text
    assert "more novel than" in text
    least, most = found.partners_alike
    assert 0 < least < most <= 1
    assert f", {least:.2f} to {most:.2f} alike" in text
    assert found.to_dict()["partners_alike"] == [least, most]
    parts = [part.name for part in found.without_partner]
    assert found.to_dict()["without_partner"] == parts
    assert all(name in text for name in parts) or "every block has a partner" in text
