"""The arguments and results of torch's serialized nodes."""

from __future__ import annotations

from typing import Any

import torch

from .._shared.program_steps import Value

SCALAR_TYPES = {  # torch/_export/serde/schema.py, ScalarType
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    9: torch.complex32,
    10: torch.complex64,
    11: torch.complex128,
    12: torch.bool,
    13: torch.bfloat16,
    28: torch.uint16,
    29: torch.float8_e4m3fn,
    30: torch.float8_e5m2,
    31: torch.float8_e4m3fnuz,
    32: torch.float8_e5m2fnuz,
    34: torch.uint32,
    35: torch.uint64,
}
_MEMORY_FORMATS = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}


def plain_argument(kind: str, value: Any) -> Any:
    """What an argument of this kind is in torch; a `Value` for what a step makes."""
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_custom_obj"):
        return Value(value["name"])
    if kind == "as_scalar_type":
        return SCALAR_TYPES[value]
    if kind == "as_memory_format":
        return _MEMORY_FORMATS[value]
    if kind == "as_layout":
        return torch.strided
    if kind == "as_device":
        return torch.device("cpu")  # wherever it was exported
    if kind == "as_float":
        return float(value)  # which may be the text "-Infinity"
    if kind == "as_floats":
        return [float(item) for item in value]
    if kind == "as_complex":
        return complex(value["real"], value["imag"])
    if kind.startswith(("as_sym_", "as_optional_tensor")) or kind in _LISTS:
        if isinstance(value, list):
            return [_entry(item) for item in value]
        return _entry(value)
    return value


_LISTS = ("as_tensors", "as_nested_tensors")


def _entry(item: Any) -> Any:
    """One item of a list whose items may be values."""
    if isinstance(item, list):
        return [_entry(each) for each in item]
    if "name" in item:
        return Value(item["name"])
    ((kind, value),) = item.items()
    if kind == "as_name":
        return Value(value)
    return Value(value["name"]) if kind == "as_tensor" else None if kind == "as_none" else value


def result_name(result: Any) -> Any:
    """The name of a result; None of one that is left out."""
    ((kind, value),) = result.items()
    if kind in ("as_tensors", "as_sym_ints"):
        return [
            result_name({"as_tensor": item} if "name" in item else {"s": item}) for item in value
        ]
    if not isinstance(value, dict):
        return None
    if "as_tensor" in value:
        return value["as_tensor"]["name"]
    return value.get("name") or value.get("as_name")
