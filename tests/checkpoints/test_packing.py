"""Packed shapes as the packers' own formulas give them."""

from nar_plugin.checkpoints.packing import unpacked
from nar_plugin.checkpoints.tensors import Checkpoint, Tensor


def shapes(*tensors, sides=None):
    found = unpacked(Checkpoint("x", "state_dict", tensors, sides or {}))
    return {each.name: each.shape for each in found.tensors}, found.packing


def test_gptq():
    """AutoGPTQ: qweight [in / 32 * bits, out], qzeros [in / group, out / 32 * bits]."""
    for bits in (2, 3, 4, 8):
        found, packing = shapes(
            Tensor("q.qweight", (4096 // 32 * bits, 1024), "int32"),
            Tensor("q.qzeros", (4096 // 128, 1024 // 32 * bits), "int32"),
            Tensor("q.scales", (4096 // 128, 1024), "float16"),
            Tensor("q.g_idx", (4096,), "int32"),
            Tensor("q.bias", (1024,), "float16"),
        )
        assert found == {"q.qweight": (1024, 4096), "q.bias": (1024,)}
        assert packing == "GPTQ or AWQ"


def test_awq():
    """AutoAWQ's WQLinear_GEMM: qweight [in, out / 8], qzeros [in / group, out / 8]."""
    found, _ = shapes(
        Tensor("q.qweight", (4096, 1024 // 8), "int32"),
        Tensor("q.qzeros", (32, 1024 // 8), "int32"),
        Tensor("q.scales", (32, 1024), "float16"),
    )
    assert found == {"q.qweight": (1024, 4096)}


def test_awq_for_single_tokens():
    """AutoAWQ 0.2.9: WQLinear_GEMV and WQLinear_GEMVFast of 512 inputs, groups of 128."""
    found, _ = shapes(
        Tensor("q.qweight", (1536, 64), "int32"),
        Tensor("q.qzeros", (1536, 1), "int32"),
        Tensor("q.scales", (1536, 8), "float16"),
    )
    assert found == {"q.qweight": (1536, 512)}
    found, _ = shapes(
        Tensor("q.qweight", (384, 512), "int16"),
        Tensor("q.qzeros", (8, 1536), "float16"),
        Tensor("q.scales", (8, 1536), "float16"),
    )
    assert found == {"q.qweight": (1536, 512)}


def test_floats_of_four_bits():
    """compressed-tensors 0.20.1: NVFP4PackedCompressor and MXFP4PackedCompressor."""
    nvfp4 = (
        Tensor("q.weight_packed", (768, 256), "uint8"),
        Tensor("q.weight_scale", (768, 32), "float8_e4m3fn"),
        Tensor("q.weight_global_scale", (1,)),
    )
    assert shapes(*nvfp4)[0] == {"q.weight_packed": (768, 512)}
    mxfp4 = (
        Tensor("q.weight_packed", (768, 256), "uint8"),
        Tensor("q.weight_scale", (768, 16), "uint8"),
    )
    assert shapes(*mxfp4)[0] == {"q.weight_packed": (768, 512)}


def test_bitsandbytes_with_its_note_and_without():
    """Params4bit: uint8 [numbers / 2, 1]; the sides are in quant_state, which is JSON."""
    packed = (
        Tensor("q.weight", (1024 * 4096 // 2, 1), "uint8"),
        Tensor("q.weight.absmax", (65536,), "uint8"),
        Tensor("q.weight.quant_map", (16,)),
        Tensor("q.weight.nested_absmax", (256,)),
        Tensor("q.weight.nested_quant_map", (256,)),
        Tensor("q.weight.quant_state.bitsandbytes__nf4", (180,), "uint8"),
    )
    assert shapes(*packed)[0] == {"q.weight": (1024 * 4096,)}
    noted, packing = shapes(*packed, sides={"q.weight": (1024, 4096)})
    assert noted == {"q.weight": (1024, 4096)}
    assert packing == "bitsandbytes (4 bits)"


def test_eight_bits_mlx_compressed_and_blocks():
    int8 = Tensor("q.weight", (1024, 4096), "int8"), Tensor("q.SCB", (1024,))
    assert shapes(*int8)[0] == {"q.weight": (1024, 4096)}
    mlx = (
        Tensor("q.weight", (1024, 4096 * 4 // 32), "uint32"),
        Tensor("q.scales", (1024, 64), "float16"),
        Tensor("q.biases", (1024, 64), "float16"),
    )
    assert shapes(*mlx)[0] == {"q.weight": (1024, 4096)}
    compressed = (
        Tensor("q.weight_packed", (1024, 4096 // 8), "int32"),
        Tensor("q.weight_scale", (1024, 32), "bfloat16"),
        Tensor("q.weight_shape", (2,), "int64"),
    )
    assert shapes(*compressed)[0] == {"q.weight_packed": (1024, 4096)}
    blocks = (
        Tensor("experts.up_blocks", (32, 5760, 90, 16), "uint8"),
        Tensor("experts.up_scales", (32, 5760, 90), "uint8"),
    )
    assert shapes(*blocks)[0] == {"experts.up_blocks": (32, 5760, 2880)}


def test_what_is_no_packing_stays():
    plain = Tensor("a.weight", (8, 8)), Tensor("a.scales", (8,)), Tensor("a.steps", (), "int64")
    assert shapes(*plain) == ({"a.weight": (8, 8), "a.scales": (8,)}, "")
