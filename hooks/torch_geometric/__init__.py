"""PyTorch Geometric: graph neural networks. https://pytorch-geometric.readthedocs.io."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, hookimpl

if TYPE_CHECKING:
    from torch import nn

_PAGE = "https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn"
# Look for each atom's neighbours with compiled code that few have.
_MOLECULES = ("DimeNet", "DimeNetPlusPlus", "GNNFF", "SchNet", "ViSNet")
_FAMILIES = {"dimenetplusplus": "dimenet", "fastrgcn": "rgcn", "gatv2": "gat", "gine": "gin"}
_FAMILIES |= {"sage": "graphsage", "argva": "gae", "arga": "gae", "vgae": "gae", "gcn2": "gcn"}


def _entries() -> Mapping[str, Entry]:
    """The classes of `torch_geometric.nn.models`, `.kge` and `.conv` that the plugin can build."""
    from torch_geometric import nn as pyg

    from .layers import LAYERS
    from .models import MODELS

    entries = {}
    for name, builder in {**MODELS, **LAYERS}.items():
        if owner := getattr(pyg, name, None):
            module = str(owner.__module__).removeprefix("torch_geometric.nn.").partition(".")[0]
            entries[name] = Entry(
                build=partial(_built, name, builder),
                family=_family(name),
                task="graph-ml",
                url=f"{_PAGE}.{module}.{name}.html",
            )
    return entries


def _built(name: str, builder: Callable[[Any], nn.Module]) -> nn.Module:
    from torch_geometric import nn as pyg

    model = builder(pyg)
    if name in _MOLECULES:
        from .neighbours import near_everyone

        model.__class__ = near_everyone(type(model))
    return model


_CATALOGUE = Catalogue(
    package="torch_geometric",
    distribution="torch_geometric",
    licence="MIT",
    url="https://pytorch-geometric.readthedocs.io",
    entries=_entries,
    models=("torch_geometric.nn",),
)
nar_library = _CATALOGUE.nar_library
nar_provenance = _CATALOGUE.nar_provenance
nar_architectures = _CATALOGUE.nar_architectures
nar_build = _CATALOGUE.nar_build


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """A small graph, for PyG's models and for any that is made of its layers."""
    from nar_plugin.tracing.twin.parts import modules

    if not any(
        str(type(part).__module__).startswith("torch_geometric.") for part in modules(model)
    ):
        return None
    from .inputs import guesses

    return guesses(model)


def _family(name: str) -> str:
    """The class's name without what makes it a layer, in lower case."""
    word = re.sub(r"Conv$", "", name).lower()
    return _FAMILIES.get(word, word)
