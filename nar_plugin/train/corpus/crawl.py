"""The architectures of the Hub's models, from their configurations alone, as a corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nar_plugin import manager
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.train.corpus.build import merged
from nar_plugin.train.corpus.corpus import write_corpus
from nar_plugin.train.corpus.hub_configs import read_configs
from nar_plugin.train.corpus.workers import read_records, trace_all

CONFIGS, RECORDS = "configs.jsonl", "records.jsonl"
# What differs between fine-tunes of one architecture, and changes no layer.
_BOOKKEEPING = ("_name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache")


def crawl(
    folder: Path, work: Path, ids: Iterable[str], *, pace: float, workers: int
) -> list[dict[str, Any]]:
    """Read the configurations of models on the Hub, trace them, and write them as a corpus.

    Models whose configurations say the same are traced once and share the graph.

    Args:
        folder: Receives the corpus: everything that was ever crawled with this `work`.
        work: Holds what was read and traced, for going on later.
        ids: Of models, such as `owner/name`; see `nar_plugin.train.corpus.hub_configs`.
        pace: Seconds between two models.
        workers: Number of processes that trace.

    Returns:
        The names of the corpus, with `failure` where one has no graph.

    Raises:
        NarError: The Hub kept refusing; what was read is kept, and the next crawl goes on.
    """
    work.mkdir(parents=True, exist_ok=True)
    configs = work / CONFIGS
    read_configs(ids, configs, pace)
    read = list({record["id"]: record for record in read_records(configs)}.values())
    first: dict[str, NamedArchitecture] = {}
    alike = {}
    for record in read:
        if not record["failure"]:
            item = architecture(record)
            alike[item] = first.setdefault(design_of(record["config"]), item)
    trace_all(list(first.values()), work / RECORDS, workers=workers)
    names, graphs = merged({}, (), list(first.values()), [work / RECORDS])
    for graph in graphs:
        graph.mine()
    traced = {row["name"]: row for row in names}
    rows = [_row(traced[other.name], item) for item, other in alike.items()]
    rows += [_failed(record) for record in read if record["failure"]]
    write_corpus(folder, rows, graphs)
    return rows


def architecture(record: dict[str, Any]) -> NamedArchitecture:
    """The name under which a model goes into the corpus."""
    config = record["config"]
    library, family = "transformers", str(config.get("model_type") or "unknown")
    if "model_type" not in config and "architecture" in config:
        built = str(config["architecture"])
        library, family = "timm", _timm_families().get(built, built)
    return NamedArchitecture(
        name=f"hub:{record['id']}",
        library=library,
        family=family,
        task=record["task"] or "feature-extraction",
        licence=record["licence"],
        url=f"https://huggingface.co/{record['id']}",
        hub_id=record["id"],
    )


@cache
def _timm_families() -> dict[str, str]:
    """What timm's plugin calls the family of each of its constructors; none without timm."""
    answers = manager.call_each("nar_architectures", libraries={"timm"})
    named = [item for _, items in answers for item in items if item.library == "timm"]
    return {item.name.partition(":")[2]: item.family for item in named}


def design_of(config: dict[str, Any]) -> str:
    """A text that is equal for configurations of one architecture."""
    kept = {key: value for key, value in config.items() if key not in _BOOKKEEPING}
    labels = kept.pop("id2label", None)
    kept.pop("label2id", None)
    if isinstance(labels, dict):
        kept["id2label"] = len(labels)
    return json.dumps(kept, sort_keys=True)


def _row(traced: dict[str, Any], item: NamedArchitecture) -> dict[str, Any]:
    """The row of a model that shares its configuration with the one that was traced."""
    own = {"name": item.name, "hub_id": item.hub_id, "url": item.url, "licence": item.licence}
    return {**traced, **own, "task": item.task}


def _failed(record: dict[str, Any]) -> dict[str, Any]:
    url = f"https://huggingface.co/{record['id']}"
    row = {"name": f"hub:{record['id']}", "hub_id": record["id"], "url": url}
    return {**row, "failure": record["failure"], "composed": False, "constructed": False}
