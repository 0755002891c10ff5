"""What LitGPT's plugin builds."""

import pytest
from nar_plugin.hooks import litgpt as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("litgpt")


def test_every_configuration_names_its_repository():
    listed = list(plugin.nar_architectures())
    assert len(listed) >= 200
    assert all(item.hub_id and "/" in item.hub_id for item in listed)
    found = {item.name: item for item in listed}["litgpt:Llama-2-7b-chat-hf"]
    assert (found.family, found.hub_id) == ("llama_2", "meta-llama/Llama-2-7b-chat-hf")


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("Llama-2-7b-hf", 6_738_415_616),  # the safetensors index of meta-llama/Llama-2-7b-hf
        ("pythia-1b", 1_011_781_632),  # table 1 of https://arxiv.org/abs/2304.01373
    ],
)
def test_published_parameter_counts(name: str, params: int):
    graph = trace(resolve(f"litgpt:{name}"))
    assert (graph.method, graph.params) == ("meta", params)
