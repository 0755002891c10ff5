"""Vectors by the encoder that made an index: no other one's can be compared with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin.encoder.config import CONFIG, encoder_id, encoder_sha256
from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.folder import EMBEDDED
from nar_plugin.tracing.fingerprint import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from nar_plugin.encoder import GraphEncoder
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.vectors import FloatArray
    from nar_plugin.likeness import LabelTable
    from nar_plugin.mining import MacroGraph
    from nar_plugin.tracing.graph import ArchitectureGraph


def embed(index: ArchitectureIndex, graphs: Sequence[MacroGraph]) -> FloatArray:
    """The vectors of graphs, for a search in this index.

    Raises:
        IndexIncompatible: The encoder at hand is another, or the index has fingerprints of another
            version.

    Shapes:
        float32[len(graphs), dim].
    """
    return embed_graphs(index, [macro.graph for macro in graphs])


def embed_graphs(index: ArchitectureIndex, graphs: Sequence[ArchitectureGraph]) -> FloatArray:
    """As `embed`, of graphs that need not be cut into motifs."""
    vectors: FloatArray = _encoder(index).encode_graphs(graphs).numpy()
    return vectors


def embed_labelled(
    index: ArchitectureIndex, graphs: Sequence[ArchitectureGraph], labels: LabelTable
) -> FloatArray:
    """As `embed`, of graphs whose labels are counted already."""
    vectors: FloatArray = _encoder(index).encode_labelled(graphs, labels.counted()).numpy()
    return vectors


def embed_labels(index: ArchitectureIndex, labels: LabelTable) -> FloatArray | None:
    """As `embed`, of labels without their graphs; None where the encoder reads more than labels."""
    from nar_plugin.encoder import ArchitectureEncoder

    encoder = _encoder(index)
    if not isinstance(encoder, ArchitectureEncoder):
        return None
    vectors: FloatArray = encoder.encode_counts(labels.counted(), len(labels)).numpy()
    return vectors


def _encoder(index: ArchitectureIndex) -> GraphEncoder:
    """The encoder that made the vectors of an index."""
    from nar_plugin.encoder import load_encoder  # imports torch

    folder = encoder_folder(index)
    index.check_encoder(f"of {folder}", encoder_sha256(folder))
    check_fingerprints(index)
    return load_encoder(folder)


def reencoded(index: ArchitectureIndex, encoder: Path, revision: str) -> ArchitectureIndex:
    """The same architectures with the vectors of another encoder, from the index's stored graphs.

    Args:
        index: Came with its graphs.
        encoder: Folder of the encoder.
        revision: Name of the new state.

    Raises:
        NarError: It came without graphs.
        IndexIncompatible: They were traced by another version than this one.
    """
    from nar_plugin.encoder import load_encoder

    check_fingerprints(index)
    network = load_encoder(encoder)
    return index.reencoded(
        encoder_id(encoder),
        encoder_sha256(encoder),
        lambda graphs: network.encode_graphs(graphs).numpy(),
        revision=revision,
    )


def check_fingerprints(index: ArchitectureIndex) -> None:
    """Refuse an index whose models another version of nar-plugin has traced."""
    if index.manifest.fingerprint != FINGERPRINT_VERSION:
        raise IndexIncompatible(
            f"The index {index.source} has fingerprints of version {index.manifest.fingerprint}, "
            f"this nar-plugin computes {FINGERPRINT_VERSION}: identical graphs would not be "
            "recognised. Install the version of nar-plugin that wrote it, or write it anew with "
            "`nar dev index write`."
        )


def encoder_folder(index: ArchitectureIndex) -> Path:
    """The folder of the encoder that came with the index, else that of the embedded one."""
    folder = index.contents.folder
    return folder if folder is not None and (folder / CONFIG).is_file() else EMBEDDED
