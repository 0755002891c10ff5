"""braindecode: decoders of brain signals (EEG, ECoG, MEG) and of muscle signals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    import torch

    with mock.patch.object(torch.version, "cuda", None):  # torchaudio compares it with its own
        from braindecode.models import util

    util._init_models_dict()
    known = {**util.models_dict, **util.interpolated_models_dict}
    return {
        name: Entry(
            build=partial(_build, known[name], name),
            family=known[name].__module__.rpartition(".")[2],
            task="time-series-classification",
        )
        for name, *_ in util.models_mandatory_parameters
        if name in known
    }


def _build(model: type[nn.Module], name: str) -> nn.Module:
    """With the signal that the library's own tests give this model."""
    import torch
    from braindecode.models import util

    rows = {row: rest for row, *rest in util.models_mandatory_parameters}
    required, given = rows[name]
    with torch.device("cpu"):
        values: dict[str, Any] = util._get_signal_params(given, required)
    return model(**values)


def _inputs(model: Any) -> list[ExampleInputs]:
    import torch

    shapes = []
    for steps in (getattr(model, "_n_times", None), 1000, 3000):
        for channels in (getattr(model, "_n_chans", None), len(model._chs_info or ()), 4, 1):
            if steps and channels:
                shapes.append((1, channels, steps))
    return [ExampleInputs((torch.empty(shape, device="meta"),)) for shape in shapes[:8]]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="braindecode",
    distribution="braindecode",
    licence="BSD-3-Clause",
    url="https://braindecode.org",
    entries=_entries,
    inputs=_inputs,
).hooks()
