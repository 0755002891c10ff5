"""What a TorchScript graph takes: its inputs have no sizes, so the layers that read them tell."""

from __future__ import annotations

from typing import Any

import torch

from .._shared.program import example

_SIDES = (224, 256, 384, 299, 240, 192, 512, 128, 32)  # of pictures
_STEPS = (64, 16, 128, 512, 1)  # of sequences
_SAMPLES = 16_000
_MOST_USES = 60  # along which the layer is looked for
_PLACES = {  # of the weight among the arguments
    "aten::_convolution": 1,
    "aten::convolution": 1,
    "aten::conv1d": 1,
    "aten::conv2d": 1,
    "aten::conv3d": 1,
    "aten::linear": 1,
    "aten::matmul": 1,
    "aten::addmm": 2,
    "aten::layer_norm": 2,
    "aten::batch_norm": 1,
}
_PLAIN: dict[str, Any] = {
    "IntType": 1,
    "FloatType": 1.0,
    "BoolType": False,
    "StringType": "",
    "NumberType": 1,
}


def guesses(graph: Any, inputs: list[Any], shapes: dict[str, list[int]]) -> list[tuple[Any, ...]]:
    """Arguments for the inputs of a graph, best first, without repetition.

    Args:
        graph: The graph.
        inputs: Its values that are no weights.
        shapes: Of the weights, by the name of their value.
    """
    layers = [_layer(value, shapes) for value in inputs]
    found: dict[str, tuple[Any, ...]] = {}
    for round_ in range(len(_SIDES)):
        made = tuple(
            _argument(value, kind, shape, round_)
            for value, (kind, shape) in zip(inputs, layers, strict=True)
        )
        found.setdefault(str([getattr(item, "shape", item) for item in made]), made)
    return list(found.values())


def _layer(value: Any, shapes: dict[str, list[int]]) -> tuple[str, list[int]]:
    """The kind of the first layer that reads a value, and the shape of its weight."""
    seen: set[str] = set()
    waiting = [value]
    for _ in range(_MOST_USES):
        if not waiting:
            break
        value = waiting.pop(0)
        for use in value.uses():
            node = use.user
            names = [item.debugName() for item in node.inputs()]
            if node.kind() == "aten::embedding" and use.offset == 1:
                return "aten::embedding", shapes.get(names[0], [])
            place = _PLACES.get(node.kind())
            if place is not None and use.offset < place and names[place] in shapes:
                return node.kind(), shapes[names[place]]
            for output in node.outputs():
                if output.debugName() not in seen:
                    seen.add(output.debugName())
                    waiting.append(output)
    return "", []


def _argument(value: Any, layer: str, shape: list[int], round_: int) -> Any:
    kind, name = value.type().kind(), value.debugName().lower()
    if kind == "OptionalType":
        return None
    if kind in _PLAIN:
        return _PLAIN[kind]
    side, steps = _SIDES[round_], _STEPS[round_ % len(_STEPS)]
    made = _tensor(name, layer, shape, side, steps, round_)
    if kind == "ListType":
        return [made]
    return (made,) if kind == "TupleType" else made


def _tensor(
    name: str, layer: str, shape: list[int], side: int, steps: int, round_: int
) -> torch.Tensor:
    if "mask" in name:
        return torch.ones(1, steps, dtype=torch.int64)
    if layer == "aten::embedding" or "ids" in name.split("_"):
        return example(torch.int64, (1, steps))
    if "conv" in layer and len(shape) == 3:
        long = _SAMPLES if shape[1] == 1 else 3000
        return example(torch.float32, (1, shape[1], long))
    if "conv" in layer and len(shape) == 5:
        return example(torch.float32, (1, shape[1], 16, min(side, 112), min(side, 112)))
    if "conv" in layer:
        channels = shape[1] if shape[1] > 1 or round_ else 1
        return example(torch.float32, (1, channels, side, side))
    if layer:
        width = (
            shape[0]
            if layer in ("aten::layer_norm", "aten::addmm", "aten::batch_norm")
            else shape[-1]
        )
        return example(torch.float32, (1, width) if round_ % 2 else (1, steps, width))
    return example(torch.float32, (1, 3, side, side))
