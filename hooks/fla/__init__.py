"""flash-linear-attention: language models whose layers are recurrences written in Triton."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry

from . import flash_attention

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from fla import models

    tasks = {"ForCausalLM": "text-generation", "Model": "feature-extraction"}
    return {
        name: Entry(
            build=partial(_build, getattr(models, name)),
            family=getattr(models, name).config_class.model_type,
            task=task,
        )
        for name in models.__all__
        for ending, task in tasks.items()
        if name.endswith(ending)
    }


def _build(owner: Any) -> nn.Module:
    flash_attention.lend("fla")
    model: nn.Module = owner(owner.config_class())
    return model


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="fla",
    distribution="flash-linear-attention",
    licence="MIT",
    url="https://github.com/fla-org/flash-linear-attention",
    entries=_entries,
).hooks()
