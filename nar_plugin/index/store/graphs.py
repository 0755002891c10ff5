"""The graphs of an index: what explains a hit, and from which another encoder makes its vectors.

An edge is stored as two small numbers: how far its target is from the target of the edge before,
and how far it reaches back. Edges of equal blocks are then equal texts, and compress to a seventh.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from nar_plugin.errors import IndexIncompatible

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.mining import MacroGraph
    from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

_NUMBER = re.compile(r"(?<![^.])[0-9]+(?![^.])")  # a whole word of a path
BATCH = 64  # graphs that are Python objects at a time


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """The columns: see docs/index-format.md."""
    import pyarrow as pa

    def listed(kind: pa.DataType) -> pa.DataType:
        return pa.list_(pa.field("element", kind))

    columns = {
        "fingerprint": pa.string(),
        "texts": listed(pa.string()),
        "ops": listed(pa.int32()),
        "steps": listed(pa.int32()),
        "reaches": listed(pa.int32()),
        "starts": listed(pa.int32()),
        "paths": pa.string(),
        "classes": pa.string(),
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def to_table(graphs: Iterable[tuple[ArchitectureGraph, IntArray]]) -> pa.Table:
    """The table of graphs, each with the first operation of each motif instance.

    Shapes:
        starts int32[M].
    """
    import pyarrow as pa

    records = map(_record, graphs)
    tables = [schema().empty_table()]
    while batch := list(islice(records, BATCH)):
        tables.append(pa.Table.from_pylist(batch, schema=schema()))
    return pa.concat_tables(tables)


def _record(cut: tuple[ArchitectureGraph, IntArray]) -> dict[str, Any]:
    graph, starts = cut
    steps, reaches = encode_edges(graph.edges)
    numbers = {op: number for number, op in enumerate(dict.fromkeys(graph.ops))}
    return {
        "fingerprint": graph.fingerprint,
        "texts": [json.dumps([op.kind, op.attributes]) for op in numbers],
        "ops": [numbers[op] for op in graph.ops],
        "steps": steps.tolist(),
        "reaches": reaches.tolist(),
        "starts": starts.tolist(),
        "paths": "\n".join(path.replace("\n", " ") for path in graph.paths),
        "classes": encode_classes(graph.classes),
    }


def encode_classes(classes: Mapping[str, str]) -> str:
    """The classes of modules, a line each; `layers.*=Block` where all numbers have one class."""
    by_pattern: dict[str, set[str]] = {}
    for path, name in classes.items():
        by_pattern.setdefault(_NUMBER.sub("*", path), set()).add(name)
    lines = {}
    for path, name in classes.items():
        pattern = _NUMBER.sub("*", path)
        lines[pattern if len(by_pattern[pattern]) == 1 else path] = name
    kept = (f"{path}={name}" for path, name in lines.items() if "\n" not in f"{path}{name}")
    return "\n".join(kept)


def decode_classes(text: str, paths: Iterable[str]) -> dict[str, str]:
    """The classes that `encode_classes` was given, of the modules that paths lead through."""
    known = dict(line.rsplit("=", 1) for line in text.splitlines() if "=" in line)
    classes: dict[str, str] = {}
    for path in paths:
        while path not in classes:
            name = known.get(path) or known.get(_NUMBER.sub("*", path))
            if name:
                classes[path] = name
            if not path:
                break
            path = path.rpartition(".")[0]
    return classes


def encode_edges(edges: IntArray) -> tuple[IntArray, IntArray]:
    """How far each target is from the one before, and how far each edge reaches back.

    Shapes:
        edges [E, 2], rows (source, target); the results [E].
    """
    sources, targets = edges.reshape(-1, 2).T
    return np.diff(targets, prepend=0), targets - sources


def decode_edges(steps: Sequence[int] | IntArray, reaches: Sequence[int] | IntArray) -> IntArray:
    """int32[E, 2]: the edges that `encode_edges` was given.

    Raises:
        ValueError: There are not as many steps as reaches, or a number is too large.
    """
    if len(steps) != len(reaches):
        raise ValueError("an edge lacks one of its ends")
    targets = np.cumsum(np.asarray(steps, dtype=np.int64))
    sources = targets - np.asarray(reaches, dtype=np.int64)
    exact = np.stack([sources, targets], axis=1)
    edges = exact.astype(np.int32)
    if not np.array_equal(edges, exact):
        raise ValueError("an edge leads out of it")
    return edges


def batches(table: pa.Table) -> Iterator[pa.Table]:
    """The table in parts of so many graphs as may be Python objects at a time."""
    for start in range(0, len(table), BATCH):
        yield table.slice(start, BATCH)


def macro_graphs(table: pa.Table) -> Iterator[MacroGraph]:
    """The macro graphs of a table.

    Raises:
        IndexIncompatible: A row is no graph that is cut into motifs.
    """
    from nar_plugin.mining import macro_of

    for graph, spans, classes in _rows(table):
        known = decode_classes(classes, dict.fromkeys(graph.paths))
        yield macro_of(replace(graph, classes=known), spans)


def bare_graphs(table: pa.Table) -> Iterator[ArchitectureGraph]:
    """The graphs of a table without classes and motifs, which would take eight times as long.

    Raises:
        IndexIncompatible: As `macro_graphs`.
    """
    return (graph for graph, _, _ in _rows(table))


def _rows(table: pa.Table) -> Iterator[tuple[ArchitectureGraph, list[tuple[int, int]], str]]:
    """Graph, spans of its motifs, and classes as text of each row."""
    from nar_plugin.tracing.graph import ArchitectureGraph

    for batch in batches(table):
        for row in batch.to_pylist():
            try:
                distinct = [_op(text) for text in row["texts"]]
                if row["ops"] and min(row["ops"]) < 0:
                    raise ValueError("an operation has no text")
                ops = tuple(distinct[number] for number in row["ops"])
                edges = decode_edges(row["steps"], row["reaches"])
                paths = tuple(row["paths"].split("\n"))
                starts = row["starts"]
                spans = list(zip(starts, [*starts[1:], len(ops)], strict=True))
                _check(len(ops), edges, spans)
                if len(paths) != len(ops):
                    raise ValueError("it has not as many paths as operations")
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                raise IndexIncompatible(
                    f"The stored graph {row['fingerprint'][:80]!r} cannot be read: "
                    f"{str(error)[:200]}. `nar index update` fetches a sound index."
                ) from error
            yield ArchitectureGraph(ops, edges, paths), spans, row["classes"]


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
