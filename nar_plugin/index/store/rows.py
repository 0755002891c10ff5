"""What is known of each architecture, as rows of a Parquet table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.mining.macro import MotifCount

_KEPT = 10_000  # rows as Python objects, of some 2 KB each
BACKBONE = "backbone"
FACTS = ("year", "paper", "title", "weights_license", "build", "runtimes")
PLACE = ("x", "y")
YOUNGER = (BACKBONE, *FACTS, *PLACE)  # columns that tables of before there were these lack


@dataclass(frozen=True)
class ArchitectureRow:
    """One distinct graph of the index.

    Attributes:
        name: A model reference, such as `timm:resnet50`.
        names: Every known name of the same graph, `name` first.
        library: Distribution that defines it.
        family: The defining module or model type, such as `resnet`.
        task: Such as `image-classification`.
        params: Number of parameters.
        flops: Floating point operations at batch 1.
        fingerprint: Versioned hash of the graph.
        design: As `fingerprint`, blind to the sizes of the classifier and of the vocabulary.
        licence: SPDX expression of the code.
        url: A page about the architecture, or None.
        motifs: Its blocks by shape, most operations covered first.
        composed: Whether every name of it is a cell of a cross product that a plugin enumerates,
            and not something that a library publishes.
        backbone: A hash that graphs of one backbone share (`nar_plugin.encoder.backbone`); empty
            where nothing says it.
        year: Of the paper's first version, or None.
        paper: Of the family, such as `arXiv:1512.03385`, `doi:10.1038/nature14236` or an address.
        title: Of that paper.
        weights_license: Licence of the weights that `name` names, in the words of its source.
        build: A line of Python that builds `name`.
        runtimes: Which of vLLM, llama.cpp, MLX and TGI implement the family.
        x: Where it stands on the map of the index that it was written with (docs/map.md), from left
            to right, or None.
        y: As `x`, from the bottom to the top.
    """

    name: str
    names: tuple[str, ...]
    library: str
    family: str
    task: str
    params: int
    flops: int
    fingerprint: str
    design: str
    licence: str
    url: str | None = None
    motifs: tuple[MotifCount, ...] = ()
    composed: bool = False
    backbone: str = ""
    year: int | None = None
    paper: str | None = None
    title: str | None = None
    weights_license: str | None = None
    build: str | None = None
    runtimes: tuple[str, ...] = ()
    x: float | None = None
    y: float | None = None


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """The columns of `rows.parquet`: the fields of `ArchitectureRow`, in their order."""
    import pyarrow as pa

    motif = pa.struct(
        [("shape", pa.string()), ("label", pa.string()), ("count", pa.int32()), ("ops", pa.int32())]
    )
    columns = {
        "name": pa.string(),
        "names": pa.list_(pa.field("element", pa.string())),  # as Parquet names it
        "library": pa.string(),
        "family": pa.string(),
        "task": pa.string(),
        "params": pa.int64(),
        "flops": pa.int64(),
        "fingerprint": pa.string(),
        "design": pa.string(),
        "licence": pa.string(),
        "url": pa.string(),
        "motifs": pa.list_(pa.field("element", motif)),
        "composed": pa.bool_(),
        "backbone": pa.string(),
        "year": pa.int64(),
        **dict.fromkeys(("paper", "title", "weights_license", "build"), pa.string()),
        "runtimes": pa.list_(pa.field("element", pa.string())),
        **dict.fromkeys(PLACE, pa.float32()),
    }
    optional = {"url", *FACTS, *PLACE} - {"runtimes"}
    return pa.schema([pa.field(name, kind, name in optional) for name, kind in columns.items()])


def merge_equal_graphs(rows: Iterable[ArchitectureRow]) -> tuple[list[ArchitectureRow], list[int]]:
    """Keep the first row of each fingerprint and give it the names of all of them.

    Returns:
        The distinct rows in the order of their first occurrence, and the position of each of
        them in the input.
    """
    merged: dict[str, ArchitectureRow] = {}
    positions: dict[str, int] = {}
    for position, row in enumerate(rows):
        first = merged.setdefault(row.fingerprint, row)
        positions.setdefault(row.fingerprint, position)
        names = dict.fromkeys((first.name, *first.names, row.name, *row.names))
        composed = first.composed and row.composed
        merged[row.fingerprint] = replace(first, names=tuple(names), composed=composed)
    return list(merged.values()), list(positions.values())


def without_places(rows: Iterable[ArchitectureRow]) -> list[ArchitectureRow]:
    """The rows without their coordinates, which mean nothing on the map of another index."""
    return [replace(row, x=None, y=None) for row in rows]


def to_table(rows: Iterable[ArchitectureRow]) -> pa.Table:
    """The rows as an Arrow table of `schema()`."""
    import pyarrow as pa

    return pa.Table.from_pylist([asdict(row) for row in rows], schema=schema())


def completed(table: pa.Table) -> pa.Table:
    """The rows of a table that lacks younger columns, with nothing in them."""
    import pyarrow as pa

    blanks = {BACKBONE: "", "runtimes": []}
    for field in schema():
        if field.name not in table.schema.names:
            blank = [blanks.get(field.name)] * len(table)
            table = table.append_column(field, pa.array(blank, field.type))
    return table.select(schema().names)


def taken(table: pa.Table, positions: NDArray[np.int64]) -> pa.Table:
    """The rows at these positions. Arrow's own conversion of the numbers would import pandas."""
    import pyarrow as pa

    numbers = np.ascontiguousarray(positions, dtype=np.int64)
    return table.take(
        pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
    )


class RowReader:
    """Builds the Python objects of single rows; the others stay in Arrow.

    Three times as fast as `table.slice(position, 1).to_pylist()`, which ten hits would wait for
    longer than for the search. Those that were built last are kept: queries that are alike look at
    the same rows.

    Args:
        table: Of `schema()`.
    """

    def __init__(self, table: pa.Table) -> None:
        from nar_plugin.mining.macro import MotifCount  # brings torch, which `info` never needs

        whole = table.combine_chunks()
        self._columns = {name: whole[name].chunk(0) for name in whole.schema.names}
        motifs = self._columns.pop("motifs")
        self._stops = motifs.offsets
        self._fields = [motifs.values.field(name) for name in ("shape", "label", "count", "ops")]
        self._motif = MotifCount
        self.at = lru_cache(maxsize=_KEPT)(self._at)

    def _at(self, position: int) -> ArchitectureRow:
        """The row at a position of the table."""
        fields = {name: column[position].as_py() for name, column in self._columns.items()}
        fields["names"], fields["runtimes"] = tuple(fields["names"]), tuple(fields["runtimes"])
        start, stop = self._stops[position].as_py(), self._stops[position + 1].as_py()
        parts = [column.slice(start, stop - start).to_pylist() for column in self._fields]
        return ArchitectureRow(**fields, motifs=tuple(map(self._motif, *parts)))


def rows_of(table: pa.Table) -> list[ArchitectureRow]:
    """Every row of a table as a Python object."""
    if not len(table):
        return []
    reader = RowReader(table)
    return [reader.at(position) for position in range(len(table))]
