"""Writes the embedded default: the vectors and rows of a corpus under a trained encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nar_plugin.encoder import encoder_id, encoder_sha256, load_encoder
from nar_plugin.encoder.backbone import backbone
from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.store import label_counts
from nar_plugin.index.store.graphs import to_table
from nar_plugin.likeness import LabelTable
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION
from nar_plugin.train.corpus.corpus import WELL_KNOWN, CorpusGraph, read_corpus, read_modules
from nar_plugin.train.corpus.facts import facts_of
from nar_plugin.train.fit.blocks import blocks_of_corpus
from nar_plugin.train.fit.coordinates import FEWEST, coordinates

_BATCH = 256  # graphs that are labelled at once


def write_index(corpus: Path, encoder: Path, folder: Path, revision: str) -> ArchitectureIndex:
    """Encode the graphs of a corpus and write the index, with its encoder beside it.

    Only graphs that are searched (`CorpusGraph.is_searched`) are written, those of most names
    first: of graphs that differ in their heads alone, which are equally near to any question, the
    best known comes first. Their labels and blocks are written too, and their places on the map.

    Args:
        corpus: Folder of a corpus.
        encoder: Folder of a trained encoder.
        folder: Receives index and encoder.
        revision: Name of this state, such as `2026.11.21`.
    """
    items = [item for item in read_corpus(corpus) if item.is_searched]
    items.sort(key=lambda item: -len(item.names))
    network = load_encoder(encoder)
    tables, parts = [], []
    for start in range(0, len(items), _BATCH):
        graphs = [item.graph for item in items[start : start + _BATCH]]
        labels = LabelTable.of(graphs)
        parts.append(network.encode_labelled(graphs, labels.counted()).numpy())
        tables.append(labels.compared())
    fingerprints = [item.fingerprint for item in items]
    families = Counter(name["family"] for item in items for name in item.names)
    vectors = np.concatenate(parts)
    rows = [_row(item, families) for item in items]
    if len(rows) >= FEWEST:
        places = coordinates(vectors).tolist()
        rows = [replace(row, x=x, y=y) for row, (x, y) in zip(rows, places, strict=True)]
    index = ArchitectureIndex.from_rows(
        rows,
        vectors,
        encoder_id(encoder),
        encoder_sha256(encoder),
        tracer=VOCABULARY_VERSION,
        fingerprint=FINGERPRINT_VERSION,
        revision=revision,
        versions=_versions(items),
        graphs=to_table(_with_modules(items, read_modules(corpus))),
        labels=label_counts.to_table(fingerprints, LabelTable.joined(tables)),
        blocks=blocks_of_corpus(corpus, fingerprints),
    )
    index.save(folder, half=True, encoder=encoder)
    return index


def _with_modules(
    items: Iterable[CorpusGraph], modules: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[ArchitectureGraph, IntArray]]:
    """The graphs with paths and classes of modules, which need much memory, and their motifs."""
    for item in items:
        paths, classes = modules[item.fingerprint]
        known = dict(line.rsplit("=", 1) for line in classes.splitlines())
        graph = replace(item.graph, paths=tuple(paths.split("\n")), classes=known)
        yield graph, item.starts


def _versions(items: Iterable[CorpusGraph]) -> dict[str, str]:
    """The version of each library that was traced, left out where names are of several."""
    found: dict[str, set[str]] = {}
    for name in (name for item in items for name in item.names):
        found.setdefault(name["library"], set()).add(name["version"] or "")
    return {library: min(of) for library, of in found.items() if len(of) == 1 and "" not in of}


def _row(item: CorpusGraph, families: Mapping[str, int]) -> ArchitectureRow:
    """A graph's row. Of its commonest family, a name of the commonest size stands for all.

    Names of the libraries that people know come before those of libraries that build on them:
    `torchvision:swin_t` before `torchgeo:swin_t`.
    The family counts when more than half of the names have it. Of sizes that are as common, the
    smallest counts: a model with parts that the traced forward does not reach, such as the vision
    tower of one that was given only text, shares its graph with the model that has no such parts.
    A ResNet whose blocks share their weights is the same graph too, and smaller, but rare. Of names
    of one size those of the family with far more names (more digits) come first, `segformer` with
    120 before `glpn` with 4, then one that says a word of it: `Llama-2-7b` before `Platypus2-7B`.

    Args:
        item: The graph.
        families: How many names each family has in the corpus.
    """
    family, count = Counter(name["family"] for name in item.names).most_common(1)[0]
    common = family if 2 * count > len(item.names) else None
    sizes = Counter(name["params"] for name in item.names)

    def order(name: dict[str, Any]) -> tuple[bool, bool, int, int, int, bool, int, str]:
        stranger = common is not None and name["family"] != common
        rare = -sizes[name["params"]]
        words = (word for word in name["family"].split("_") if len(word) > 1)
        library, _, own = name["name"].lower().partition(":")
        mute = not any(word in own for word in words)
        lesser = library not in WELL_KNOWN
        known = -len(str(families[name["family"]]))  # 120 names and 4, not 5 and 2
        text = name["name"]
        return stranger, lesser, rare, name["params"], known, mute, len(text), text

    names = sorted(item.names, key=order)
    first = names[0]
    facts = facts_of(first)
    return ArchitectureRow(
        name=first["name"],
        names=tuple(str(name["name"]) for name in names),
        library=first["library"],
        family=first["family"],
        task=first["task"],
        params=first["params"],
        flops=first["flops"],
        fingerprint=item.fingerprint,
        design=item.design,
        licence=first["licence"],
        url=first["url"],
        motifs=item.motifs,
        composed=item.is_composed,
        backbone=backbone(item.macro(), item.design),
        **facts | {"runtimes": tuple(facts["runtimes"] or ())},
    )
