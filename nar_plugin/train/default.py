"""Writes the embedded default: the vectors and rows of a corpus under a trained encoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tqdm import tqdm

from nar_plugin.encoder import encoder_sha256, load_encoder
from nar_plugin.encoder.checkpoint import CONFIG, WEIGHTS
from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.mining import mine
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION
from nar_plugin.train.corpus import CorpusGraph, read_corpus


def write_index(corpus: Path, encoder: Path, folder: Path, revision: str) -> ArchitectureIndex:
    """Encode every graph of a corpus and write the index, with its encoder beside it.

    Args:
        corpus: Folder of a corpus.
        encoder: Folder of a trained encoder.
        folder: Receives index and encoder.
        revision: Name of this state, such as `2026.11.21`.
    """
    items = read_corpus(corpus)
    graphs = [mine(item.graph) for item in tqdm(items, desc="mining", unit="graph")]
    vectors = load_encoder(encoder).encode(graphs).numpy()
    sha256 = encoder_sha256(encoder)
    recipe = json.loads((encoder / CONFIG).read_text())["recipe"]
    index = ArchitectureIndex.from_rows(
        [_row(item) for item in items],
        vectors,
        f"nar-{recipe}-{sha256[:8]}",
        sha256,
        tracer=VOCABULARY_VERSION,
        fingerprint=FINGERPRINT_VERSION,
        revision=revision,
    )
    index.save(folder, half=True)
    for name in (CONFIG, WEIGHTS):
        if (encoder / name).resolve() != (folder / name).resolve():
            shutil.copyfile(encoder / name, folder / name)
    return index


def _row(item: CorpusGraph) -> ArchitectureRow:
    """A graph's row. The name with the fewest parameters, then the shortest, stands for all.

    A model with parts that the traced forward does not reach (the vision tower of a model that
    was given only text) shares its graph with the model that has no such parts.
    """
    names = sorted(item.names, key=lambda name: (name["params"], len(name["name"]), name["name"]))
    first = names[0]
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
    )
