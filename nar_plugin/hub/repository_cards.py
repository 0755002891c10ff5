"""The cards that the Hub shows of an index and of an encoder, from templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nar_plugin.encoder.config import kind_of
from nar_plugin.index import ArchitectureIndex

TEMPLATES = Path(__file__).parent
TAGS = ["neural-architecture-retrieval", "nar-plugin"]
SHOWN = 15
TEXTS = ("revision", "created", "encoder", "encoder_sha256", "tracer", "fingerprint")


def index_card(index: ArchitectureIndex, repository: str) -> str:
    """The README.md of a published index: what it holds, whose metadata that is, how to use it.

    Args:
        index: The index.
        repository: Where it is published.
    """
    from huggingface_hub import DatasetCard, DatasetCardData

    facts = index.info()
    tables = [{"config_name": "rows", "data_files": "shards/*.rows.parquet"}]
    data = DatasetCardData(
        license="apache-2.0",
        pretty_name="Known neural architectures",
        tags=TAGS,
        configs=tables,
    )
    card = DatasetCard.from_template(
        data,
        template_path=str(TEMPLATES / "index_card.md"),
        repository=repository,
        facts=facts | {name: _plain(facts[name]) for name in TEXTS},
        megabytes=f"{facts['bytes'] / 1e6:.1f}",
        libraries=_counted(facts["libraries"]),
        families=_counted(facts["families"]),
        tasks=_counted(facts["tasks"]),
        licences=_counted(facts["licences"]),
    )
    return str(card)


def encoder_card(config: Mapping[str, Any], repository: str) -> str:
    """The README.md of a published encoder.

    Args:
        config: The content of `encoder.json`.
        repository: Where it is published.
    """
    from huggingface_hub import ModelCard, ModelCardData

    data = ModelCardData(license="apache-2.0", library_name="nar-plugin", tags=TAGS)
    settings = config.get("encoder")
    card = ModelCard.from_template(
        data,
        template_path=str(TEMPLATES / "encoder_card.md"),
        repository=repository,
        kind=kind_of(config),
        sha256=config["sha256"],
        settings=settings if isinstance(settings, Mapping) else {},
        facts={key: value for key, value in config.items() if key not in ("encoder", "sha256")},
    )
    return str(card)


def _counted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The commonest, and one entry for all others; names as a table of Markdown can hold them."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in ordered[SHOWN:])
    shown = [(_plain(name), count) for name, count in ordered[:SHOWN]]
    return [*shown, (f"{len(ordered) - SHOWN} others", rest)] if rest else shown


def _plain(text: str) -> str:
    """Letters, digits and a few signs: names come from other people."""
    return "".join(char if char.isalnum() or char in " -_.:+()" else "?" for char in text)[:60]
