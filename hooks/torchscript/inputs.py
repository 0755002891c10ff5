"""What a TorchScript graph takes: its inputs have no sizes, so the layers that read them tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .._shared.program_tensors import example

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
_WIDTH_FIRST = ("aten::layer_norm", "aten::addmm", "aten::batch_norm")  # of the weight's sizes
_MOVES = ("aten::unsqueeze", "aten::transpose", "aten::permute")
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
            _argument(value, layer, round_) for value, layer in zip(inputs, layers, strict=True)
        )
        found.setdefault(str([getattr(item, "shape", item) for item in made]), made)
    return list(found.values())


class _Layer(NamedTuple):
    """The first layer that reads an input.

    Attributes:
        kind: Its operator; empty if there is none.
        shape: Of its weight.
        moves: What turns the dimensions of the input before, in order.
    """

    kind: str = ""
    shape: Sequence[int] = ()
    moves: tuple[Any, ...] = ()


def _layer(value: Any, shapes: dict[str, list[int]]) -> _Layer:
    seen: set[str] = set()
    waiting: deque[tuple[Any, tuple[Any, ...]]] = deque([(value, ())])
    for _ in range(_MOST_USES):
        if not waiting:
            break
        value, moves = waiting.popleft()
        for use in value.uses():
            node = use.user
            names = [item.debugName() for item in node.inputs()]
            if node.kind() == "aten::embedding" and use.offset == 1:
                return _Layer("aten::embedding", shapes.get(names[0], []), moves)
            place = _PLACES.get(node.kind())
            if place is not None and use.offset < place and names[place] in shapes:
                return _Layer(node.kind(), shapes[names[place]], moves)
            for output in node.outputs():
                if output.debugName() not in seen:
                    seen.add(output.debugName())
                    waiting.append((output, (*moves, node) if node.kind() in _MOVES else moves))
    return _Layer()


def _before(shape: list[int], moves: tuple[Any, ...]) -> list[int]:
    """The shape of an input that has this one after the moves."""
    for node in reversed(moves):
        given = [item.toIValue() for item in node.inputs()][1:]
        places = list(range(len(shape)))
        try:
            if node.kind() == "aten::unsqueeze":
                if shape[given[0]] == 1:
                    del places[given[0]]
            elif node.kind() == "aten::transpose":
                first, second = given
                places[first], places[second] = places[second], places[first]
            else:
                places = [[place % len(shape) for place in given[0]].index(each) for each in places]
        except (TypeError, ValueError, IndexError):  # not known, or of another layer
            return shape
        shape = [shape[place] for place in places]
    return shape


def _argument(value: Any, layer: _Layer, round_: int) -> Any:
    kind, name = value.type().kind(), value.debugName().lower()
    if kind == "OptionalType":
        return None
    if kind in _PLAIN:
        return _PLAIN[kind]
    made = _tensor(name, layer, round_)
    if kind == "ListType":
        return [made]
    return (made,) if kind == "TupleType" else made


def _tensor(name: str, layer: _Layer, round_: int) -> torch.Tensor:
    side, steps = _SIDES[round_], _STEPS[round_ % len(_STEPS)]
    if "mask" in name:
        return torch.ones(1, steps, dtype=torch.int64)
    if layer.kind == "aten::embedding" or "ids" in name.split("_"):
        return example(torch.int64, (1, steps))
    return example(torch.float32, _before(_read(layer, side, steps, round_), layer.moves))


def _read(layer: _Layer, side: int, steps: int, round_: int) -> list[int]:
    """The shape of what a layer reads."""
    kind, shape = layer.kind, layer.shape
    if "conv" in kind and len(shape) == 3:
        return [1, shape[1], _SAMPLES if shape[1] == 1 else 3000]
    if "conv" in kind and len(shape) == 5:
        return [1, shape[1], 16, min(side, 112), min(side, 112)]
    if "conv" in kind:
        return [1, shape[1] if shape[1] > 1 or round_ else 1, side, side]
    if not kind:
        return [1, 3, side, side]
    width = shape[0] if kind in _WIDTH_FIRST else shape[-1]
    return [1, width] if round_ % 2 else [1, steps, width]
