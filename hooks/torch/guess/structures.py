"""Guesses at inputs that are dicts, lists and packed sequences, or whose steps come first."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.layer_inputs import STEPS
from ..._shared.layers import floats, stems_of, width_of
from .arguments import EDGES, companions
from .reading import read
from .slots import Slot

_PAIR = re.compile(r"(?:typing\.)?(?:[Tt]uple|tuple)\[(.*)\]")
_LIST = re.compile(r"(?:typing\.)?(?:[Ll]ist|Sequence|Iterable)\[(?:torch\.)?Tensor\]")
_IDS = (2, 3)  # dimensions of ids, and of sequences of vectors

Mains = Callable[[nn.Module, list[str]], Iterator[Tensor]]


def structured(
    model: nn.Module, wanted: Mapping[str, Any], keywords: Mapping[str, Any], mains: Mains
) -> Iterator[ExampleInputs]:
    """One guess, where the source or an annotation says that an input is no tensor.

    Example:
        ```python
        next(structured(two_towers, {"batch": ""}, {}, mains)).args
        # ({"image": float[1, 3, 224, 224], "text": int64[1, 64]},)
        ```

    Args:
        model: Any module.
        wanted: The positional arguments that the forward needs, and their annotations.
        keywords: The same by name.
        mains: Guesses at the first argument of a part.
    """
    slots = {name: slot for name, slot in read(model).items() if name in {**wanted, **keywords}}
    for name, annotation in {**wanted, **keywords}.items():
        _annotate(slots.setdefault(name, Slot(name)), annotation)
    packed = [
        name for name, item in {**wanted, **keywords}.items() if "PackedSequence" in str(item)
    ]
    if not packed and not any(slot.has_parts() for slot in slots.values()):
        return
    maker = _Maker(model, list(slots), mains)
    made = {
        name: _packed(model, slots[name]) if name in packed else maker.value(slots[name])
        for name in slots
    }
    yield ExampleInputs(
        tuple(made[name] for name in wanted), {name: made[name] for name in keywords}
    )


def walked(model: nn.Module) -> bool:
    """Whether a loop of the forward goes along the first dimension of an input: its steps."""
    return any(slot.is_walked for slot in read(model).values())


def steps_first(inputs: ExampleInputs) -> ExampleInputs:
    """The same sequences with their steps before their samples."""

    def turned(value: Any) -> Any:
        right = issubclass(type(value), Tensor) and value.dim() in _IDS and len(value) == 1
        return value.transpose(0, 1) if right else value

    args = tuple(map(turned, inputs.args))
    kwargs = {name: turned(value) for name, value in inputs.kwargs.items()}
    return ExampleInputs(args, kwargs, inputs.batch, inputs.blind)


def _annotate(slot: Slot, annotation: Any) -> None:
    """Let an input have as many items as a tuple is said to have."""
    text = annotation if issubclass(type(annotation), str) else inspect.formatannotation(annotation)
    match = _PAIR.fullmatch(text)
    if match and "..." not in match[1] and "PackedSequence" not in text and not slot.has_parts():
        parts = re.split(r",\s*(?![^\[]*\])", match[1])
        if all("Tensor" in part for part in parts):
            for place in range(len(parts)):
                slot.at(place)
    elif _LIST.fullmatch(text) and not slot.has_parts():
        slot.at(0)


def _packed(model: nn.Module, slot: Slot) -> PackedSequence:
    """One sequence, packed."""
    reader = next(iter(slot.readers), model)
    stems = stems_of(reader) or stems_of(model)
    layer = stems.get("sequence") or next(iter(stems.values()), None)
    width = width_of(layer) if layer is not None else STEPS
    return PackedSequence(floats(STEPS, width), torch.ones(STEPS, dtype=torch.int64))


class _Maker:
    """Makes values for slots.

    Args:
        model: The whole model.
        names: Of all arguments.
        mains: Guesses at the first argument of a part.
    """

    def __init__(self, model: nn.Module, names: list[str], mains: Mains) -> None:
        self._model = model
        self._names = names
        self._mains = mains

    def value(self, slot: Slot) -> Any:
        """A dict, a list, or a tensor for whoever reads it."""
        if slot.keys:
            return {key: self.value(part) for key, part in slot.keys.items()}
        if slot.items:
            return [self.value(slot.at(place)) for place in range(max(slot.items) + 1)]
        return self._tensor(slot)

    def _tensor(self, slot: Slot) -> Any:
        names = [slot.name, *self._names]
        found = None
        for reader in slot.readers:
            found = next(self._mains(reader, names), None)
            if found is not None:
                break
        if found is not None and not EDGES.search(slot.name):
            return found
        if found is None:
            found = next(self._mains(self._model, names), floats(1, 64))
        known = companions(slot.name, found, self._model)
        return next((item for item in known if item is not None), found)
