"""tsai: time series classifiers, and tabular models, on fastai."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_VALUES = {"c_in": 3, "c_out": 10, "seq_len": 128}
_PARTS = (  # parts that lie in the modules of the models
    "HydraBackbonePlus HydraMultiRocketBackbonePlus ConvTranBackbone InceptionRocketFeaturesPlus "
    "MiniRocketFeaturesPlus MultiRocketFeaturesPlus MultiRocketBackbonePlus MiniRocketHead "
    "WaveBlock mWDNBlocks StaticBackbone MultInputBackboneWrapper MultInputWrapper MultiInputNet "
    "TensorSplitter MiniRocketFeatures ROCKET Sequential GEGLU Flatten InputWrapper"
).split()
_TASK = "time-series-classification"
_SIZED = "RNN_FCN LSTM_FCN GRU_FCN MRNN_FCN MLSTM_FCN MGRU_FCN XCM".split()  # need the length too


def _entries() -> Mapping[str, Entry]:
    import tsai.models.all as models

    special = {f"{name}{plus}": _VALUES for name in _SIZED for plus in ("", "Plus")}
    special |= {"XResNet1dPlus": {"c_in": 3, "c_out": 10}}
    special |= {"PatchTST": {"pred_dim": 24}}
    classes = classes_below("tsai.models", skip=("layers", "utils", "explainability"))
    found: dict[str, Entry] = entries(classes, _VALUES, task=_TASK, special=special, skip=_PARTS)
    for name, builder in vars(models).items():
        if name.startswith("xresnet1d") and not name.endswith("_head"):
            found[name] = Entry(partial(builder, 3, 10), family="xresnet1d", task=_TASK)
        elif name.startswith("InceptionTime") and not isinstance(builder, type):
            found[name] = Entry(partial(builder, 3, 10), family="inceptiontimeplus", task=_TASK)
    return found


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(2, 3, 128, device="meta"),), batch=2)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="tsai",
    distribution="tsai",
    licence="Apache-2.0",
    url="https://timeseriesai.github.io/tsai/",
    entries=_entries,
    inputs=_inputs,
).hooks()
