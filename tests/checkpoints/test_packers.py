"""Files as the packers themselves write them: gguf's writer and bitsandbytes' layers."""

import pytest
import torch
from checkpoint_designs import Attends
from safetensors.torch import save_file

import nar_plugin

NAME = "transformers:attends/AttendsForWords"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q5_1", "Q4_0"])
def test_gguf_by_its_own_writer(index, tmp_path, kind):
    gguf = pytest.importorskip("gguf")
    quants = pytest.importorskip("gguf.quants")
    file = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(2)
    writer.add_token_list(["a", "b"])
    for name, value in Attends(True).state_dict().items():
        if value.dim() < 2:
            writer.add_tensor(name, value.numpy())
        else:
            to = gguf.GGMLQuantizationType[kind]
            writer.add_tensor(name, quants.quantize(value.numpy(), to), raw_dtype=to)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    similar = nar_plugin.find_similar(file, 1, index=index)
    assert (similar[0].name, similar[0].exact) == (NAME, True)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8])
def test_layers_of_bitsandbytes(index, tmp_path, bits):
    layers = pytest.importorskip("bitsandbytes").nn
    state = {}
    for name, value in Attends(True).state_dict().items():
        if not name.endswith("qkv.weight"):
            state[name] = value.half()
            continue
        out, entering = value.shape
        if bits == 4:
            layer = layers.Linear4bit(entering, out, bias=False, quant_type="nf4")
        else:
            layer = layers.Linear8bitLt(entering, out, bias=False, has_fp16_weights=False)
        layer.load_state_dict({"weight": value})
        layer.to("cpu")
        layer(torch.randn(1, entering))  # packs what is not packed yet
        state |= {name.removesuffix("weight") + w: v for w, v in layer.state_dict().items()}
    file = tmp_path / "a.safetensors"
    save_file({name: value.contiguous() for name, value in state.items()}, file)
    for asked in (state, file):
        similar = nar_plugin.find_similar(asked, 1, index=index)
        assert similar.query.packing == f"bitsandbytes ({bits} bits)"
        assert (similar[0].name, similar[0].exact) == (NAME, True)
