"""Ground truth for motifs: the stacks of blocks that a model's own modules declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from torch import nn

from nar_plugin.tracing.graph import ArchitectureGraph

_BLOCK = re.compile(r"Block|Bottle|Layer|Unit|Cell|Residual|Transformer|Outlooker|Module$|Encoder$")
_NO_BLOCK = re.compile(
    r"Stage|Norm(Act)?(\dd)?$|LayerScale|Act$|Stem|(Down|Up|Mid)\w*Block|Downsamp|Upsamp|Merg|Embed"
)
_STEM = re.compile(r"(^|\.)\w*stem\w*(\.|$)")
SMALLEST_BLOCK = 5  # operations; an element below is a layer such as convolution and norm
_DEPTH = re.compile(r"layers?$|depths?$|blocks?$")


@dataclass(frozen=True)
class Stack:
    """Blocks of one class that follow one another in one container.

    Attributes:
        name: Path of the container, and the class of the blocks.
        starts: Position in `graph.ops` at which each block begins; their number is the depth.
        stop: The position behind the last operation of the last block.
        blocks: The operations of each block, by their positions in `graph.ops`, ascending.
    """

    name: str
    starts: tuple[int, ...]
    stop: int
    blocks: tuple[tuple[int, ...], ...]

    def placed(self, place: Sequence[int]) -> Stack:
        """The same blocks where the operations stand in another order."""
        blocks = sorted(tuple(sorted(place[item] for item in block)) for block in self.blocks)
        stop = max(block[-1] + 1 for block in blocks)
        return Stack(self.name, tuple(block[0] for block in blocks), stop, tuple(blocks))


class _Call(NamedTuple):
    """One call of a block, in the order of the forward."""

    start: int
    stop: int
    stack: str
    block: str
    operations: tuple[int, ...]


@dataclass(frozen=True)
class Outline:
    """What the ground truth needs to know of a model, without its tensors.

    Attributes:
        classes: Class name of each module path.
        children: Names of the children of each module path that has some.
        sequences: Paths of sequences and lists, whose children are elements.
        declared: `_no_split_modules` and `_repeated_blocks` of the model and its parts.
        depths: Every number of layers that a configuration states, as a tuple; several where it
            states one for each stage.
    """

    classes: Mapping[str, str]
    children: Mapping[str, tuple[str, ...]]
    sequences: frozenset[str]
    declared: frozenset[str]
    depths: frozenset[tuple[int, ...]]

    def states(self, depth: int) -> bool:
        """Whether a configuration states this number of layers."""
        return any(depth in stated for stated in self.depths)


def outline(model: nn.Module) -> Outline:
    """The module tree of a model, the block classes that it declares and the depths it states."""
    modules = dict(model.named_modules(remove_duplicate=False))
    declared: set[str] = set()
    depths: set[tuple[int, ...]] = set()
    for module in model.modules():
        for name in ("_repeated_blocks", "_no_split_modules"):
            declared.update(getattr(type(module), name, None) or ())
        depths.update(_depths(getattr(module, "config", None)))
    return Outline(
        {path: type(module).__name__ for path, module in modules.items()},
        {
            path: tuple(name for name, _ in module.named_children())
            for path, module in modules.items()
        },
        frozenset(
            path
            for path, module in modules.items()
            if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict)
        ),
        frozenset(declared),
        frozenset(depths),
    )


def _depths(config: Any) -> Iterator[tuple[int, ...]]:
    values = config.to_dict() if hasattr(config, "to_dict") else config
    if not isinstance(values, Mapping):
        return
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _depths(value)
        elif _DEPTH.search(str(key)):
            numbers = tuple(value) if isinstance(value, list | tuple) else (value,)
            if numbers and all(type(number) is int and number > 0 for number in numbers):
                yield numbers


def stacks(graph: ArchitectureGraph, model: Outline) -> list[Stack]:
    """The stacks of two or more blocks that a forward passes through.

    A block is an element of a sequence (or one of several siblings whose names differ in their
    number) whose class the library declares as one (`_no_split_modules`, `_repeated_blocks`), and
    where it declares none, whose class is named as blocks are; the innermost of those counts.
    A module that is called several times is as many blocks; where a stack is passed through again
    after other operations, it is a stack for each time.

    Args:
        graph: A trace with module paths.
        model: Outline of the traced model.
    """
    blocks = _block_paths(graph, model)
    positions: dict[str, list[int]] = {}
    for position, path in enumerate(graph.paths):
        for prefix in _prefixes(path):
            if prefix in blocks:
                positions.setdefault(prefix, []).append(position)
                break
    calls = sorted(
        _Call(found[0], found[-1] + 1, _stack_name(block, model), block, tuple(found))
        for block, places in positions.items()
        for found in _calls(graph, places)
    )
    result: list[Stack] = []
    group: list[_Call] = []
    for number, call in enumerate(calls, 1):
        group.append(call)
        behind = calls[number] if number < len(calls) else None
        if behind is None or behind.stack != call.stack or _begins_anew(behind, group):
            apart = all(one.stop <= other.start for one, other in pairwise(group))
            if len(group) > 1 and apart:  # modules that take turns are no stack
                starts = tuple(call.start for call in group)
                operations = tuple(call.operations for call in group)
                result.append(Stack(call.stack, starts, call.stop, operations))
            group = []
    return result


def _begins_anew(call: _Call, group: Sequence[_Call]) -> bool:
    """Whether a block that came before others comes again, with something in between."""
    again = call.block in {before.block for before in group} - {group[-1].block}
    return again and call.start > group[-1].stop


def _block_paths(graph: ArchitectureGraph, model: Outline) -> set[str]:
    """The elements that are blocks, none inside another."""
    elements = _candidates(graph, model)
    inside: dict[str, int] = {path: 0 for path in elements}
    for path in elements:
        for prefix in _prefixes(_parent(path)):
            if prefix in inside:
                inside[prefix] += 1
                break
    holds: dict[str, list[int]] = {}
    for path, count in inside.items():
        holds.setdefault(elements[path], []).append(count)
    declaring = {
        prefix
        for path, name in elements.items()
        if name in model.declared
        for prefix in _prefixes(_parent(path))
    }
    # A class that always holds as many inner blocks is a block; where it varies, it is a stage,
    # as it is where a configuration states these numbers as the depths of stages.
    blocks = {
        path
        for path, name in elements.items()
        if name in model.declared
        or (
            path not in declaring
            and len(set(holds[name])) == 1
            and tuple(holds[name]) not in model.depths
        )
    }
    return {path for path in blocks if not any(p in blocks for p in _prefixes(_parent(path)))}


def _candidates(graph: ArchitectureGraph, model: Outline) -> dict[str, str]:
    """Class of each element that could be a block by its name and by its size."""
    sizes: dict[str, int] = {}
    for path in graph.paths:
        for prefix in _prefixes(path):
            sizes[prefix] = sizes.get(prefix, 0) + 1
    found: dict[str, str] = {}
    by_class: dict[str, list[int]] = {}
    for path in _elements(model):
        name = model.classes[path]
        if path in sizes and not _STEM.search(path) and _names_block(name, model):
            found[path] = name
            by_class.setdefault(name, []).append(sizes[path])
    small = {name for name, all_ in by_class.items() if median(all_) < SMALLEST_BLOCK}
    return {path: name for path, name in found.items() if name not in small}


def _names_block(name: str, model: Outline) -> bool:
    if "Stage" in name:
        return False
    return name in model.declared or bool(_BLOCK.search(name) and not _NO_BLOCK.search(name))


def _elements(model: Outline) -> Iterator[str]:
    for path, names in model.children.items():
        prefix = f"{path}." if path else ""
        if path in model.sequences:
            yield from (prefix + name for name in names)
            continue
        families: dict[tuple[str, str], list[str]] = {}
        for name in names:
            key = (re.sub(r"\d+", "#", name), model.classes[prefix + name])
            families.setdefault(key, []).append(prefix + name)
        for family in families.values():
            if len(family) > 1:
                yield from family


def _calls(graph: ArchitectureGraph, positions: list[int]) -> list[list[int]]:
    """The operations of one module, apart for each call when all calls are equal."""
    first = (graph.paths[positions[0]], graph.ops[positions[0]])
    begins = [
        place
        for place, position in enumerate(positions)
        if (graph.paths[position], graph.ops[position]) == first
    ]
    parts = [
        positions[begin:end]
        for begin, end in zip(begins, [*begins[1:], len(positions)], strict=True)
    ]
    kinds = {tuple(graph.ops[position].kind for position in part) for part in parts}
    return parts if len(kinds) == 1 and len(parts[0]) > 2 else [positions]


def _stack_name(path: str, model: Outline) -> str:
    container = _parent(path) or re.sub(r"\d+", "#", path)
    name = model.classes[path]
    return f"{container}: {'declared' if name in model.declared else name}"


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = _parent(path)
