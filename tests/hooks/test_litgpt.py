"""What LitGPT's plugin builds."""

import pytest
from nar_plugin.hooks import litgpt as plugin

pytest.importorskip("litgpt")


def test_every_configuration_names_its_repository():
    listed = list(plugin.nar_architectures())
    assert len(listed) >= 200
    assert all(item.hub_id and "/" in item.hub_id for item in listed)
    found = {item.name: item for item in listed}["litgpt:Llama-2-7b-chat-hf"]
    assert (found.family, found.hub_id) == ("llama_2", "meta-llama/Llama-2-7b-chat-hf")
