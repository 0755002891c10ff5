"""neuraloperator: networks that map functions to functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_UNO: dict[str, Any] = {  # the example of the documentation
    "uno_out_channels": [32, 64, 64, 64, 32],
    "uno_n_modes": [[16, 16], [8, 8], [8, 8], [8, 8], [16, 16]],
    "uno_scalings": [[1.0, 1.0], [0.5, 0.5], [1, 1], [2, 2], [1, 1]],
    "horizontal_skips_map": None,
    "n_layers": 5,
    "domain_padding": None,
    "channel_mlp_skip": "linear",
}
_VALUES: dict[str, Any] = {
    "n_modes": (16, 16),
    "in_channels": 1,
    "out_channels": 1,
    "hidden_channels": 64,
}


def _entries() -> Mapping[str, Entry]:
    classes = list(classes_below("neuralop.models"))
    special: dict[str, dict[str, Any]] = {"UNO": _UNO, "TFNO": _VALUES}
    parts = ("BaseModel", "UQNO", "CODANO", "GINO", "FNOGNO")  # UQNO wraps another model
    found: Mapping[str, Entry] = entries(
        classes, _VALUES, task="image-to-image", special=special, skip=parts
    )
    return found


def _inputs(_: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 1, 64, 64, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="neuralop",
    distribution="neuraloperator",
    licence="MIT",
    url="https://neuraloperator.github.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
