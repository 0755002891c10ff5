"""Real checkpoints of transformers: the sizes that are on the Hub, from tables with their sources.

A row of the TOML files beside this one names a repository of the Hub, the class that its
weights are for, and in which fields its configuration differs from that of the type's default.
Every row states the file that says so: of a package on PyPI, or of a repository at a commit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

_TOWERS = ("vision_config", "audio_config")


@dataclass(frozen=True)
class Checkpoint:
    """One row of the tables.

    Attributes:
        hub_id: Repository on the Hub, such as `google-bert/bert-base-uncased`.
        model_type: Such as `bert`.
        class_name: What is built, such as `BertForMaskedLM`.
        task: One of the Hub's, such as `fill-mask`.
        overrides: Fields of the configuration that differ from the default of the type.
        unset: Fields that are None and by default are not, inner ones with a dot.
        source: Key of `sources()`.
        path: The file of that source that states the fields.
        params: Published number of parameters, or None when none is at hand.
        params_source: Where that number is published.
        params_checked: Whether the model that is built has that many, to 1%.
        also_source: Key of `sources()`, where is stated what `source` leaves out, of the model or
            of its base: how many positions a learned table has, whether embeddings are tied.
        also_path: The file of that source.
        base_source: Key of `sources()`, where the base is named, unless `hub_id` names it.
        base_path: The file of that source.
    """

    hub_id: str
    model_type: str
    class_name: str
    task: str
    source: str
    path: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    params: int | None = None
    params_source: str | None = None
    params_checked: bool = False
    also_source: str | None = None
    also_path: str | None = None
    base_source: str | None = None
    base_path: str | None = None

    @property
    def name(self) -> str:
        """The part of the reference behind `transformers:`, `bert@google-bert/...`."""
        return f"{self.model_type}@{self.hub_id}"


@cache
def checkpoints() -> Mapping[str, Checkpoint]:
    """Every row, by the part of its reference behind `transformers:`.

    Example:
        ```python
        checkpoints()["bert@google/bert_uncased_L-2_H-128_A-2"].overrides["hidden_size"]  # 128
        ```
    """
    rows = (_row(hub_id, row) for table in _tables() for hub_id, row in table["models"].items())
    return {row.name: row for row in rows}


@cache
def sources() -> Mapping[str, Mapping[str, str]]:
    """What the rows cite: a package and its version, or a repository and a commit."""
    return {key: source for table in _tables() for key, source in table["sources"].items()}


def configuration(row: Checkpoint) -> Any:
    """The configuration of a checkpoint, for the class that the row names."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from ..defaults import name_places
    from ..sizes import holders

    config = CONFIG_MAPPING[row.model_type](**{**_towers(row), **_fields(row)})
    name_places(config)
    config._name_or_path = row.hub_id
    wanted = getattr(getattr(transformers, row.class_name), "config_class", None)
    if isinstance(wanted, type):
        return next((item for item in holders(config) if isinstance(item, wanted)), config)
    return config


def _towers(row: Checkpoint) -> dict[str, Any]:
    """The towers that a source which states the text alone leaves out."""
    from ..defaults import completion

    if set(row.overrides) != {"text_config"}:
        return {}
    known = completion(row.model_type)
    return {name: value for name, value in known.items() if name in _TOWERS}


def _row(hub_id: str, row: dict[str, Any]) -> Checkpoint:
    rest = {key: value for key, value in row.items() if key not in ("class", "unset")}
    unset = tuple(row.get("unset", ()))
    return Checkpoint(hub_id=hub_id, class_name=row["class"], unset=unset, **rest)


def _fields(row: Checkpoint) -> dict[str, Any]:
    """The overrides as a configuration takes them, which TOML cannot hold: with None."""
    found = _copied(row.overrides)
    for path in row.unset:
        *parents, last = path.split(".")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = None
    return found


def _copied(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that a configuration may keep and change."""
    return {
        key: _copied(value)
        if isinstance(value, Mapping)
        else list(value)
        if isinstance(value, list)
        else value
        for key, value in fields.items()
    }


@cache
def _tables() -> tuple[dict[str, Any], ...]:
    return tuple(_read())


def _read() -> Iterator[dict[str, Any]]:
    for file in sorted(files(__name__).iterdir(), key=lambda item: item.name):
        if file.name.endswith(".toml"):
            yield tomllib.loads(file.read_text("utf-8"))
