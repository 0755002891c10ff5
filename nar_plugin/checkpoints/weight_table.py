"""The shapes that the rows of an index need, derived from their stored graphs.

Two operations of one module and one text share their weights: a head that looks at five levels of
a pyramid is there once. So an operation is needed at least as often as it has modules, and at most
as often as it stands in the graph.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nar_plugin.checkpoints.compositions import by_rest
from nar_plugin.checkpoints.parameters import Parameter, Shape, elements, parameters
from nar_plugin.errors import IndexIncompatible
from nar_plugin.tracing.graph import Op

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
BATCH = 1024  # graphs that are looked at at once: all of them would take a gigabyte
VECTOR = 0.25  # weight of a bias or a norm beside that of a matrix
UNKNOWN = 0.6  # weight of a matrix whose shape no row has
_LARGE = 1 << 20  # numbers of a table that has the words of a language


@dataclass(frozen=True, eq=False)
class WeightTable:
    """Which shapes each of n rows needs, and how often.

    Attributes:
        shapes: The S different shapes.
        rows: int64[P], the row of each of the P pairs of row and shape, in order.
        keys: int64[P], its shape.
        least: int64[P], how often the row needs it at least.
        most: int64[P], and at most.
        buffers: int64[P], how many of these are buffers.
        packed: int64[S], of how many experts a shape packs the matrices; 0 where of none.
        classes: Of each row, the class of the model that was traced.
        count: n.

    Shapes:
        S different shapes, P pairs.
    """

    shapes: tuple[Shape, ...]
    rows: Ints
    keys: Ints
    least: Ints
    most: Ints
    buffers: Ints
    packed: Ints
    classes: tuple[str, ...]
    count: int

    @cached_property
    def numbers(self) -> dict[Shape, int]:
        """The number of each shape."""
        return {shape: number for number, shape in enumerate(self.shapes)}

    @cached_property
    def by_rest(self) -> dict[Shape, dict[int, Shape]]:
        """The shapes by what is left of them without one side."""
        return by_rest(self.shapes)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """float64[S]: how many numbers a tensor of each shape holds."""
        return np.array([elements(shape) for shape in self.shapes], dtype=np.float64)

    @cached_property
    def needed(self) -> NDArray[np.float64]:
        """float64[n]: what the least that each row needs tells in all."""
        return self.by_row(self.rows, self.weights[self.keys] * self.least)

    @cached_property
    def buffered(self) -> NDArray[np.float64]:
        """float64[n]: how many numbers each row has in buffers."""
        return self.by_row(self.rows, self.sizes[self.keys] * self.buffers)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """float64[S]: how much a tensor of each shape tells; a matrix of one row alone tells 1."""
        having = np.bincount(self.keys, minlength=len(self.shapes))
        rarity = np.log(1 + self.count / np.maximum(having, 1)) / np.log(1 + self.count)
        return np.asarray(rarity * np.array([_kind(shape) for shape in self.shapes]))

    def by_row(self, rows: Ints, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n]: the sum of each row's values."""
        return np.bincount(rows, values, self.count).astype(np.float64, copy=False)

    def weigh(self, shape: Shape) -> float:
        """How much a tensor of any shape tells."""
        number = self.numbers.get(shape)
        return UNKNOWN * _kind(shape) if number is None else float(self.weights[number])

    @cached_property
    def twins(self) -> Ints:
        """int64[n]: a number for each row, equal for rows that need the same."""
        columns = np.stack([self.keys, self.least, self.most, self.buffers], axis=1)
        groups: dict[bytes, int] = {}
        starts = self.starts.tolist()
        contents = (columns[a:b].tobytes() for a, b in pairwise(starts))
        return np.array([groups.setdefault(each, len(groups)) for each in contents])

    @cached_property
    def starts(self) -> Ints:
        """int64[n + 1]: where the pairs of each row begin."""
        return np.searchsorted(self.rows, np.arange(self.count + 1))


def _kind(shape: Shape) -> float:
    return 1.0 if len(shape) > 1 else VECTOR if shape else 0.0


def weight_table(graphs: pa.Table) -> WeightTable:
    """The table of stored graphs (`nar_plugin.index.store.graphs`).

    Raises:
        IndexIncompatible: An operation has no text, or a text cannot be read.
    """
    shapes: dict[Shape, int] = {}
    packed: dict[int, int] = {}
    parts = []
    for start in range(0, len(graphs), BATCH):
        needed, rows = _needed(graphs.slice(start, BATCH), shapes, packed)
        parts.append((rows + start, needed))
    none = np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    rows, needed = (np.concatenate(each) for each in zip(*(parts or [none]), strict=True))
    counts = np.zeros(len(shapes), dtype=np.int64)
    for number, experts in packed.items():
        counts[number] = experts
    classes = _classes(graphs["classes"])
    keys, least, most, buffers = np.ascontiguousarray(needed.T)
    return WeightTable(
        tuple(shapes), rows, keys, least, most, buffers, counts, classes, len(graphs)
    )


def _needed(
    graphs: pa.Table, shapes: dict[Shape, int], packed: dict[int, int]
) -> tuple[Ints, Ints]:
    """What some graphs need: shape, least, most and buffers of each pair, and the row of each.

    Args:
        graphs: Some of the stored ones.
        shapes: The numbers of shapes, to which new ones are added.
        packed: Of how many experts a shape packs the matrices, likewise.

    Shapes:
        int64[P, 4] and int64[P].
    """
    texts, text_rows = _flat(graphs["texts"])
    ops, op_rows = _flat(graphs["ops"])
    known = texts.dictionary_encode()
    needs = [_needs(word) for word in known.dictionary.to_pylist()]
    # The text of each operation: its number in the row, then among all texts.
    first = np.searchsorted(text_rows, np.arange(len(graphs)))
    places = first[op_rows] + ops.to_numpy(zero_copy_only=False).astype(np.int64)
    codes = known.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if len(places) and (places.min() < 0 or places.max() >= len(codes)):
        raise IndexIncompatible("A stored graph has an operation without a text.")
    op_texts = codes[places]
    mask = np.array([bool(need) for need in needs], dtype=bool)[op_texts]
    modules = _modules(graphs["paths"], mask)
    return _counted(op_rows[mask], op_texts[mask], modules, needs, shapes, packed)


def _classes(column: pa.ChunkedArray) -> tuple[str, ...]:
    """The class of the whole model, on the first line that has no path before its `=`."""
    texts = (str(text) for text in column.to_pylist())
    return tuple(f"\n{text}".partition("\n=")[2].partition("\n")[0] for text in texts)


def _flat(column: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """The values of a column of lists, and the row of each."""
    whole = column.combine_chunks()
    lengths = np.diff(whole.offsets.to_numpy(zero_copy_only=False))
    return whole.flatten(), np.repeat(np.arange(len(whole)), lengths)


@lru_cache(maxsize=65536)
def _needs(text: str) -> list[Parameter]:
    try:
        kind, attributes = json.loads(text)
        return list(parameters(Op(str(kind), tuple((str(a), b) for a, b in attributes))))
    except (ValueError, TypeError, RecursionError, ZeroDivisionError) as error:
        raise IndexIncompatible(f"A stored operation cannot be read: {text[:80]!r}") from error


def _modules(paths: pa.ChunkedArray, mask: NDArray[np.bool_]) -> Ints:
    """A number for the module of each operation, equal for equal paths."""
    import pyarrow.compute as pc

    split = pc.split_pattern(paths.combine_chunks(), "\n").flatten()
    if len(split) != len(mask):
        raise IndexIncompatible("A stored graph has not as many paths as operations.")
    import pyarrow as pa

    kept = split.filter(pa.array(mask))
    numbers = kept.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.int64)


def _counted(
    rows: Ints,
    kinds: Ints,
    modules: Ints,
    needs: list[list[Parameter]],
    shapes: dict[Shape, int],
    packed: dict[int, int],
) -> tuple[Ints, Ints]:
    """Sum up what the operations of each row need."""
    texts = max(len(needs), 1)
    pairs, times, _ = _runs(rows * texts + kinds)
    paths = int(modules.max(initial=0)) + 1
    distinct, _, _ = _runs((rows * texts + kinds) * paths + modules)
    _, own, _ = _runs(distinct // paths)
    parts = []
    for text, wanted in enumerate(needs):
        for need in wanted:
            number = shapes.setdefault(need.shape, len(shapes))
            if need.experts and len(need.shape) > 1:
                packed[number] = need.experts
            parts.append((text, number, need.least, need.most, need.buffers, need.table))
    table = np.array(parts, dtype=np.int64).reshape(-1, 6)
    begin = np.searchsorted(table[:, 0], np.arange(texts + 1))
    pair_text = pairs % texts
    each = np.diff(begin)[pair_text]
    which = np.repeat(np.arange(len(pairs)), each)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(each) - each, each)
    used = table[begin[pair_text[which]] + inside]
    size = max(len(shapes), 1)
    places = (pairs // texts)[which] * size + used[:, 1]
    order = np.argsort(places, kind="stable")
    joined, _, begins = _runs(places[order])

    def summed(values: Ints) -> Ints:
        return np.add.reduceat(values[order], begins) if len(begins) else values[:0]

    least = summed(used[:, 2] * own[which])
    # An output layer may share the table of words, as the tables of encoder and decoder may.
    tables = summed(used[:, 5] * own[which])
    sizes = np.array([float(elements(shape)) for shape in shapes])[joined % size]
    shared = np.where(
        sizes >= _LARGE, tables - (least == tables), np.minimum(tables, least - tables)
    )
    shared = np.where(tables > 0, shared, 0)
    columns = (
        joined % size,
        least - shared,
        summed(used[:, 3] * times[which]),
        summed(used[:, 4] * own[which]),
    )
    return np.stack(columns, axis=1), joined // size


def _runs(values: Ints) -> tuple[Ints, Ints, Ints]:
    """The different values in order, how often each occurs, and where it begins when sorted.

    `np.unique` of numpy 2.3 and newer hashes, which takes 20 times as long here.
    """
    ordered = np.sort(values, kind="stable")
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[begins], np.diff(begins, append=len(ordered)), begins
