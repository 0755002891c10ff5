"""One recorded call as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.canon.node import Node, Read, Scaled
from nar_plugin.tracing.canon.order import order_of
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record
from nar_plugin.tracing.record.samples import Samples

Filling = Callable[[torch.Tensor], "float | None"]

_WHOLE = frozenset("view _unsafe_view reshape unsqueeze expand clone contiguous".split())
_PERMUTING = frozenset({"permute", "transpose", "t"})


class Term(NamedTuple):
    """An operand of a sum or a difference.

    Attributes:
        place: Which values it holds; equal for views of the same ones.
        order: In which order; empty where they follow one another as they were made.
        size: Its number of elements.
        plain: Whether it is as a call made it, and not times or plus a number.
    """

    place: tuple[int, ...]
    order: tuple[Hashable, ...]
    size: int
    plain: bool


@dataclass(slots=True)
class Call:
    """An ATen call with its sources as nodes.

    Attributes:
        name: The operator without namespace, overload and the mark of the in-place form.
        args: Positional arguments.
        kwargs: Keyword arguments.
        tensors: All tensors among the arguments, in order.
        sources: For each of them the node that made it, or PARAM, DATA or CONST.
        out: The results.
        path: Module path that issued it.
        nodes: The nodes so far.
        records: All recorded calls.
        moves: The calls that only moved values, by identity of the result.
        origins: For each tensor the index of the call that made it; negative where none did.
        roots: Tensors before numbers were added to them, by identity of the result.
        head_counts: Heads that were folded into the batch, by identity of the folded tensor.
        filling: Tells the one value that a large constant holds.
        samples: What the batch holds for each of several samples; None where it holds one.
        notes: Left here by a rule for the fusion rules; goes to the node.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tensors: list[torch.Tensor]
    sources: list[int]
    out: Any
    path: str
    nodes: list[Node]
    records: list[Record]
    moves: dict[int, Move]
    origins: list[int]
    roots: dict[int, Read]
    head_counts: dict[int, int]
    filling: Filling
    samples: Samples | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def part(
        self,
        name: str,
        positions: list[int],
        *results: int,
        reading: list[torch.Tensor] | None = None,
    ) -> Call:
        """A simpler call that an expansion makes of this one.

        Args:
            name: The operator.
            positions: Which of this call's tensors it reads.
            *results: Nodes that it reads after them; they have the shape of this call's result.
            reading: The tensors at `positions`, where they are slices of this call's.
        """
        tensors = reading or [self.tensors[position] for position in positions]
        tensors = [*tensors, *([self.out] * len(results))]
        return replace(
            self,
            name=name,
            args=tuple(tensors),
            kwargs={},
            tensors=tensors,
            sources=[*(self.sources[position] for position in positions), *results],
            origins=[*(self.origins[position] for position in positions), *([-1] * len(results))],
            notes={},
        )

    @property
    def of_weights(self) -> bool:
        """Whether parameters and constants alone go in."""
        return max(self.sources) < 0 and DATA not in self.sources

    @property
    def live(self) -> int:
        """How many operands depend on the data."""
        return sum(source >= 0 or source == DATA for source in self.sources)

    def others(self) -> list[tuple[torch.Tensor, int]]:
        """The operands that do not depend on the data, with PARAM or CONST."""
        pairs = zip(self.tensors, self.sources, strict=True)
        return [(tensor, source) for tensor, source in pairs if source in (PARAM, CONST)]

    def size(self, tensor: torch.Tensor, source: int) -> int:
        """The elements that an operand which does not depend on the data has for one sample."""
        if self.samples is None:
            return tensor.numel()
        return self.samples.size(tensor, self.out, learned=source == PARAM)

    def share(self, number: int, weight: torch.Tensor, *, live: bool = False) -> int:
        """Of a number of matrices or groups in a weight those of one sample.

        Args:
            number: In all samples.
            weight: The weight.
            live: Whether the data make it.
        """
        return number if self.samples is None else self.samples.share(number, weight, live=live)

    def reads(self) -> list[Read]:
        """What is read of each input node."""
        return [self.read(place) for place, source in enumerate(self.sources) if source >= 0]

    def live_reads(self) -> list[Read]:
        """What is read of each operand that depends on the data, inputs among them."""
        live = [i for i, source in enumerate(self.sources) if source >= 0 or source == DATA]
        return [self.read(place) for place in live]

    def read(self, place: int) -> Read:
        """What is read of an operand."""
        tensor = self.tensors[place]
        root = self.roots.get(id(tensor))
        if root is None:
            shape = _unspread(tensor)
            root = Read(id(tensor), tensor.numel(), place_of(tensor), self.order(tensor), shape)
        return replace(root, scaled=self.scaled(place))

    def order(self, tensor: torch.Tensor) -> tuple[Hashable, ...]:
        """In which order the values of an operand stand, seen from what made them."""
        return order_of(tensor, self.moves, self.roots)

    def shapes(self) -> list[torch.Size]:
        """The shape of what is read of each input node."""
        pairs = zip(self.tensors, self.sources, strict=True)
        return [tensor.shape for tensor, source in pairs if source >= 0]

    def place(self) -> tuple[Hashable, ...]:
        """Which values the operand from the data holds: equal for views of the same ones."""
        live = next(i for i, source in enumerate(self.sources) if source >= 0 or source == DATA)
        tensor, origin = self.tensors[live], self.origins[live]
        made = self.records[origin].out if origin >= 0 else None
        made = made[0] if isinstance(made, tuple | list) and made else made
        if isinstance(made, torch.Tensor) and (
            made.numel() == tensor.numel() or self._is_repeated(tensor, made)
        ):
            return (origin, *self.order(tensor))
        return (origin, *place_of(tensor))

    def _is_repeated(self, tensor: torch.Tensor, made: torch.Tensor) -> bool:
        """Whether a value was copied as a whole, once for each matrix of a batched product."""
        if tensor.numel() <= made.numel():
            return False
        while tensor is not made and (move := self.moves.get(id(tensor))) is not None:
            if operator_name(move.func) not in _WHOLE:
                return False
            tensor = move.args[0]
        return tensor is made

    def is_transposed(self, tensor: torch.Tensor) -> bool | None:
        """Whether the last two dimensions changed places since a node gave it; None if unknown."""
        swaps = False
        while (move := self.moves.get(id(tensor))) is not None:
            name, (tensor, *dims) = operator_name(move.func), move.args
            if name not in _PERMUTING:
                continue
            rank = tensor.dim()
            order = list(range(rank))
            if name == "permute":
                order = [dim % rank for dim in dims[0]]
            else:
                one, other = [dim % rank for dim in dims] or (rank - 2, rank - 1)
                order[one], order[other] = order[other], order[one]
            if sorted(order[-2:]) != [rank - 2, rank - 1]:
                return None
            swaps ^= order[-2:] != [rank - 2, rank - 1]
        return swaps

    def number(self, place: int) -> float | None:
        """The number that an argument is, or that all elements of a constant tensor are."""
        return self.value(self.args[place] if place < len(self.args) else None)

    def value(self, item: object) -> float | None:
        """The number that something is, or that all elements of a constant tensor are."""
        if isinstance(item, torch.Tensor):
            known = any(item is tensor for tensor, source in self.others() if source == CONST)
            if not known or not item.numel():
                return None
            if item.is_meta:
                return self.filling(item)
            first = item.flatten()[0]
            item = first.item() if bool((item == first).all()) else None
        return float(item) if isinstance(item, int | float) else None

    def scaled(self, place: int = 0) -> Scaled:
        """The numbers that an operand was multiplied with and added to just before.

        Args:
            place: Which of the tensors.
        """
        scale, offset, origin = 1.0, 0.0, self.origins[place]
        source = self.sources[place]
        made = self.nodes[source].out if source >= 0 else None
        while origin >= 0:
            record = self.records[origin]
            if record.out is made:  # a quotient may be a mean
                break
            step = _scaled_by(record)
            if step is None:
                break
            scale, offset = scale * step.scale, offset + scale * step.offset
            origin = record.sources[0]
        return Scaled(scale, offset)


def _unspread(tensor: torch.Tensor) -> tuple[int, ...]:
    """The shape of a tensor, 1 where it is spread by `expand`."""
    if tensor.layout is not torch.strided:
        return tuple(tensor.shape)
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(int(size) if stride else 1 for size, stride in pairs)


def place_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """Where the elements of a slice stand: equal for views of the same ones.

    Returns:
        The memory, the first of them, how many, and strides and sizes, the largest first.
    """
    if tensor.layout is not torch.strided:
        return id(tensor), 0, tensor.numel()
    pairs = zip(tensor.stride(), tensor.shape, strict=True)
    found: list[int] = []
    for stride, size in sorted((pair for pair in pairs if pair[1] != 1), reverse=True):
        if found and found[-2] == stride * size:  # one block with the dimension outside
            found[-2:] = [stride, found[-1] * size]
        else:
            found += [stride, size]
    memory = tensor.untyped_storage()._cdata
    return memory, int(tensor.storage_offset()), tensor.numel(), *found


def _scaled_by(record: Record) -> Scaled | None:
    """What a call with a number does to its first argument; None for any other call."""
    if not hasattr(record.func, "_schema") or record.kwargs or len(record.args) > 2:
        return None
    name = operator_name(record.func)
    if name == "neg":
        return Scaled(-1.0, 0.0)
    number = record.args[1] if len(record.args) == 2 else None
    if isinstance(number, torch.Tensor) and record.sources[-1] == CONST:
        number = number.item() if not number.is_meta and number.numel() == 1 else None
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    if name == "div" and number:
        return Scaled(1.0 / number, 0.0)
    steps = {"add": (1.0, number), "sub": (1.0, -number), "mul": (number, 0.0)}
    steps["rsub"] = (-1.0, number)
    return Scaled(*steps[name]) if name in steps else None


def operator_name(func: Any) -> str:
    """`aten::relu_.default` -> `relu`; private names keep their leading underscore."""
    name: str = func.name().split("::")[1].split(".")[0]
    return name if name.startswith("__") else name.rstrip("_")


def tensors_among(record: Record) -> list[torch.Tensor]:
    """All tensors among a record's arguments, in the order of its sources."""
    found: list[torch.Tensor] = []
    for item in (*record.args, *record.kwargs.values()):
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif type(item) is list or type(item) is tuple:
            found.extend(entry for entry in item if isinstance(entry, torch.Tensor))
    return found
