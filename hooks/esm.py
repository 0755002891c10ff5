"""ESM-2: language models of proteins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

# Layers, width and heads: table S1 of https://doi.org/10.1126/science.ade2574.
_SIZES = {
    "esm2_t6_8M_UR50D": (6, 320, 20),
    "esm2_t12_35M_UR50D": (12, 480, 20),
    "esm2_t30_150M_UR50D": (30, 640, 20),
    "esm2_t33_650M_UR50D": (33, 1280, 20),
    "esm2_t36_3B_UR50D": (36, 2560, 40),
    "esm2_t48_15B_UR50D": (48, 5120, 40),
}
_RESIDUES = 64


def _entries() -> Mapping[str, Entry]:
    from esm import pretrained

    return {
        name: Entry(partial(_build, name), "esm2", "fill-mask", hub_id=f"facebook/{name}")
        for name in _SIZES
        if hasattr(pretrained, name)
    }


def _build(name: str) -> nn.Module:
    from esm.model.esm2 import ESM2

    model: nn.Module = ESM2(*_SIZES[name], token_dropout=True)
    return model


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((4 + torch.arange(_RESIDUES)[None] % 20,))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="esm",
    distribution="fair-esm",
    licence="MIT",
    url="https://github.com/facebookresearch/esm",
    entries=_entries,
    inputs=_inputs,
).hooks()
