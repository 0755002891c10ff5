"""The corpus on disk: names, distinct graphs and the operations that they are made of.

Three Parquet files, so that an operation's text stands there once:
`names.parquet` (one row for each name), `graphs.parquet` (one for each fingerprint) and
`ops.parquet` (one for each distinct operation).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nar_plugin.errors import IndexUnavailable
from nar_plugin.mining import MotifCount
from nar_plugin.tracing.graph import ArchitectureGraph, Op

_NAMES = pa.schema(
    [
        *((key, pa.string()) for key in ("name", "library", "version", "family", "task")),
        *((key, pa.string()) for key in ("licence", "url", "fingerprint", "failure")),
        ("params", pa.int64()),
        ("flops", pa.int64()),
        ("seconds", pa.float32()),
    ]
)
_MOTIF = pa.struct(
    [("shape", pa.string()), ("label", pa.string()), ("count", pa.int32()), ("ops", pa.int32())]
)
_GRAPHS = pa.schema(
    [
        *((key, pa.string()) for key in ("fingerprint", "design", "method", "inputs")),
        ("ops", pa.list_(pa.int32())),
        ("edges", pa.list_(pa.int32())),
        ("motifs", pa.list_(_MOTIF)),
    ]
)
_OPS = pa.schema([("kind", pa.string()), ("attributes", pa.string())])


@dataclass(frozen=True)
class CorpusGraph:
    """One distinct architecture and every name that has it.

    Attributes:
        graph: Its canonical graph, without module paths; parameters and FLOPs, which a
            resolution can change, stand with each name.
        design: Its hash without the sizes of head and vocabulary.
        motifs: The motif table, with labels from the traced model.
        names: The rows of the names that share it: name, library, family, task and so on.
    """

    graph: ArchitectureGraph
    fingerprint: str
    design: str
    motifs: tuple[MotifCount, ...]
    names: tuple[dict[str, Any], ...]


def write_corpus(folder: Path, names: list[dict[str, Any]], graphs: list[dict[str, Any]]) -> None:
    """Write the records of a build, sorted by name, so that equal corpora are equal files.

    Args:
        folder: Is created when missing.
        names: One record for each name, with `failure` where it has no graph.
        graphs: One record for each fingerprint; `ops` holds (kind, attributes) pairs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graphs = sorted(graphs, key=lambda graph: str(graph["fingerprint"]))
    texts = sorted({tuple(op) for graph in graphs for op in graph["ops"]})
    numbers = {text: number for number, text in enumerate(texts)}
    rows = [{**graph, "ops": [numbers[tuple(op)] for op in graph["ops"]]} for graph in graphs]
    ops = [{"kind": kind, "attributes": attributes} for kind, attributes in texts]
    names = sorted(names, key=lambda name: str(name["name"]))
    for file, schema, records in (
        ("names", _NAMES, names),
        ("graphs", _GRAPHS, rows),
        ("ops", _OPS, ops),
    ):
        records = [{key: record.get(key) for key in schema.names} for record in records]
        table = pa.Table.from_pylist(records, schema=schema)
        pq.write_table(table, folder / f"{file}.parquet", compression="zstd", compression_level=19)


def graph_of(ops: Iterable[tuple[str, str]], edges: list[int], **others: Any) -> ArchitectureGraph:
    """A graph from (kind, attributes as JSON) pairs and the flat list of its edges.

    Args:
        ops: The operations.
        edges: int[2 * E], source and target in turn.
        **others: Further fields of the graph.
    """
    return ArchitectureGraph(
        ops=tuple(
            Op(kind, tuple((key, value) for key, value in json.loads(attributes)))
            for kind, attributes in ops
        ),
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
        **others,
    )


def read_names(folder: Path) -> list[dict[str, Any]]:
    """Every name of a corpus with its labels, and its `failure` where it has no graph."""
    rows: list[dict[str, Any]] = _table(folder, "names").to_pylist()
    return rows


def read_corpus(folder: Path) -> list[CorpusGraph]:
    """The distinct graphs of a corpus, in order of their first name.

    Raises:
        IndexUnavailable: The folder holds no corpus.
    """
    ops = [
        Op(row["kind"], tuple((key, value) for key, value in json.loads(row["attributes"])))
        for row in _table(folder, "ops").to_pylist()
    ]
    sharing: dict[str, list[dict[str, Any]]] = {}
    for name in read_names(folder):
        if name["fingerprint"]:
            sharing.setdefault(name["fingerprint"], []).append(name)
    table = _table(folder, "graphs")
    found = []
    for row in table.to_pylist():
        count = len(row["ops"])
        graph = ArchitectureGraph(
            ops=tuple(ops[number] for number in row["ops"]),
            edges=np.array(row["edges"], dtype=np.int32).reshape(-1, 2),
            paths=("",) * count,
            method=row["method"],
            inputs=row["inputs"],
        )
        found.append(
            CorpusGraph(
                graph,
                row["fingerprint"],
                row["design"],
                tuple(MotifCount(**motif) for motif in row["motifs"]),
                tuple(sharing[row["fingerprint"]]),
            )
        )
    return sorted(found, key=lambda item: str(item.names[0]["name"]))


def _table(folder: Path, name: str) -> pa.Table:
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise IndexUnavailable(f"{path} is missing. Build the corpus with `nar corpus build`.")
    return pq.read_table(path)
