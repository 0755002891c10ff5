"""Moves a corpus to another vocabulary without tracing all of it anew.

A change of the tracer changes few graphs. Names that share library, module, way of tracing and
kinds of operations, each with the kinds before and behind it, are a group; some of each are
traced, the quickest first. Where their graphs are what they were, the whole group is carried over
with new hashes. The others stay as they are, of the old vocabulary, and a build traces them. A
change that neighbouring kinds do not show, such as one of a width, may differ inside a group: then
a whole build is due.

Whoever changes a rule often knows which kinds of operations it can touch. Of the groups without any
of them one in ten is traced, to see that it is so; the others are carried over unseen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nar_plugin.tracing import fingerprint as hashes
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION
from nar_plugin.train.corpus.build import RECORDS, listed_apart, trace_news
from nar_plugin.train.corpus.corpus import StoredGraph, read_names, read_stored, write_corpus
from nar_plugin.train.corpus.environments import environments
from nar_plugin.train.corpus.workers import read_records

_ONE_IN = 20  # of a group that are traced; of a large one six
_UNTOUCHED = 10  # one in so many groups without a touched kind is traced
_COUNTS = ("params", "flops")

Row = dict[str, Any]


def move_corpus(
    folder: Path,
    work: Path,
    *,
    workers: int,
    isolated: bool = False,
    touched: Collection[str] = (),
) -> int:
    """Carry over what the tracer of today traces as that of the corpus did.

    Args:
        folder: Holds the corpus, and receives it again.
        work: Holds the finished records of all builds; a build finds there what this traced.
        workers: Number of processes.
        isolated: Whether the libraries of `environments.toml` are moved as well.
        touched: What the change can touch, as `words` says it; nothing says that it is all.

    Returns:
        How many names are left for a build.

    Raises:
        NarError: An environment could not be made.
    """
    names = read_names(folder)
    graphs = {graph.fingerprint: graph for graph in read_stored(folder)}
    groups = grouped([row for row in names if not _is_moved(row)], graphs)
    unseen = untouched(groups, graphs, touched) if touched else []
    carried = {row["name"] for rows in unseen for row in rows}
    groups = [rows for rows in groups if rows[0]["name"] not in carried]
    sample = {row["name"] for rows in groups for row in _some(rows)}
    with TemporaryDirectory() as before:
        marked = [row if row["name"] in sample else _moved(row) for row in names]
        write_corpus(Path(before), marked, graphs.values())
        records = [work / RECORDS]
        trace_news(listed_apart(), Path(before), records[0], workers=workers)
        for environment in environments() if isolated else ():
            records.append(work / f"{environment.name}.jsonl")
            places = work / "environments"
            environment.trace(places, Path(before), records[-1], workers=workers)
    found = {
        record["name"]: record
        for file in records
        for record in read_records(file)
        if record["name"] in sample and _is_moved(record)
    }
    rehashed = {old: rehash(graph) for old, graph in graphs.items()}
    kept = carried_over(groups, found, {old: graph.fingerprint for old, graph in rehashed.items()})
    kept |= carried
    rows = [_moved(row, rehashed) if row["name"] in kept else row for row in names]
    used = {row["fingerprint"] for row in rows}
    both = [*graphs.values(), *rehashed.values()]
    write_corpus(folder, rows, {g.fingerprint: g for g in both if g.fingerprint in used}.values())
    return sum(not _is_moved(row) for row in rows)


def grouped(names: Iterable[Row], graphs: Mapping[str, StoredGraph]) -> list[list[Row]]:
    """Names that share library, module, way of tracing and `_kinds`, the quickest first.

    Args:
        names: Rows of a corpus.
        graphs: Its graphs, by fingerprint.
    """
    kinds = {key: _kinds(graph) for key, graph in graphs.items()}
    groups: dict[Hashable, list[Row]] = defaultdict(list)
    for row in names:
        about = kinds.get(row["fingerprint"], row["failure"])
        groups[row["library"], row["defined_in"], row["method"], about].append(row)
    return [sorted(rows, key=lambda row: (row["seconds"], row["name"])) for rows in groups.values()]


def untouched(
    groups: Iterable[list[Row]], graphs: Mapping[str, StoredGraph], touched: Collection[str]
) -> list[list[Row]]:
    """Groups without anything that is touched, but for one in ten of them.

    Names without a graph have nothing that is touched.

    Args:
        groups: See `grouped`.
        graphs: The graphs of the corpus, by fingerprint.
        touched: What a change can touch, as `words` says it.
    """
    said = {row["fingerprint"] for rows in groups for row in rows[:1]}
    spared = {key for key in said if key not in graphs or not words(graphs[key]) & set(touched)}
    without = [rows for rows in groups if rows[0]["fingerprint"] in spared]
    return [rows for place, rows in enumerate(without) if place % _UNTOUCHED]


def carried_over(
    groups: Iterable[list[Row]], found: Mapping[str, Row], hashed: Mapping[str, str]
) -> set[str]:
    """The names of groups of which all that were traced have the graph and the counts they had.

    Args:
        groups: See `grouped`.
        found: The records of the names that were traced.
        hashed: What the fingerprint of each stored graph is in this vocabulary.
    """
    kept: set[str] = set()
    for rows in groups:
        traced = [row for row in rows if row["name"] in found]
        same = [
            found[row["name"]]["fingerprint"] == hashed.get(row["fingerprint"])
            and all(found[row["name"]].get(key) == row[key] for key in _COUNTS)
            for row in traced
        ]
        if traced and all(same):
            kept.update(row["name"] for row in rows)
    return kept


def rehash(graph: StoredGraph) -> StoredGraph:
    """A stored graph with the hashes of this vocabulary."""
    whole = graph.graph()
    return replace(
        graph,
        fingerprint=hashes.fingerprint(whole),
        design=hashes.design(whole),
        topology=hashes.topology(whole),
    )


def _kinds(graph: StoredGraph) -> frozenset[Hashable]:
    """The kinds of operations, each with the sets of those before and behind it."""
    kinds = [kind for kind, _ in graph.ops]
    before: list[set[str]] = [set() for _ in kinds]
    behind: list[set[str]] = [set() for _ in kinds]
    for source, target in graph.edges.reshape(-1, 2).tolist():
        before[target].add(kinds[source])
        behind[source].add(kinds[target])
    return frozenset(zip(kinds, map(frozenset, before), map(frozenset, behind), strict=True))


def words(graph: StoredGraph) -> set[str]:
    """What a change can be said to touch.

    `add` is a kind of operation; `mul>add` an addition that reads a product, `mul>>add` one that
    alone reads it; `cat<` a value that several operations read; `>mean` an operation that reads no
    other.
    """
    kinds = [kind for kind, _ in graph.ops]
    readers: dict[int, set[int]] = defaultdict(set)
    reading = set()
    for source, target in graph.edges.reshape(-1, 2).tolist():
        readers[source].add(target)
        reading.add(target)
    said = set(kinds) | {f">{kind}" for place, kind in enumerate(kinds) if place not in reading}
    for source, targets in readers.items():
        said |= {f"{kinds[source]}>{kinds[target]}" for target in targets}
        if len(targets) == 1:
            said.add(f"{kinds[source]}>>{kinds[min(targets)]}")
        else:
            said.add(f"{kinds[source]}<")
    return said


def _some(rows: list[Row]) -> list[Row]:
    """The quickest of a group, and a few of the others."""
    return rows[:: max(_ONE_IN, len(rows) // 5)] if len(rows) > 1 else rows


def _is_moved(row: Mapping[str, Any]) -> bool:
    return bool(row["tracer"] == VOCABULARY_VERSION)


def _moved(row: Row, graphs: Mapping[str, StoredGraph] | None = None) -> Row:
    """A row of this vocabulary, with its graph's new hash where one is given."""
    moved = {**row, "tracer": VOCABULARY_VERSION}
    if graphs is not None and row["fingerprint"]:
        moved["fingerprint"] = graphs[row["fingerprint"]].fingerprint
    return moved
