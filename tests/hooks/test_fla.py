"""What flash-linear-attention's plugin builds, and its Triton kernels without a GPU."""

import pytest
from nar_plugin.hooks import fla as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("fla")


def test_names_and_families():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 70
    assert listed["fla:GLAForCausalLM"].family == "gla"


def test_kernels_are_operators():
    graph = trace(resolve("fla:GLAModel"))
    assert graph.method == "meta"
    # 24 layers of width 2048 with keys of half of it; counted by hand within the small matrices.
    assert graph.params == pytest.approx(32_000 * 2048 + 24 * 12.2 * 2048**2, rel=0.02)
    assert any(op.kind.startswith("triton::") for op in graph.ops)


def test_attention_without_its_package():
    graph = trace(resolve("fla:TransformerModel"))
    assert graph.method == "meta"
