"""espnet2: the networks for speech that ESPnet's tasks offer by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from . import choices

    return choices.read()


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    from . import inputs

    return inputs.guesses(model)


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="espnet2",
    distribution="espnet",
    licence="Apache-2.0",
    url="https://github.com/espnet/espnet",
    entries=_entries,
    inputs=_inputs,
).hooks()
