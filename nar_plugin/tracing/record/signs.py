"""Which values cannot be negative, by how they were computed."""

from __future__ import annotations

import torch

from nar_plugin.tracing.record.sources import Sources

_NEVER_NEGATIVE = frozenset(
    "abs square exp sigmoid softmax _softmax relu sqrt norm linalg_vector_norm var std".split()
)
_KEEPING = frozenset("max amax min amin mean sum cumsum sqrt clamp clamp_min maximum".split())
_JOINING = frozenset("add mul div".split())
_DEEPEST = 16


def is_never_negative(sources: Sources, tensor: torch.Tensor, depth: int = 0) -> bool:
    """Whether a live value is a norm, a square, a sum of such, and so on."""
    record = sources.maker(tensor)
    if record is None or depth > _DEEPEST:
        return False
    name = record.name.rstrip("_")
    if name in _NEVER_NEGATIVE:
        return True
    if name == "pow":
        power = record.args[1]
        even = isinstance(power, int | float) and power % 2 == 0
        return even or _holds(sources, record.args[0], depth)
    if name in _KEEPING:
        return _holds(sources, record.args[0], depth)
    if name in _JOINING:
        one, other = record.args[:2]
        if name == "mul" and one is other:
            return True
        return _holds(sources, one, depth) and _holds(sources, other, depth)
    return False


def _holds(sources: Sources, value: object, depth: int) -> bool:
    if isinstance(value, torch.Tensor):
        known = sources.standing_for(value)
        if not known.is_meta:
            return bool((known >= 0).all())
        return is_never_negative(sources, value, depth + 1)
    return isinstance(value, int | float) and value >= 0
