"""Builds the corpus: every named architecture of the installed libraries, traced once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib.metadata import packages_distributions
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from packaging.utils import canonicalize_name
from tqdm import tqdm

from nar_plugin import manager
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION
from nar_plugin.train.corpus.corpus import (
    WELL_KNOWN,
    StoredGraph,
    read_names,
    read_stored,
    write_corpus,
)
from nar_plugin.train.corpus.environments import environments, read_listing
from nar_plugin.train.corpus.fact_labels import labelled
from nar_plugin.train.corpus.mixing import attends, convolves
from nar_plugin.train.corpus.workers import Engine, is_current, read_records, trace_all, version_of

RECORDS = "records.jsonl"


def build_corpus(
    folder: Path,
    work: Path,
    *,
    workers: int,
    limit: int | None = None,
    libraries: Collection[str] | None = None,
    isolated: bool = False,
    engine: Engine = "processes",
) -> None:
    """Bring a corpus up to date: trace new and changed names, label all, write.

    A name is traced again when its library has another version or the tracer another vocabulary.
    Names of a library that is not installed stay as they are.

    Args:
        folder: Holds the Parquet files of the corpus before, if any, and receives the new ones.
        work: Holds the finished records of all builds; delete it to trace what it has again.
        workers: Number of processes.
        limit: Look at only so many names, evenly spread over the list; None for all. What the
            corpus has of the others stays.
        libraries: Distributions to look at, such as `timm`; None for all that are installed. What
            the corpus has of the others stays.
        isolated: Whether to trace the libraries of `environments.toml` as well.
        engine: `processes` of this machine or those of a `ray` cluster. Environments of their own
            are always of this machine.

    Raises:
        NarError: An environment could not be made, the engine is not installed, or a library lists
            no names.
    """
    wanted = listed_apart(libraries)
    if missing := set(libraries or ()) - {item.library for item in wanted}:
        raise NarError(f"No plugin lists names of {', '.join(sorted(missing))}: see `nar plugins`.")
    some = wanted if limit is None else wanted[:: max(1, len(wanted) // limit)][:limit]
    records = [work / RECORDS]
    trace_news(some, folder, records[0], workers=workers, engine=engine)
    for environment in environments() if isolated else ():
        records.append(work / f"{environment.name}.jsonl")
        places = work / "environments"
        listing = environment.trace(places, folder, records[-1], workers=workers)
        wanted += read_listing(listing)
    before = _rows_before(folder)
    stored = read_stored(folder) if before else ()
    names, graphs = merged(before, stored, wanted, records)
    news = [graph for graph in graphs if not graph.is_mined]
    for graph in tqdm(news, unit="graph", desc="mining", disable=not news):
        graph.mine()
    if news or {row["name"]: row for row in names} != before:
        write_corpus(folder, names, graphs)


def trace_news(
    wanted: list[NamedArchitecture],
    folder: Path,
    records: Path,
    *,
    workers: int,
    engine: Engine = "processes",
) -> None:
    """Trace those names that a corpus lacks or has from another version.

    Args:
        wanted: The names, with their labels.
        folder: The corpus as it is, if there is one.
        records: Receives a JSON line for each.
        workers: Number of processes.
        engine: Where they run.
    """
    before = _rows_before(folder)
    news = [item for item in wanted if not is_current(before.get(item.name, {}))]
    trace_all(news, records, workers=workers, engine=engine)


def _rows_before(folder: Path) -> dict[str, dict[str, Any]]:
    try:
        return {row["name"]: row for row in read_names(folder)}
    except IndexUnavailable:
        return {}


def merged(
    before: dict[str, dict[str, Any]],
    stored: Iterable[StoredGraph],
    wanted: list[NamedArchitecture],
    records: Iterable[Path],
) -> tuple[list[dict[str, Any]], list[StoredGraph]]:
    """The names and graphs of a corpus after a build.

    Args:
        before: The rows of the corpus before, by name.
        stored: Its graphs.
        wanted: What the installed libraries list; the labels are taken from here.
        records: Files with what was traced since.
    """
    installed = {item.library for item in wanted}
    rows = {name: row for name, row in before.items() if row["library"] not in installed}
    listed = {item.name: item for item in wanted}
    rows |= {name: row for name, row in before.items() if name in listed}
    graphs = {graph.fingerprint: graph for graph in stored}
    for record in chain.from_iterable(map(read_records, records)):
        if record["name"] in listed and _supersedes(record, before.get(record["name"])):
            graph = record.pop("graph", None)
            rows[record["name"]] = {**record, "work": json.dumps(record.get("work"))}
            if graph is not None:
                _keep_first(graphs, _stored(graph, record["name"]))
    used = {row["fingerprint"] for row in rows.values()}
    kept = [graph for graph in graphs.values() if graph.fingerprint in used]
    attention = {graph.fingerprint for graph in kept if attends(graph)}
    convolutional = {graph.fingerprint for graph in kept if convolves(graph)}
    weights = {graph.fingerprint: graph.weights() for graph in kept if graph.method == "modules"}
    names = [
        labelled(
            {**row, **_labels(listed.get(name))},
            row["fingerprint"] in attention,
            weights.get(row["fingerprint"]),
            convolutional=row["fingerprint"] in convolutional,
        )
        for name, row in rows.items()
    ]
    return names, kept


def _supersedes(record: dict[str, Any], row: dict[str, Any] | None) -> bool:
    """Whether a record says something newer than the row: of this tracer or another version."""
    if row is None:
        return True
    if record.get("tracer") != VOCABULARY_VERSION:
        return False
    if all(record.get(key) == row[key] for key in ("version", "tracer")):
        return False
    return version_of(record["library"]) in (None, record.get("version"))


def _labels(item: NamedArchitecture | None) -> dict[str, Any]:
    """What a plugin says of a name, in the words of the corpus."""
    if item is None:
        return {}
    said = asdict(item)
    return {**said, "defined_in": said.pop("family")}


def _keep_first(graphs: dict[str, StoredGraph], graph: StoredGraph) -> None:
    """Keep, of those that share a fingerprint, the graph of the name whose paths people know best.

    That is one of a library that others build on, and the shortest, such as `transformers:bert` of
    all that have BERT's layers.
    """
    known = graphs.get(graph.fingerprint)
    if known is None or _order(graph.source) < _order(known.source):
        graphs[graph.fingerprint] = graph


def _order(name: str) -> tuple[bool, int, str]:
    return name.partition(":")[0] not in WELL_KNOWN, len(name), name


def _stored(graph: dict[str, Any], name: str) -> StoredGraph:
    classes = sorted(graph["classes"].items())
    return StoredGraph(
        **{key: graph[key] for key in ("fingerprint", "design", "method", "inputs")},
        source=name,
        ops=[_interned.setdefault(op, op) for op in map(tuple, graph["ops"])],
        edges=np.array(graph["edges"], dtype=np.int32),
        paths="\n".join(graph["paths"]),
        classes="\n".join(f"{path}={owner}" for path, owner in classes),
        starts=np.zeros(0, dtype=np.int32),
        motifs=[],
    )


_interned: dict[tuple[str, str], tuple[str, str]] = {}


def list_architectures(distributions: Collection[str] | None = None) -> list[NamedArchitecture]:
    """Every name that the plugins list, once.

    Args:
        distributions: List the names of these alone, without importing any other library: what
            one changes when it is imported (PyKEEN refuses the subclasses that MONAI makes)
            may keep another from being listed. None for all.
    """
    libraries = None if distributions is None else _import_names(distributions)
    found: dict[str, NamedArchitecture] = {}
    for _, architectures in manager.call_each("nar_architectures", libraries=libraries):
        for item in architectures:
            if distributions is None or item.library in distributions:
                found.setdefault(item.name, item)
    return list(found.values())


def listed_apart(distributions: Collection[str] | None = None) -> list[NamedArchitecture]:
    """What `list_architectures` gives, by a process that ends: it imports every library, 1 GB."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(list_architectures, distributions).result()


def _import_names(distributions: Iterable[str]) -> set[str]:
    """What can be imported from some distributions, such as `doctr` from python-doctr."""
    wanted = set(map(canonicalize_name, distributions))
    return {
        name
        for name, owners in packages_distributions().items()
        if not wanted.isdisjoint(map(canonicalize_name, owners))
    }
