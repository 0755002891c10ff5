"""The header of a safetensors file: eight bytes of length, then JSON with type, shape and place.

https://github.com/huggingface/safetensors#format. Read by hand, because the library wants the whole
file on this machine, and the Hub's client loads an answer of any length.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import Any

from nar_plugin.checkpoints.packing import LONGEST_NOTE, note_of
from nar_plugin.checkpoints.sources import Source, refused
from nar_plugin.checkpoints.tensors import LONGEST_NAME, MOST, Tensor

FORM = "safetensors"
LONGEST = 32 << 20  # bytes of a header; one of 100,000 tensors has about 12 million
SIDES = 16  # of a tensor
_DIGITS = 18  # of a number of the header
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32,
    "U64": 64, "I64": 64, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
_NAMES = {"BOOL": "bool", "BF16": "bfloat16"}


@dataclass(frozen=True)
class Header:
    """What the header of a file says.

    Attributes:
        tensors: In the order of their data.
        said: The file's own metadata.
        notes: By name of a packed tensor, where the note of its sides begins and ends.
    """

    tensors: list[Tensor]
    said: dict[str, str]
    notes: dict[str, tuple[int, int]]


def read_safetensors(source: Source) -> Header:
    """The header of a file.

    Raises:
        NarError: It is no whole safetensors file.
    """
    beginning = source.read(0, 8)
    length = int.from_bytes(beginning, "little")
    if len(beginning) < 8 or not 2 <= length <= min(LONGEST, source.size - 8):
        raise refused(
            source,
            FORM,
            f"its header would have {length:,} bytes, of a file of {source.size:,} and at most "
            f"{LONGEST:,}",
        )
    text = source.read(8, length)
    if len(text) < length:
        raise refused(source, FORM, "it ends within its header")
    try:
        header = json.loads(text, parse_int=_number, parse_float=_no_float)
    except (ValueError, RecursionError) as error:
        raise refused(source, FORM, f"its header is no JSON: {error}") from error
    if not isinstance(header, dict) or len(header) > MOST:
        raise refused(source, FORM, f"its header is no object of at most {MOST:,} tensors")
    said = header.pop("__metadata__", None)
    found = [_tensor(source, name, entry) for name, entry in header.items()]
    found.sort(key=lambda each: each[:2])
    _check_places(source, found, source.size - 8 - length)
    metadata = said if isinstance(said, dict) else {}
    texts = {k: v for k, v in metadata.items() if isinstance(v, str)}
    notes = {
        layer: (8 + length + start, 8 + length + stop)
        for start, stop, tensor in found
        if stop - start <= LONGEST_NOTE and (layer := note_of(tensor.name))
    }
    return Header([tensor for _, _, tensor in found], texts, notes)


def _number(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def _no_float(text: str) -> float:
    raise ValueError("a number is no whole number")


def _tensor(source: Source, name: str, entry: Any) -> tuple[int, int, Tensor]:
    """Where the data of a tensor begin and end, and the tensor."""
    try:
        kind, shape, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
        sides = tuple(shape)
        whole = all(type(side) is int and side >= 0 for side in (*sides, start, stop))
        if not whole or len(sides) > SIDES:
            raise ValueError("its sides or places are no whole numbers")
        if kind in _BITS and prod(sides) * _BITS[kind] != 8 * (stop - start):
            raise ValueError(f"{sides} of {kind} do not take {stop - start:,} bytes")
        return start, stop, Tensor(name[:LONGEST_NAME], sides, dtype_name(kind))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise refused(source, FORM, f"of the tensor {name[:80]!r}, {problem}") from error


def dtype_name(kind: str) -> str:
    """Such as `float16` for `F16`; what is unknown as it is."""
    if kind in _NAMES or kind.startswith("F8"):
        return _NAMES.get(kind, "float8")
    words = {"F": "float", "I": "int", "U": "uint", "C": "complex"}
    word = words.get(kind[:1])
    return f"{word}{kind[1:]}" if word and kind[1:].isdecimal() else kind


def _check_places(source: Source, found: list[tuple[int, int, Tensor]], most: int) -> None:
    end = 0
    for start, stop, tensor in found:
        if start < end or stop < start:
            reason = f"the data of {tensor.name[:80]!r} overlap those of another tensor"
            raise refused(source, FORM, reason)
        end = stop
    if end > most:
        raise refused(source, FORM, f"it lacks {end - most:,} bytes: is it whole?")
