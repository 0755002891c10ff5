"""A small graph for a model: what the names of its forward's arguments ask for.

Example:
    ```python
    guesses(GCN(16, 32, 2))[0].args  # (x float[16, 16], edge_index int64[2, 32])
    ```
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from .._shared.layers import floats
from .widths import edge_width, node_widths

NODES = 16
EDGES = 2 * NODES
_UNKNOWN_WIDTH = 16
_MOST = 4
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def guesses(model: nn.Module) -> list[ExampleInputs]:
    """Graphs that the forward may accept, best guess first."""
    asked = _asked(model)
    widths = node_widths(model)[:_MOST] or [_UNKNOWN_WIDTH]
    features = [*_special_features(model), *(floats(_nodes(model), width) for width in widths)]
    embedded = torch.arange(NODES) % 2  # nodes that are looked up
    return [_inputs(model, asked, nodes) for nodes in (*features, embedded)]


def _nodes(model: nn.Module) -> int:
    """As many as the model has a row of weights for."""
    known = getattr(model, "num_nodes", None)
    return known if isinstance(known, int) else NODES


def _special_features(model: nn.Module) -> Iterator[Tensor]:
    if type(model).__name__ == "DNAConv":  # looks back at the layers before it
        yield floats(NODES, 3, *node_widths(model)[:1])


def _asked(model: nn.Module) -> list[inspect.Parameter]:
    """The arguments that a forward needs, and those that it was built to use."""
    parameters = inspect.signature(_signature_owner(model).forward).parameters.values()
    worth_giving = {"edge_index"}
    if edge_width(model) is not None:
        worth_giving.add("edge_attr")
    if any(hasattr(part, "num_relations") for part in model.modules()):
        worth_giving.add("edge_type")
    return [
        item
        for item in parameters
        if item.kind not in _MANY and (item.default is item.empty or item.name in worth_giving)
    ]


def _signature_owner(model: nn.Module) -> nn.Module:
    """The part whose signature says what is asked for: wrappers pass on what they get."""
    parameters = inspect.signature(model.forward).parameters.values()
    if all(item.kind in _MANY for item in parameters):
        for name in ("encoder", "conv", "convs", "model"):
            inner = getattr(model, name, None)
            if isinstance(inner, nn.ModuleList) and len(inner):
                inner = inner[0]
            if isinstance(inner, nn.Module):
                return inner
    return model


def _inputs(
    model: nn.Module, asked: list[inspect.Parameter], node_features: Tensor
) -> ExampleInputs:
    """Arguments for what is asked for, by name where they have a default."""
    if len(asked) == 1 and _WHOLE.search(asked[0].name):
        return ExampleInputs((_data(model, node_features),))
    values = {item: _argument(model, item.name, node_features) for item in asked}
    args = [value for item, value in values.items() if item.default is item.empty]
    named = {item.name: value for item, value in values.items() if item.default is not item.empty}
    return ExampleInputs(tuple(args), named)


def _argument(model: nn.Module, name: str, node_features: Tensor) -> Any:
    for pattern, make in _ARGUMENTS:
        if pattern.search(name):
            return make(model, name, node_features)
    return node_features


def _data(model: nn.Module, node_features: Tensor) -> Any:
    """The same as one object, for a forward that takes all from it."""
    from torch_geometric.data import Data

    usual = {
        "x": node_features,
        "edge_index": edges(),
        "edge_attr": _edge_features(model, "edge_attr", node_features),
        "edge_weight": floats(EDGES),
        "pos": floats(NODES, 3),
        "z": _atoms(),
        "y": torch.zeros(1, dtype=torch.int64),
        "batch": _one_graph(),
        "num_graphs": 1,
    }
    return Data(**usual | _special_data(model))


def _special_data(model: Any) -> dict[str, Tensor]:
    """What only one class reads."""
    one = torch.ones(1, dtype=torch.int64)
    if type(model).__name__ == "GPSE":  # labels, which are passed through
        heads = model.post_mp
        return {
            "y": floats(NODES, heads.node_target_dim),
            "y_graph": floats(1, heads.graph_target_dim),
        }
    if type(model).__name__ == "RENet":  # one event, and what came before it
        names = "sub rel obj h_sub h_sub_t h_sub_batch h_obj h_obj_t h_obj_batch"
        return {name: one - 1 for name in names.split()}
    return {}


def edges() -> Tensor:
    """A ring, each edge in both directions: int64[2, EDGES], every node has two neighbours."""
    here = torch.arange(NODES)
    there = (here + 1) % NODES
    return torch.stack([torch.cat([here, there]), torch.cat([there, here])])


def _one_graph() -> Tensor:
    return torch.zeros(NODES, dtype=torch.int64)


def _atoms() -> Tensor:
    """Atomic numbers: hydrogen to oxygen."""
    return 1 + torch.arange(NODES) % 8


def _edge_features(model: nn.Module, name: str, node_features: Tensor) -> Any:
    if not node_features.is_floating_point():  # looked up as well
        return torch.arange(EDGES) % 2
    return floats(EDGES, edge_width(model) or node_features.shape[-1])


def _encoding(model: nn.Module, name: str, node_features: Tensor) -> Any:
    """As wide as the first layer that reads the nodes' positions in the graph."""
    return floats(NODES, *node_widths(model)[:1])


def _layers(model: nn.Module, name: str, node_features: Tensor) -> list[Tensor]:
    """What each layer made of the nodes."""
    return [node_features] * int(getattr(model, "num_layers", None) or 3)


_Make = Callable[[nn.Module, str, Tensor], Any]
_WHOLE = re.compile(r"^(data|batched_data|batch|graph|g|batch_data)$")
_ARGUMENTS: tuple[tuple[re.Pattern[str], _Make], ...] = (
    (re.compile(r"edge_(index|label_index)|^adj(_t)?$|^edges$"), lambda *_: edges()),
    (re.compile(r"edge_weight"), lambda *_: floats(EDGES)),
    (re.compile(r"edge_(attr|feat)"), _edge_features),
    (re.compile(r"(edge|rel)_type"), lambda *_: torch.arange(EDGES) % 2),
    (re.compile(r"^(head|tail)_index$"), lambda *_: torch.arange(EDGES) % NODES),
    (re.compile(r"^node_type$|^n_id$"), lambda *_: torch.arange(NODES) % 2),
    (re.compile(r"^batch(_index)?$"), lambda *_: _one_graph()),
    (re.compile(r"^(num_graphs|batch_size)$"), lambda *_: 1),
    (re.compile(r"^(pos|position|normal)s?$"), lambda *_: floats(NODES, 3)),
    (re.compile(r"^z$|^atom"), lambda *_: _atoms()),
    (re.compile(r"^y$|label"), lambda *_: torch.arange(NODES) % 2),
    (re.compile(r"mask"), lambda *_: torch.arange(NODES) % 2 == 0),
    (re.compile(r"^xs$"), _layers),
    (re.compile(r"^pos_enc$"), _encoding),
)
