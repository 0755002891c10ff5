"""Positions in models of libraries: neither inputs that state them nor a resolution matter."""

import pytest
import torch

from nar_plugin.tracing import trace


def ids(**more):
    return {"input_ids": torch.randint(5, 99, (2, 9)), **more}


def test_positions_and_kinds_that_a_user_passes():
    transformers = pytest.importorskip("transformers")
    model = transformers.BertModel(transformers.BertConfig(num_hidden_layers=1))
    plain = trace(model).fingerprint
    kinds, places = torch.zeros(2, 9, dtype=torch.long), torch.arange(9).expand(2, -1)
    mask = torch.ones(2, 9, dtype=torch.long)
    for inputs in (
        ids(token_type_ids=kinds, attention_mask=mask),
        ids(position_ids=places),
        ids(token_type_ids=kinds, position_ids=places),
    ):
        assert trace(model, example_inputs=inputs).fingerprint == plain


def test_a_table_is_resampled_for_another_resolution():
    timm = pytest.importorskip("timm")
    small = timm.create_model("vit_tiny_patch16_224", depth=1, dynamic_img_size=True)
    sizes = (224, 256, 320)
    found = {trace(small, example_inputs=torch.empty(1, 3, s, s)).fingerprint for s in sizes}
    assert found == {trace(timm.create_model("vit_tiny_patch16_224", depth=1)).fingerprint}


def test_partial_positions_stay_told_from_whole_ones():
    transformers = pytest.importorskip("transformers")

    def kinds(share):
        config = transformers.PhiConfig(
            num_hidden_layers=1, hidden_size=64, intermediate_size=64, num_attention_heads=2
        )
        config.rope_parameters = {**config.rope_parameters, "partial_rotary_factor": share}
        graph = trace(transformers.PhiModel(config))
        return {str(op) for op in graph.ops if op.kind == "rotary"}

    assert kinds(0.5) == {"rotary(partial=True)"}
    assert kinds(1.0) == {"rotary"}
