"""nas_cells: networks of three search spaces, built from the text that a search prints.

- `nasbench201:` and an architecture string, such as `|nor_conv_3x3~0|+|none~0|none~1|+|...|`
- `darts:` and a printed genotype, such as `Genotype(normal=[('sep_conv_3x3', 0), ...], ...)`
- `enas:` and a row of D-VAE's list of structures, such as `[[1], [4, 0], [5, 0, 0], ...]`

In Python, each module has a `network(text)` that makes the same network with weights.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

SPACES = ("nasbench201", "darts", "enas")  # the prefixes, and the modules


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """The network of a cell's text."""
    prefix, _, text = name.partition(":")
    if prefix not in SPACES:
        return None
    network: Callable[[str], nn.Module] = import_module(f".{prefix}", __name__).network
    try:
        return network(text)
    except ValueError as error:
        raise PluginError(f"{name} is not built: {error}") from error


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The text that a network of these spaces was built from."""
    space = _space(model)
    text = vars(model).get("cell_text") if space else None
    return Provenance(f"{space}:{text}", space) if space and isinstance(text, str) else None


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """An image of CIFAR-10, for which all three spaces are made."""
    import torch

    if _space(model) is None:
        return None
    return [ExampleInputs((torch.empty(1, 3, 32, 32, device="meta"),))]


def _space(model: nn.Module) -> str | None:
    """The search space that a network is of."""
    module = str(type(model).__module__).removeprefix(f"{__name__}.")
    return module if module in SPACES else None
