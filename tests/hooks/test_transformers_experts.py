"""Experts that a loop visits: FLOPs of a trace against torch's counter on a forward that ran."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from nar_plugin.tracing import trace

transformers = pytest.importorskip("transformers")

_TOKENS = 64


def switch() -> Any:
    config = transformers.SwitchTransformersConfig(
        vocab_size=512, d_model=32, d_ff=48, d_kv=8, num_heads=4, num_layers=4, num_experts=4
    )
    return transformers.SwitchTransformersEncoderModel(config)


def dbrx() -> Any:
    config = transformers.DbrxConfig(
        vocab_size=512, d_model=32, n_heads=4, n_layers=2, max_seq_len=64,
        attn_config={"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        ffn_config={
            "hidden_size": 32, "ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2
        },
        attn_implementation="eager",  # torch 2.14 does not count its fused kernel of the CPU
    )  # fmt: skip
    return transformers.DbrxModel(config)


def longcat() -> Any:
    config = transformers.LongcatFlashConfig(
        vocab_size=512, hidden_size=32, ffn_hidden_size=64, num_layers=2, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=4, head_dim=8, q_lora_rank=16, kv_lora_rank=16,
        qk_nope_head_dim=8, qk_rope_head_dim=8, v_head_dim=8, expert_ffn_hidden_size=48,
        n_routed_experts=4, zero_expert_num=0, moe_topk=2,
    )  # fmt: skip
    return transformers.LongcatFlashModel(config)


@pytest.mark.parametrize("make", [switch, dbrx, longcat])
def test_flops_are_those_of_a_forward_that_ran(make: Any) -> None:
    torch.manual_seed(0)
    model = make().eval().requires_grad_(False)
    ids = torch.randint(3, 500, (1, _TOKENS))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=ids)
    graph = trace(model)
    assert f"int64[1, {_TOKENS}]" in graph.inputs
    assert graph.flops == counter.get_total_flops()


def test_weights_of_all_experts_are_no_choices() -> None:
    """NLLB-MoE has a weight for each expert: how many rows they get is not told, and one counts."""
    config = transformers.NllbMoeConfig(
        vocab_size=512, d_model=32, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=48,
        decoder_ffn_dim=48, encoder_attention_heads=4, decoder_attention_heads=4, num_experts=4,
        encoder_sparse_step=1, decoder_sparse_step=1,
    )  # fmt: skip
    sparse = trace(transformers.NllbMoeModel(config)).flops
    config.encoder_sparse_step = config.decoder_sparse_step = 0
    dense = trace(transformers.NllbMoeModel(config)).flops
    row, router = 2 * 2 * 32 * 48, 2 * 32 * 4
    assert dense - sparse == (_TOKENS + _TOKENS // 2) * (row - router) - 2 * row


def test_heads_and_perceptrons_of_jetmoe_are_experts() -> None:
    """Its tokens are put in the order of experts; each layer has a loop of its own."""
    config = transformers.JetMoeConfig(
        vocab_size=512, hidden_size=32, intermediate_size=48, kv_channels=8, num_hidden_layers=1,
        num_key_value_heads=4, num_experts_per_tok=2, num_local_experts=4,
    )  # fmt: skip
    with torch.device("meta"):
        model = transformers.JetMoeModel(config)
    layers = [dict(op.attributes) for op in trace(model).ops if op.kind == "linear"]
    assert [(layer["in"], layer["out"], layer.get("experts")) for layer in layers] == [
        (32, 4, None),  # a router
        (32, 32, 4),  # queries, of the chosen heads
        (32, 64, None),  # keys and values, which all heads share
        (32, 32, 4),  # what the heads give
        (32, 4, None),
        (32, 96, 4),  # both halves of a gate
        (48, 32, 4),
    ]
