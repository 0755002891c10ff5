"""What `encoder.json` says of an encoder; reading it needs no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nar_plugin.encoder.labels import LABELS_VERSION
from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.regular_files import read_regular

CONFIG, WEIGHTS = "encoder.json", "encoder.safetensors"
LARGEST_CONFIG = 1 << 24  # bytes
LABELS, PAPER = "labels", "paper"  # the kinds of encoders; a config without a kind is of the first


def encoder_config(folder: Path) -> dict[str, Any]:
    """What `encoder.json` says.

    Raises:
        IndexUnavailable: It cannot be read.
    """
    try:
        config: dict[str, Any] = json.loads(read_regular(folder / CONFIG, LARGEST_CONFIG))
    except (OSError, ValueError, RecursionError) as error:
        raise IndexUnavailable(f"No encoder could be read from {folder}: {error}") from error
    if (
        not isinstance(config, dict)
        or not isinstance(config.get("sha256"), str)
        or not isinstance(config.get("encoder"), dict)
    ):
        raise IndexUnavailable(f"{folder / CONFIG} does not describe an encoder.")
    return config


def encoder_sha256(folder: Path) -> str:
    """The sha256 of the weights, as the config states it: the encoder's identity."""
    return str(encoder_config(folder)["sha256"])


def encoder_id(folder: Path) -> str:
    """The name under which an index tells its encoder, such as `nar-default-80b4f550`."""
    config = encoder_config(folder)
    return f"nar-{config.get('recipe', 'encoder')}-{str(config['sha256'])[:8]}"


def kind_of(config: Mapping[str, Any]) -> str:
    """The kind of the encoder that a config describes."""
    return str(config.get("kind", LABELS))


def versions(kind: str) -> dict[str, str]:
    """What an encoder of this kind reads of a graph, such as labels, and this version of it."""
    if kind == PAPER:
        from nar_plugin.mining import MINING_VERSION

        return {"motifs": MINING_VERSION}
    return {"labels": LABELS_VERSION}


def check_versions(folder: Path) -> None:
    """Refuse an encoder that reads graphs in another way than this version does.

    Raises:
        IndexUnavailable: Its config cannot be read.
        IndexIncompatible: It is of an unknown kind, or was made for other labels or motifs.
    """
    config = encoder_config(folder)
    kind = kind_of(config)
    if kind not in (LABELS, PAPER):
        raise IndexIncompatible(
            f"The encoder in {folder} is of the kind {kind[:40]!r}, which this nar-plugin does not "
            "know: `pip install --upgrade nar-plugin`."
        )
    for what, ours in versions(kind).items():
        if (made := config.get(f"{what}_version")) != ours:
            raise IndexIncompatible(
                f"The encoder in {folder} was made for {what} of version {made}, this nar-plugin "
                f"computes {ours}. If it came with an index, `pip install --upgrade nar-plugin` "
                "and `nar index update` bring two that fit; else `nar dev train` makes one."
            )
