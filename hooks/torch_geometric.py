"""PyTorch Geometric: graph neural networks. https://pytorch-geometric.readthedocs.io."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install torch_geometric"
_PAGE = "https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn"
# Look for each atom's neighbours with compiled code that few have.
_MOLECULES = ("DimeNet", "DimeNetPlusPlus", "GNNFF", "SchNet", "ViSNet")
_FAMILIES = {"dimenetplusplus": "dimenet", "fastrgcn": "rgcn", "gatv2": "gat", "gine": "gin"}
_FAMILIES |= {"sage": "graphsage", "argva": "gae", "arga": "gae", "vgae": "gae", "gcn2": "gcn"}


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "torch_geometric"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: a model of PyG does not say more."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith("torch_geometric.nn."):
            return Provenance(f"torch_geometric:{owner.__name__}", "torch_geometric")
    return None


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """A small graph, for PyG's models and for any that is made of its layers."""
    if not any(type(part).__module__.startswith("torch_geometric.") for part in model.modules()):
        return None
    from nar_plugin.hooks._torch_geometric_inputs import guesses

    found: list[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """The classes of `torch_geometric.nn.models`, `.kge` and `.conv` that the plugin can build."""
    try:
        pyg, builders = _builders()
    except ImportError:
        return
    for name in builders:
        module = getattr(pyg, name).__module__.removeprefix("torch_geometric.nn.").partition(".")[0]
        yield NamedArchitecture(
            name=f"torch_geometric:{name}",
            library="torch_geometric",
            family=_family(name),
            task="graph-ml",
            licence="MIT",
            url=f"{_PAGE}.{module}.{name}.html",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `torch_geometric:GCN` without weights."""
    wanted = _references.architecture(name, "torch_geometric")
    if wanted is None:
        return None
    try:
        pyg, builders = _builders()
    except ImportError as error:
        raise _references.missing(name, "torch_geometric", _INSTALL) from error
    if wanted not in builders:
        raise _references.unknown(name, "torch_geometric", builders)
    model = builders[wanted](pyg)
    if wanted in _MOLECULES:
        from nar_plugin.hooks._torch_geometric_neighbours import near_everyone

        model.__class__ = near_everyone(type(model))
    return model


def _builders() -> tuple[Any, dict[str, Callable[[Any], nn.Module]]]:
    """`torch_geometric.nn`, and how each of its classes is built."""
    import torch

    with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
        from torch_geometric import nn as pyg

    from nar_plugin.hooks._torch_geometric_layers import LAYERS
    from nar_plugin.hooks._torch_geometric_models import MODELS

    known = {**MODELS, **LAYERS}
    return pyg, {name: known[name] for name in known if hasattr(pyg, name)}


def _family(name: str) -> str:
    """The class's name without what makes it a layer, in lower case."""
    word = re.sub(r"Conv$", "", name).lower()
    return _FAMILIES.get(word, word)
