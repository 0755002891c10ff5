"""Files that safetensors and torch write, and GGUF by its specification."""

import json
import struct
from collections import OrderedDict

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from written_gguf import gguf

from nar_plugin.checkpoints.reading import read_checkpoint
from nar_plugin.errors import NarError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)
        self.tied = self.head


def told(found):
    """Names and shapes without what counts batches."""
    return {each.name: each.shape for each in found.tensors if each.shape}


EXPECTED = {name: tuple(value.shape) for name, value in Net().state_dict().items() if value.shape}
UNTIED = {name: shape for name, shape in EXPECTED.items() if not name.startswith("tied.")}


def test_safetensors(tmp_path):
    file = tmp_path / "a.safetensors"
    save_file({n: v for n, v in Net().state_dict().items() if n in UNTIED}, file)
    assert told(read_checkpoint(str(file))) == UNTIED


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("kind", ["state_dict", "training", "module"])
def test_what_torch_saves(tmp_path, kind, old):
    net = Net()
    adam = torch.optim.Adam(net.parameters())
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    adam.step()
    value = {
        "state_dict": net.state_dict(),
        "training": {"epoch": 3, "state_dict": net.state_dict(), "optimizer": adam.state_dict()},
        "module": net,
    }[kind]
    file = tmp_path / "a.pth"
    if kind == "module":
        net.register_buffer("none", None)
    torch.save(value, file, _use_new_zipfile_serialization=not old)
    found = read_checkpoint(file)
    assert told(found) == EXPECTED
    assert {each.name for each in found.tensors if each.tied} == {"tied.weight", "tied.bias"}
    numbers = {p.data_ptr(): p.numel() for p in net.state_dict().values() if p.is_floating_point()}
    assert found.elements == sum(numbers.values())


def test_a_state_dict_in_hand():
    found = read_checkpoint(Net().state_dict())
    assert told(found) == EXPECTED
    assert {each.name for each in found.tensors if each.tied} == {"tied.weight", "tied.bias"}
    assert told(read_checkpoint({"epoch": 1, "model": Net().state_dict()})) == EXPECTED


def test_gguf(tmp_path):
    """Sides are innermost first; type 12 is Q4_K."""
    file = tmp_path / "a.gguf"
    file.write_bytes(gguf([("blk.0.attn_q.weight", (4096, 1024), 12), ("n", (4096,), 0)], ["x"]))
    found = read_checkpoint(file)
    assert told(found) == {"blk.0.attn_q.weight": (1024, 4096), "n": (4096,)}
    assert found.said == "llama"


def test_a_program_is_no_checkpoint(tmp_path):
    torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2)).save(str(tmp_path / "a.pt"))
    assert read_checkpoint(tmp_path / "a.pt") is None
    assert read_checkpoint("timm:resnet50") is None
    assert read_checkpoint(nn.Linear(2, 2)) is None


def test_shards_of_a_folder_and_an_adapter(tmp_path):
    state = Net().state_dict()
    save_file({"conv.weight": state["conv.weight"]}, tmp_path / "1.safetensors")
    save_file({"head.weight": state["head.weight"]}, tmp_path / "2.safetensors")
    places = {"conv.weight": "1.safetensors", "head.weight": "2.safetensors"}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    expected = {"conv.weight": (8, 3, 3, 3), "head.weight": (5, 8)}
    assert told(read_checkpoint(tmp_path)) == told(read_checkpoint(index)) == expected

    folder = tmp_path / "adapter"
    folder.mkdir()
    pair = {"m.q.lora_A.weight": torch.zeros(4, 16), "m.q.lora_B.weight": torch.zeros(24, 4)}
    save_file(pair, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "owner/base"}')
    found = read_checkpoint(folder)
    assert (told(found), found.adapter, found.base) == ({"m.q": (24, 16)}, True, "owner/base")


def test_a_folder_with_a_config_is_no_checkpoint(tmp_path):
    save_file({"a": torch.zeros(2, 2)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    assert read_checkpoint(tmp_path) is None


def test_a_huge_file_is_answered_by_its_header(tmp_path):
    file = tmp_path / "a.safetensors"
    side = 200_000
    header = json.dumps(
        {"w": {"dtype": "F32", "shape": [side, side], "data_offsets": [0, 4 * side * side]}}
    ).encode()
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        out.truncate(8 + len(header) + 4 * side * side)  # 160 GB, of which the disk has none
    assert told(read_checkpoint(file)) == {"w": (side, side)}
    with pytest.raises(NarError, match="it lacks"), file.open("r+b") as out:
        out.truncate(1 << 20)
        read_checkpoint(file)


def test_an_ordered_dict_of_python_2(tmp_path):
    """It was pickled as a call with pairs: lpips ships such files."""

    class Old(dict):
        def __reduce__(self):
            return OrderedDict, ([[name, value] for name, value in self.items()],)

    file = tmp_path / "old.pth"
    torch.save(Old(a=torch.zeros(1, 64, 1, 1)), file, _use_new_zipfile_serialization=False)
    assert told(read_checkpoint(file)) == {"a": (1, 64, 1, 1)}
