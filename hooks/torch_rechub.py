"""Torch-RecHub: rankers, retrievers and multi-task recommenders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from ._shared.class_catalogue import classes_below, entries

if TYPE_CHECKING:
    from torch import nn

_PARTS = (
    "PointWiseFeedForward AttentionLayer CGC AUGRU_Cell AUGRU ActivationUnit BridgeModule "
    "RegulationModule HLLMTransformerBlock VectorQuantizer ResidualVectorQuantizer"
).split()
_STEPS, _WIDTH = 20, 16
_SPARSE = ("user_id", "gender", "city")


def _entries() -> Mapping[str, Entry]:
    models = "torch_rechub.models"
    classes = [
        item
        for kind in ("ranking", "multi_task", "matching", "generative")
        for item in classes_below(f"{models}.{kind}")
    ]
    found: Mapping[str, Entry] = entries(
        classes, _values(), task="recommendation", special=_special(), skip=_PARTS
    )
    return found


def _values() -> dict[str, Any]:
    """Columns and sizes like those of the library's examples."""
    from torch_rechub.basic.features import DenseFeature, SequenceFeature, SparseFeature

    sparse = [SparseFeature(name, vocab_size=100, embed_dim=_WIDTH) for name in _SPARSE]
    dense = [DenseFeature("age")]
    item = [SparseFeature("item", vocab_size=100, embed_dim=_WIDTH)]
    past, negative = (
        [SequenceFeature(name, 100, _WIDTH, pooling="concat", shared_with="item")]
        for name in ("hist", "neg")
    )
    layers = {"dims": [256, 128], "dropout": 0.2}
    towers = [{"dims": [8]}, {"dims": [8]}]
    both = [*sparse, *dense]
    values: dict[str, Any] = dict.fromkeys(
        ("features", "deep_features", "cross_features", "fm_features", "user_features"), sparse
    )
    values |= {"wide_features": both, "linear_features": sparse, "sparse_features": sparse}
    values |= {"dense_features": dense, "item_features": item, "target_features": item}
    values |= {"history_features": past, "neg_history_features": negative}
    values |= {"neg_item_feature": negative, "pos_item_features": item, "neg_item_features": item}
    values |= dict.fromkeys(
        ("mlp_params", "user_params", "item_params", "bottom_params", "expert_params"), layers
    )
    values |= {"cvr_params": {"dims": [16, 8]}, "ctr_params": {"dims": [16, 8]}}
    values |= {"task_types": ["classification"] * 2, "tower_params_list": towers, "n_task": 2}
    values |= {"n_expert": 8, "n_level": 1, "n_expert_specific": 2, "n_expert_shared": 1}
    values |= {"attention_mlp_params": {"dims": [64, 32]}, "n_cross_layers": 3}
    values |= {"embed_dim": _WIDTH, "reduction_ratio": 3, "vocab_size": 1000, "max_length": _STEPS}
    return values


def _special() -> dict[str, dict[str, Any]]:
    """Sizes of the classes' own examples."""
    return {"AutoInt": {"dense_features": []}, "RQVAEModel": {"num_emb_list": [256] * 4}}


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """A batch of two rows with every column, or a history of ids."""
    import torch

    two = torch.tensor([1, 2])
    row: dict[str, Any] = dict.fromkeys((*_SPARSE, "item"), two)
    row |= dict.fromkeys(("hist", "neg"), torch.arange(1, _STEPS + 1).expand(2, -1))
    row["age"] = torch.empty(2, device="meta")
    return [ExampleInputs((item,), batch=2) for item in (row, row["hist"])]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="torch_rechub",
    distribution="torch-rechub",
    licence="MIT",
    url="https://github.com/datawhalechina/torch-rechub",
    entries=_entries,
    inputs=_inputs,
).hooks()
