"""What pytorchvideo's plugin builds."""

import pytest
import torch

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("pytorchvideo")


@pytest.mark.parametrize("name", ["csn_r101", "r2plus1d_r50", "slowfast_r50", "x3d_m", "x3d_s"])
def test_a_model_in_hand_is_the_one_that_is_named(name: str):
    from pytorchvideo.models import hub

    with torch.device("meta"):
        in_hand = getattr(hub, name)()
    assert trace(in_hand).fingerprint == trace(resolve(f"pytorchvideo:{name}")).fingerprint
