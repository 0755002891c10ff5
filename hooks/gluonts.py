"""GluonTS: probabilistic forecasters on torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

_TRANSFORMER: dict[str, Any] = {  # the defaults of the estimators that build these modules
    "d_model": 32,
    "nhead": 4,
    "dim_feedforward": 128,
    "dropout": 0.1,
    "activation": "relu",
    "norm_first": False,
    "num_encoder_layers": 2,
    "scaling": "mean",
}
_VALUES: dict[str, Any] = {
    "freq": "H",
    "prediction_length": 24,
    "context_length": 96,
    "hidden_dimension": 20,
    **_TRANSFORMER,
    "patch_len": 16,
    "stride": 8,
    "padding_patch": "end",
    "num_feat_dynamic_real": 0,
    "num_feat_dynamic_proj": 2,
    "num_feat_static_real": 0,
    "num_feat_static_cat": 0,
    "cardinality": [1],
}
_TIDE: dict[str, Any] = {
    "num_feat_dynamic_real": 1,
    "num_feat_static_real": 1,
    "num_feat_static_cat": 1,
    "embedding_dimension": [16],
    "feat_proj_hidden_dim": 4,
    "encoder_hidden_dim": 4,
    "decoder_hidden_dim": 4,
    "temporal_hidden_dim": 4,
    "distr_hidden_dim": 4,
    "decoder_output_dim": 4,
    "dropout_rate": 0.3,
    "num_layers_encoder": 1,
    "num_layers_decoder": 1,
    "layer_norm": False,
}


def _entries() -> Mapping[str, Entry]:
    from gluonts.torch.distributions import StudentTOutput

    classes = [
        item
        for item in classes_below("gluonts.torch.model")
        if item.__name__.endswith("Model") and item.__module__.endswith(".module")
    ]
    special = {"TiDEModel": {**_TIDE, "distr_output": StudentTOutput()}}
    found = entries(classes, _VALUES, task="time-series-forecasting", special=special)
    families = {item.__name__: str(item.__module__).split(".")[-2] for item in classes}
    return {
        name: Entry(build=entry.build, family=families[name], task=entry.task)
        for name, entry in found.items()
    }


def _inputs(model: Any) -> list[ExampleInputs]:
    """What the model itself describes as its inputs."""
    import torch

    if not hasattr(model, "describe_inputs"):
        return []
    given = {
        name: torch.empty(item.shape, dtype=item.dtype, device="meta")
        if item.dtype.is_floating_point
        else torch.zeros(item.shape, dtype=item.dtype, device="cpu")
        for name, item in model.describe_inputs(2).items()
    }
    return [ExampleInputs((), given, batch=2)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="gluonts",
    distribution="gluonts",
    licence="Apache-2.0",
    url="https://ts.gluon.ai",
    entries=_entries,
    inputs=_inputs,
).hooks()
