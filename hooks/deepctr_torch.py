"""DeepCTR-Torch: models of click-through rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

_PARTS = ("BaseModel", "Linear", "Interac", "InterestExtractor", "InterestEvolving")
_SPARSE, _DENSE = 26, 13  # the Criteo data of the library's examples


def _entries() -> Mapping[str, Entry]:
    import os

    os.environ.setdefault("DEEPCTR_TORCH_CHECK_VERSION", "0")
    from deepctr_torch.inputs import DenseFeat, SparseFeat

    columns: list[Any] = [SparseFeat(f"C{place + 1}", 1000, 4) for place in range(_SPARSE)]
    columns += [DenseFeat(f"I{place + 1}", 1) for place in range(_DENSE)]
    values: dict[str, Any] = {"linear_feature_columns": columns, "dnn_feature_columns": columns}
    values["region_feature_columns"] = columns
    classes = list(classes_below("deepctr_torch.models"))
    special: dict[str, dict[str, Any]] = {item.__name__: {"device": "meta"} for item in classes}
    for name in ("MMOE", "PLE", "SharedBottom"):
        pair = {"task_types": ["binary"] * 2, "task_names": ["label1", "label2"]}
        special[name] = {**special[name], **pair}
    special |= {name: {**special[name], **_history()} for name in ("DIN", "DIEN")}
    found: Mapping[str, Entry] = entries(
        classes, values, task="tabular-classification", special=special, skip=_PARTS
    )
    return found


def _history() -> dict[str, Any]:
    """The columns of the example of DIN: a user's items and their categories."""
    from deepctr_torch.inputs import DenseFeat, SparseFeat, VarLenSparseFeat

    columns: list[Any] = [SparseFeat(name, 100, 8) for name in ("user", "gender")]
    for name in ("item_id", "cate_id"):
        past = SparseFeat(f"hist_{name}", 100, 8, embedding_name=name)
        columns += [SparseFeat(name, 100, 8), VarLenSparseFeat(past, 4, length_name="seq_length")]
    return {
        "dnn_feature_columns": [*columns, DenseFeat("pay_score", 1)],
        "history_feature_list": ["item_id", "cate_id"],
    }


def _inputs(model: Any) -> list[ExampleInputs]:
    import torch

    width = max(last for _, last in model.feature_index.values())
    return [ExampleInputs((torch.empty(2, width, device="meta"),), batch=2)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="deepctr_torch",
    distribution="deepctr-torch",
    licence="Apache-2.0",
    url="https://github.com/shenweichen/DeepCTR-Torch",
    entries=_entries,
    inputs=_inputs,
).hooks()
