"""The graphs of an index, from which another encoder makes its vectors anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from nar_plugin.errors import IndexIncompatible

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.mining import MacroGraph
    from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

BATCH = 64  # graphs that are Python objects at a time


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """The columns: see docs/index-format.md."""
    import pyarrow as pa

    def listed(kind: pa.DataType) -> pa.DataType:
        return pa.list_(pa.field("element", kind))

    columns = {
        "fingerprint": pa.string(),
        "ops": listed(pa.string()),
        "edges": listed(pa.int32()),
        "starts": listed(pa.int32()),
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def to_table(graphs: Iterable[tuple[ArchitectureGraph, IntArray]]) -> pa.Table:
    """The table of graphs, each with the first operation of each motif instance.

    Shapes:
        starts int32[M].
    """
    import pyarrow as pa

    records = (
        {
            "fingerprint": graph.fingerprint,
            "ops": [json.dumps([op.kind, op.attributes]) for op in graph.ops],
            "edges": graph.edges.ravel().tolist(),
            "starts": starts.tolist(),
        }
        for graph, starts in graphs
    )
    tables = [schema().empty_table()]
    while batch := list(islice(records, BATCH)):
        tables.append(pa.Table.from_pylist(batch, schema=schema()))
    return pa.concat_tables(tables)


def batches(table: pa.Table) -> Iterator[pa.Table]:
    """The table in parts of so many graphs as may be Python objects at a time."""
    for start in range(0, len(table), BATCH):
        yield table.slice(start, BATCH)


def macro_graphs(table: pa.Table) -> Iterator[MacroGraph]:
    """The macro graphs of a table, without module paths and so without labels of motifs.

    Raises:
        IndexIncompatible: A row is no graph that is cut into motifs.
    """
    from nar_plugin.mining import macro_of
    from nar_plugin.tracing.graph import ArchitectureGraph

    for batch in batches(table):
        for row in batch.to_pylist():
            try:
                ops = tuple(_op(text) for text in row["ops"])
                edges = np.array(row["edges"], dtype=np.int32).reshape(-1, 2)
                starts = row["starts"]
                spans = list(zip(starts, [*starts[1:], len(ops)], strict=True))
                _check(len(ops), edges, spans)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise IndexIncompatible(
                    f"The stored graph {row['fingerprint'][:80]!r} cannot be read: "
                    f"{str(error)[:200]}. `nar index update` fetches a sound index."
                ) from error
            yield macro_of(ArchitectureGraph(ops, edges, ("",) * len(ops)), spans)


@lru_cache(maxsize=65536)
def _op(text: str) -> Any:
    from nar_plugin.tracing.graph import Op

    kind, attributes = json.loads(text)
    return Op(str(kind), tuple((str(name), value) for name, value in attributes))


def _check(count: int, edges: IntArray, spans: list[tuple[int, int]]) -> None:
    """Refuse edges or spans that lead out of the graph: nothing else bounds the memory of both."""
    if not count or not spans or spans[0][0] != 0:
        raise ValueError("it is empty, or its motifs do not begin with its operations")
    if any(start >= stop for start, stop in spans):
        raise ValueError("its motifs are not in order")
    if len(edges) and not (
        edges.min() >= 0 and edges.max() < count and (edges[:, 0] < edges[:, 1]).all()
    ):
        raise ValueError("an edge leads out of it or backwards")
