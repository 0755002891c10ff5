"""The corpus on disk: names, distinct graphs and the operations that they are made of.

Three Parquet files, so that an operation's text stands there once:
`names.parquet` (one row for each name), `graphs.parquet` (one for each fingerprint) and
`ops.parquet` (one for each distinct operation).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nar_plugin.encoder.sizes import weights
from nar_plugin.errors import IndexUnavailable
from nar_plugin.index.store.folder import current, replace_files
from nar_plugin.index.store.graphs import decode_edges, encode_edges
from nar_plugin.mining import MINING_VERSION, MacroGraph, MotifCount, macro_of, mine
from nar_plugin.mining.order import mining_order
from nar_plugin.tracing.fingerprint import topology
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op

_NAMES = pa.schema(
    [
        *((key, pa.string()) for key in ("name", "library", "version", "hub_id", "url")),
        *((key, pa.string()) for key in ("task", "licence", "family", "parent", "coarse")),
        *((key, pa.string()) for key in ("hint", "defined_in", "method", "fingerprint")),
        *((key, pa.string()) for key in ("failure", "tracer", "work")),
        *((key, pa.string()) for key in ("paper", "title", "weights_license", "build")),
        *((key, pa.bool_()) for key in ("composed", "constructed")),
        *((key, pa.int64()) for key in ("params", "flops", "year")),
        ("seconds", pa.float32()),
    ]
)
_MOTIF = pa.struct(
    [("shape", pa.string()), ("label", pa.string()), ("count", pa.int32()), ("ops", pa.int32())]
)
_GRAPHS = pa.schema(
    [
        *((key, pa.string()) for key in ("fingerprint", "design", "topology", "method", "inputs")),
        *((key, pa.string()) for key in ("source", "paths", "classes", "mining")),
        ("ops", pa.list_(pa.int32())),
        ("steps", pa.list_(pa.int32())),  # edges: see `nar_plugin.index.store.graphs`
        ("reaches", pa.list_(pa.int32())),
        ("starts", pa.list_(pa.int32())),
        ("motifs", pa.list_(_MOTIF)),
    ]
)
# Libraries whose names and module paths people know; others build on them.
WELL_KNOWN = frozenset(("timm", "torchvision", "transformers", "diffusers", "litgpt"))
_HEAD = "names.parquet"  # moved first when a corpus is written
_LEVEL = 9  # of zstd: 28 MB in 12 s; 19 had written 7 MB after five minutes, and was stopped
_OPS = pa.schema([("kind", pa.string()), ("attributes", pa.string())])


@dataclass
class StoredGraph:
    """A distinct graph as the files hold it.

    Attributes:
        fingerprint: Of the graph.
        design: Its hash without the sizes of head and vocabulary.
        method: How it was traced.
        inputs: With what, in words.
        source: The name that it was recorded from, of those that share it the first.
        ops: Kind and attributes (JSON) of the n operations.
        edges: int32[2 * E], source and target in turn.
        paths: The n module paths, a line each.
        classes: Lines `path=class` of the modules that issued operations, and their parents.
        starts: int32[M], the first operation of each motif instance; empty before mining.
        motifs: The motif table.
        topology: Its hash without any width, which groups near-duplicates.
        mining: The version of the mining that made `starts` and `motifs`.
    """

    fingerprint: str
    design: str
    method: str
    inputs: str
    source: str
    ops: list[tuple[str, str]]
    edges: IntArray
    paths: str
    classes: str
    starts: IntArray
    motifs: list[dict[str, Any]]
    topology: str = ""
    mining: str = ""

    def graph(self) -> ArchitectureGraph:
        """The architecture graph, without parameters and FLOPs."""
        classes = dict(line.split("=", 1) for line in self.classes.splitlines())
        return _graph(self.ops, self.edges, tuple(self.paths.split("\n")), classes)

    def weights(self) -> dict[str, int]:
        """Weights of convolutions (`conv`) and of linear layers (`matmul`), by their sizes."""
        found = {"conv": 0, "matmul": 0}
        labels = {"conv": "conv", "linear": "matmul"}
        for kind, attributes in self.ops:
            if kind in labels:
                found[labels[kind]] += weights(_op(kind, attributes))
        return found

    @property
    def is_mined(self) -> bool:
        """Whether the motifs were found by this version of the mining, and the topology."""
        return self.mining == MINING_VERSION and bool(self.topology)

    def mine(self) -> None:
        """Find motifs and topology, unless this version of the mining has done so already."""
        if self.is_mined:
            return
        graph = self.graph()
        macro = mine(graph)
        self._reorder(mining_order(graph), macro.graph.edges)
        self.starts = macro.spans[:, 0].astype(np.int32)
        self.motifs = [asdict(row) for row in macro.table()]
        self.topology = topology(graph)
        self.mining = MINING_VERSION

    def _reorder(self, order: list[int], edges: IntArray) -> None:
        """Keep the operations in the order in which the graph was cut."""
        paths = self.paths.split("\n")
        self.ops = [self.ops[index] for index in order]
        self.paths = "\n".join(paths[index] for index in order)
        self.edges = edges.ravel()


@dataclass(frozen=True)
class CorpusGraph:
    """One distinct architecture and every name that has it.

    Attributes:
        graph: Its canonical graph, without module paths; parameters and FLOPs, which a
            resolution can change, stand with each name.
        fingerprint: Of the graph.
        design: Its hash without the sizes of head and vocabulary.
        topology: Its hash without any width.
        starts: int32[M], the first operation of each motif instance.
        motifs: The motif table, with labels from the traced model.
        names: The rows of the names that share it: name, library, family, task and so on.
    """

    graph: ArchitectureGraph
    fingerprint: str
    design: str
    topology: str
    starts: IntArray
    motifs: tuple[MotifCount, ...]
    names: tuple[dict[str, Any], ...]

    @property
    def is_composed(self) -> bool:
        """Whether every name is a design put together from a backbone and a head."""
        return all(name["composed"] for name in self.names)

    @property
    def is_searched(self) -> bool:
        """Whether it is an architecture that an index holds and a measurement counts.

        Graphs that are known from the module tree alone are not, nor those without a learned
        parameter, which are fixed functions.
        """
        return all(name["params"] for name in self.names) and self.graph.method != "modules"

    def macro(self) -> MacroGraph:
        """The macro graph, with the motifs that were found when the corpus was built."""
        stops = [*self.starts[1:].tolist(), len(self.graph)]
        return macro_of(self.graph, list(zip(self.starts.tolist(), stops, strict=True)))


def write_corpus(
    folder: Path, names: Iterable[dict[str, Any]], graphs: Iterable[StoredGraph]
) -> None:
    """Write a corpus, whole or not at all, sorted, so that equal corpora are equal files.

    Args:
        folder: Is created when missing.
        names: One record for each name, with `failure` where it has no graph.
        graphs: One for each fingerprint, mined.
    """
    graphs = sorted(graphs, key=lambda graph: graph.fingerprint)
    texts = sorted({op for graph in graphs for op in graph.ops})
    numbers = {text: number for number, text in enumerate(texts)}
    rows = [
        {
            **vars(graph),
            "ops": np.array([numbers[op] for op in graph.ops], dtype=np.int32),
            **dict(zip(("steps", "reaches"), encode_edges(graph.edges), strict=True)),
        }
        for graph in graphs
    ]
    ops = [{"kind": kind, "attributes": attributes} for kind, attributes in texts]
    files = {
        "graphs.parquet": _parquet(_GRAPHS, rows),
        "ops.parquet": _parquet(_OPS, ops),
    }
    head = _parquet(_NAMES, sorted(names, key=lambda name: str(name["name"])))
    replace_files(folder, head, files, head=_HEAD)


def _parquet(schema: pa.Schema, records: Sequence[dict[str, Any]]) -> bytes:
    """The content of one file."""
    columns = [
        pa.array([row.get(key) for row in records], schema.field(key).type) for key in schema.names
    ]
    sink = pa.BufferOutputStream()
    table = pa.table(columns, schema=schema)
    pq.write_table(table, sink, compression="zstd", compression_level=_LEVEL)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_names(folder: Path) -> list[dict[str, Any]]:
    """Every name of a corpus with its labels, and its `failure` where it has no graph."""
    rows: list[dict[str, Any]] = _table(folder, "names").to_pylist()
    return rows


def read_stored(folder: Path) -> Iterator[StoredGraph]:
    """Every distinct graph of a corpus, as `write_corpus` takes it."""
    ops = [(row["kind"], row["attributes"]) for row in _table(folder, "ops").to_pylist()]
    for row in _rows(_table(folder, "graphs")):
        row["ops"] = [ops[number] for number in row["ops"]]
        row["edges"] = decode_edges(row.pop("steps"), row.pop("reaches")).ravel()
        row["starts"] = np.array(row["starts"], dtype=np.int32)
        yield StoredGraph(**row)


def read_corpus(folder: Path) -> list[CorpusGraph]:
    """The distinct graphs of a corpus, in order of their first name.

    Raises:
        IndexUnavailable: The folder holds no corpus.
    """
    ops = [_op(row["kind"], row["attributes"]) for row in _table(folder, "ops").to_pylist()]
    sharing: dict[str, list[dict[str, Any]]] = {}
    for name in read_names(folder):
        if name["fingerprint"]:
            sharing.setdefault(name["fingerprint"], []).append(name)
    found = []
    for row in _rows(_table(folder, "graphs", without=("paths", "classes"))):
        count = len(row["ops"])
        graph = ArchitectureGraph(
            ops=tuple(ops[number] for number in row["ops"]),
            edges=decode_edges(row["steps"], row["reaches"]),
            paths=("",) * count,
            method=row["method"],
            inputs=row["inputs"],
        )
        found.append(
            CorpusGraph(
                graph,
                row["fingerprint"],
                row["design"],
                row.get("topology", ""),
                np.array(row["starts"], dtype=np.int32),
                tuple(MotifCount(**motif) for motif in row["motifs"]),
                tuple(sharing[row["fingerprint"]]),
            )
        )
    return sorted(found, key=lambda item: str(item.names[0]["name"]))


def read_modules(folder: Path) -> dict[str, tuple[str, str]]:
    """The module paths of each graph's operations and their classes, by fingerprint, as stored."""
    wanted = ("fingerprint", "paths", "classes")
    others = tuple(key for key in _GRAPHS.names if key not in wanted)
    table = _table(folder, "graphs", without=others)
    rows = zip(*(table[key].to_pylist() for key in wanted), strict=True)
    return {fingerprint: (paths, classes) for fingerprint, paths, classes in rows}


def _op(kind: str, attributes: str) -> Op:
    return Op(kind, tuple((key, value) for key, value in json.loads(attributes)))


def _graph(
    ops: list[tuple[str, str]], edges: IntArray, paths: tuple[str, ...], classes: dict[str, str]
) -> ArchitectureGraph:
    known = {text: _op(*text) for text in set(ops)}
    return ArchitectureGraph(tuple(known[op] for op in ops), edges.reshape(-1, 2), paths, classes)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows one by one: all of them as Python objects would take gigabytes."""
    for batch in table.to_batches(max_chunksize=64):
        yield from batch.to_pylist()


def _table(folder: Path, name: str, *, without: tuple[str, ...] = ()) -> pa.Table:
    path = current(folder, f"{name}.parquet", _HEAD)
    if not path.is_file():
        raise IndexUnavailable(f"{path} is missing. Build the corpus with `nar dev corpus build`.")
    file = pq.ParquetFile(path)
    return file.read([column for column in file.schema_arrow.names if column not in without])
