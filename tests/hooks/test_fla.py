"""What flash-linear-attention's plugin builds, and its Triton kernels without a GPU."""

import pytest
import torch

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("fla")


def test_kernels_are_operators():
    graph = trace(resolve("fla:GLAModel"))
    assert graph.method == "meta"
    # 24 layers of width 2048 with keys of half of it; counted by hand within the small matrices.
    assert graph.params == pytest.approx(32_000 * 2048 + 24 * 12.2 * 2048**2, rel=0.02)
    assert not any(op.kind.startswith("triton::") for op in graph.ops)
    assert sum(op.kind == "linear_attention" for op in graph.ops) == 24
    rule = trace(resolve("fla:GatedDeltaNetModel"))  # of a kernel that is not known in torch
    assert "triton::fused_recurrent_gated_delta_rule_fwd_kernel" in {op.kind for op in rule.ops}


def test_retention_by_hand_is_the_kernels():
    """Sun et al. 2023, arXiv 2307.08621, Eq. 5 and 8, as a lesson writes it."""
    kernels = trace(resolve("fla:RetNetModel"))
    block = (
        "rms_norm linear rotary rotary linear_attention linear rms_norm silu mul linear add "
        "rms_norm linear silu mul linear add"
    ).split()
    assert [op.kind for op in kernels.ops] == ["embedding", *block * 24, "rms_norm"]


def test_attention_without_its_package_and_the_llama_that_it_is():
    transformers = pytest.importorskip("transformers")
    graph = trace(resolve("fla:TransformerModel"))
    assert graph.method == "meta"
    config = transformers.LlamaConfig(
        vocab_size=32_000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=24
    )
    with torch.device("meta"):
        llama = transformers.LlamaModel(config)
    assert graph.fingerprint == trace(llama).fingerprint
