"""The last resort: the layers of a model in the order of its module tree, without its forward."""

from __future__ import annotations

import re

import numpy as np
from torch import nn

from nar_plugin import isolation
from nar_plugin.errors import TraceError
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.tracing.record.recorder import EndlessLoop
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.forward import follow_on_meta
from nar_plugin.tracing.twin.parts import children, named_modules, parameters


def from_modules(model: nn.Module, why: str) -> ArchitectureGraph:
    """A chain of a model's layers, in the order in which they were registered.

    A layer is a module without submodules; each is traced by itself, so its operations and
    attributes are those of any other trace. What no guess runs is one opaque operation named
    after its class. The edges between layers, branches and residuals among them, are unknown.

    Args:
        model: Any module; it is only read.
        why: Why the forward could not be followed.
    """
    ops: list[Op] = []
    paths: list[str] = []
    edges: list[tuple[int, int]] = []
    known: dict[str, tuple[tuple[Op, ...], list[list[int]]]] = {}
    for path, layer in named_modules(model):
        if next(children(layer), None) is not None or type(layer).__name__ in _NO_OPERATION:
            continue
        text = f"{type(layer).__module__}.{_words(layer)}"
        if text not in known:
            isolation.tell(f"the layer {path} of {type(model).__name__}, by itself,")
            known[text] = _layer(layer)
        inside, links = known[text]
        start = len(ops)
        ops += inside
        paths += [path] * len(inside)
        edges += [(start + source, start + target) for source, target in links]
        if start and inside:
            edges.append((start - 1, start))
    return ArchitectureGraph(
        ops=tuple(ops),
        edges=np.array(sorted(edges), dtype=np.int32).reshape(-1, 2),
        paths=tuple(paths),
        classes={path: type(layer).__name__ for path, layer in named_modules(model)},
        params=sum(parameter.numel() for parameter in parameters(model)),
        method="modules",
        reason=why,
        inputs="none",
    )


_MOST_CALLS = 50_000  # of a layer that walks along its input
_NO_OPERATION = frozenset({"Identity", "Dropout", "ModuleList", "ModuleDict", "Sequential"})


def _words(layer: nn.Module) -> str:
    """What tells one layer from another: its own description, if it can be had."""
    try:
        return repr(layer)
    except Exception:
        return f"{type(layer).__name__} at {id(layer)}"


def _layer(layer: nn.Module) -> tuple[tuple[Op, ...], list[list[int]]]:
    for guess, _ in example.guesses(layer):
        try:
            graph = follow_on_meta(layer, guess, "a layer by itself", most_calls=_MOST_CALLS)
        except TraceError:
            break
        except (Exception, SystemExit, EndlessLoop):  # the next guess, or else one opaque operation
            continue
        return graph.ops, graph.edges.tolist()
    return (Op(_snake_case(type(layer).__name__)),), []


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
