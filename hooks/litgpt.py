"""LitGPT: published language models, as sizes and switches of one GPT."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_TOKENS = 64


def _entries() -> Mapping[str, Entry]:
    from litgpt import config

    return {
        item["name"]: Entry(
            build=partial(_build, item["name"]),
            family=_family(item["name"], vars(config)),
            task="text-generation",
            hub_id=f"{item['hf_config']['org']}/{item['hf_config']['name']}",
        )
        for item in config.configs
    }


def _family(name: str, variables: Mapping[str, Any]) -> str:
    """The list of `litgpt.config` that holds it or what it was copied from, such as `llama_2`."""
    found: dict[str, str] = {}
    for variable, items in variables.items():
        if isinstance(items, list) and variable != "configs":
            for item in items:
                stem = item["name"].partition("{}")[0]
                if name.startswith(stem):
                    found.setdefault(stem, variable.lower())
    # What is in no list stands alone, between models whose names begin alike.
    return found[max(found, key=len)] if found else name.partition("-")[0].lower()


def _build(name: str) -> nn.Module:
    from litgpt import GPT, Config

    model: nn.Module = GPT(Config.from_name(name))
    return model


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.arange(_TOKENS)[None],))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="litgpt",
    distribution="litgpt",
    licence="Apache-2.0",
    url="https://github.com/Lightning-AI/litgpt",
    entries=_entries,
    inputs=_inputs,
).hooks()
