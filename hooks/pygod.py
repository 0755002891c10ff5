"""PyGOD: networks that find outliers in graphs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_NODES, _WIDTH = 20, 64
_VALUES: dict[str, Any] = {
    **dict.fromkeys(("in_dim", "x_dim", "noise_dim", "hid_dim", "dim_a"), _WIDTH),
    **dict.fromkeys(("s_dim", "num_nodes", "dim_s"), _NODES),
}


def _entries() -> Mapping[str, Entry]:
    classes = [item for item in classes_below("pygod.nn") if item.__name__.endswith("Base")]
    found: Mapping[str, Entry] = entries(classes, _VALUES, task="graph-ml")
    return found


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """Nodes, edges in a ring, the rows of the adjacency, noise."""
    import torch

    ring = torch.arange(_NODES)
    values = {
        "x": torch.empty(_NODES, _WIDTH, device="meta"),
        "edge_index": torch.stack((ring, (ring + 1) % _NODES)),
        "s": torch.empty(_NODES, _NODES, device="meta"),
        "noise": torch.empty(_NODES, _WIDTH, device="meta"),
        "batch_size": _NODES,
    }
    names = inspect.signature(model.forward).parameters
    return [ExampleInputs(tuple(values[name] for name in names if name in values))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pygod",
    distribution="pygod",
    licence="BSD-2-Clause",
    url="https://pygod.org",
    entries=_entries,
    inputs=_inputs,
).hooks()
