"""torchgeo: models for satellite images, and each published set of bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


_TASKS = {"unet": "image-segmentation", "aurora": "time-series-forecasting"}
_FEATURES = "image-feature-extraction"
_OPTIONS = {  # family -> argument of the builder -> field of a checkpoint that sets it, if stated
    "resnet": {"in_chans": "in_chans"},
    "vit": {"in_chans": "in_chans", "img_size": "img_size"},
    "unet": {"in_channels": "in_chans", "classes": "num_classes", "encoder_name": "encoder"},
}


def _entries() -> Mapping[str, Entry]:
    from torchgeo.models import get_model, get_model_weights, list_models
    from torchgeo.models.api import _model

    entries = {}
    for name in list_models():
        family = _model[name].__module__.rpartition(".")[2]
        task = _TASKS.get(family, _FEATURES)
        build = partial(get_model, name, **({"encoder_weights": None} if family == "unet" else {}))
        entries[name] = Entry(build, family, task)
        options = _OPTIONS.get(family, {})
        for weights in get_model_weights(name) if options else ():
            meta = weights.meta
            stated = {option: meta[field] for option, field in options.items() if field in meta}
            entries[str(weights)] = Entry(partial(build, **stated), family, task)
    return entries


def _inputs(model: nn.Module) -> Iterator[ExampleInputs]:
    import torch

    stem = next((item for item in model.modules() if isinstance(item, torch.nn.Conv2d)), None)
    bands = stem.in_channels if stem is not None else 4
    for side in (224, 256, 320):
        image = torch.empty(1, bands, side, side, device="meta")
        yield ExampleInputs((image,))
        yield ExampleInputs((image, [0.665] * bands))


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="torchgeo",
    distribution="torchgeo",
    licence="MIT",
    url="https://torchgeo.readthedocs.io/en/stable/api/models.html",
    entries=_entries,
    inputs=_inputs,
).hooks()
