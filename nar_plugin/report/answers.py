"""The parts of an answer, from rows of an index and what was traced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.known import Known
from nar_plugin.index.ranking import Ranked
from nar_plugin.mining import MotifCount
from nar_plugin.report.asked import IndexInfo, Query
from nar_plugin.report.hit import Hit, shared_motifs
from nar_plugin.report.similar_blocks import AskedBlock

if TYPE_CHECKING:
    from nar_plugin.tracing.graph import ArchitectureGraph
    from nar_plugin.tracing.run.question import Traced


def hit_of(rank: int, ranked: Ranked, query: Query) -> Hit:
    """A found row as a hit, with the blocks that it shares with the model."""
    match = ranked.match
    row = match.row
    exact = row.fingerprint == query.fingerprint
    return Hit(
        rank=rank,
        name=row.name,
        names=row.names,
        score=match.score,
        family=row.family,
        library=row.library,
        task=row.task,
        params=row.params,
        flops=row.flops,
        fingerprint=row.fingerprint,
        exact=exact,
        shared_motifs=shared_motifs(query.motifs, row.motifs),
        variants=tuple(variant.name for variant in ranked.variants),
        licence=row.licence,
        url=row.url,
        overlay=match.overlay,
        year=row.year,
        paper=row.paper,
        title=row.title,
        weights_license=row.weights_license,
        build=row.build,
        runtimes=row.runtimes,
    )


def query_of_model(
    model: Any, asked: Traced, motifs: tuple[MotifCount, ...], *, changed: bool = False
) -> Query:
    """What is asked about: a model that was traced.

    Args:
        model: As it was given.
        asked: Its graph and where it came from.
        motifs: Its blocks.
        changed: See `Query`.
    """
    graph, source = asked.graph, asked.provenance
    given = issubclass(type(model), (str, Path))  # a reference, or a path of a folder or file
    name = str(model) if given else (source.name if source else None)
    return Query(
        name=name,
        library=source.library if source else None,
        params=graph.params,
        flops=graph.flops,
        ops=len(graph),
        fingerprint=graph.fingerprint,
        design=graph.design,
        method=graph.method,
        reason=graph.reason,
        inputs=graph.inputs,
        unread=graph.unread,
        class_name=asked.class_name,
        changed=changed,
        motifs=motifs,
    )


def own_sizes(model: Query | ArchitectureGraph) -> dict[str, int | None]:
    """What `mine` means in conditions on the hits, by key; None where it is not known."""
    followed = model.method != "modules"
    return {"params": model.params, "flops": model.flops if followed else None}


def block_asked(model: Any, asked: Traced, block: ArchitectureGraph, at: str) -> AskedBlock:
    """What is asked about: a module of a model that was traced."""
    source = asked.provenance
    name = model if isinstance(model, str) else source.name if source else None
    return AskedBlock(
        model=name or f"this {asked.class_name}",
        at=at,
        label=asked.graph.classes.get(at, ""),
        ops=len(block),
        reason=asked.graph.reason if asked.graph.method == "modules" else "",
    )


def query_of_known(name: str, known: Known) -> Query:
    """What is asked about: a name that the index knows; sizes are those of its row's first name."""
    return query_of_row(name, known.row, library=known.library)


def query_of_row(
    name: str, row: ArchitectureRow, reason: str = "", library: str | None = None
) -> Query:
    """What is asked about: a row, and why it answers for a name that cannot be built here.

    Args:
        name: What was asked for, one of the row's names.
        row: The row.
        reason: Why the name was not built; empty where it need not be.
        library: Of the name, if not that of the row.
    """
    return Query(
        name=name,
        library=library or row.library,
        params=row.params,
        flops=row.flops,
        ops=sum(motif.count * motif.ops for motif in row.motifs),
        fingerprint=row.fingerprint,
        design=row.design,
        method="index",
        reason=reason,
        motifs=row.motifs,
    )


def info_of(index: ArchitectureIndex) -> IndexInfo:
    """The index that answered."""
    manifest = index.manifest
    return IndexInfo(
        index.source,
        manifest.revision,
        manifest.names,
        manifest.graphs,
        manifest.encoder,
        manifest.age,
    )
