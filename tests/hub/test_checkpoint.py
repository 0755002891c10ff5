"""A checkpoint on a Hub that has no config: headers by Range, with the real huggingface_hub."""

import json

import numpy as np
import pytest
from huggingface_hub import HfApi
from safetensors.numpy import save

from nar_plugin.checkpoints.recognition import checkpoint_of
from nar_plugin.errors import NarError

REPO = "owner/weights"


@pytest.fixture
def upload(client):
    api = HfApi(endpoint=client.url, token="writer")
    api.create_repo(REPO)

    def put(**files):
        for name, content in files.items():
            path = name.replace("__", ".").replace("_2_", "-")
            api.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=REPO)
        client.forget()

    return put


def weights(rows, name="w"):
    return save({name: np.zeros((rows, 64), dtype=np.float32)})


def test_only_a_header_is_read(client, upload):
    content = weights(1 << 16)  # 16 MB
    upload(model__safetensors=content)
    found = checkpoint_of(f"hub:{REPO}")
    assert [each.shape for each in found.tensors] == [(1 << 16, 64)]
    assert client.sent() < 1 << 20


def test_a_server_without_ranges_is_left_early(client, upload):
    upload(model__safetensors=weights(1 << 17))
    client.ranges = False
    assert checkpoint_of(f"hub:{REPO}").elements == 64 << 17


def test_shards_and_an_adapter(client, upload):
    places = {"a": "x.safetensors", "b": "y.safetensors"}
    upload(
        x__safetensors=weights(8, "a"),
        y__safetensors=weights(9, "b"),
        model__safetensors__index__json=json.dumps({"weight_map": places}).encode(),
        adapter_config__json=b'{"base_model_name_or_path": "owner/base"}',
    )
    found = checkpoint_of(f"hub:{REPO}")
    assert [each.shape for each in found.tensors] == [(8, 64), (9, 64)]
    assert (found.base, found.source) == ("owner/base", f"hub:{REPO}")


def test_what_cannot_be_read_from_afar(client, upload):
    upload(pytorch_model__bin=b"PK")
    with pytest.raises(NarError, match=r"has no config.json, and no .safetensors or .gguf"):
        checkpoint_of(f"hub:{REPO}")


def test_a_repository_with_a_config_is_a_model(client, upload):
    upload(config__json=b"{}", model__safetensors=weights(8))
    assert checkpoint_of(f"hub:{REPO}") is None
    assert checkpoint_of("hub:owner/nowhere") is None


def test_a_hostile_header(client, upload):
    upload(model__safetensors=b"\xff" * 7 + b"\x7f" + bytes(64))
    with pytest.raises(NarError, match=r"model.safetensors of owner/weights cannot be read"):
        checkpoint_of(f"hub:{REPO}")
