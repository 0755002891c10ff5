"""FLOPs of a recorded forward, two for each multiply-add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import torch
from torch.utils.flop_counter import flop_registry

from nar_plugin.tracing.canon.visits import rows_visited
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.kernels import call_key
from nar_plugin.tracing.record.record import Record
from nar_plugin.tracing.record.samples import Samples

# Formulas of torch take 0.1 ms, and blocks repeat: remembered by operator and shapes.
_REMEMBERED: dict[Any, int] = {}
_MOST_REMEMBERED = 1 << 14


class Work(NamedTuple):
    """FLOPs of a forward.

    Attributes:
        kinds: By kind of operator: `conv`, `attention`, `matmul` and recurrent layers.
        paths: By the module that issued the calls.
    """

    kinds: dict[str, int]
    paths: dict[str, int]


def flops_of(records: list[Record], samples: Samples | None = None) -> Work:
    """FLOPs by torch's own formulas (`torch.utils.flop_counter`), by ours for what it leaves out.

    Args:
        records: The recorded calls.
        samples: What a batch holds for each of several samples: the FLOPs are those of one.
    """
    kinds: Counter[str] = Counter()
    paths: Counter[str] = Counter()
    visits = rows_visited(records, _is_product)
    for place, record in enumerate(records):
        share = visits.get(place, 1)
        if samples is not None and not samples.is_shared(place):
            share = Fraction(share, samples.count)
        if isinstance(record.func, Op):
            kind, flops = record.func.kind, int(record.kwargs.get("flops", 0))
        elif _is_product(record):
            packet = record.func._overloadpacket
            kind, flops = _kind_of_work(packet.__name__), _flops(packet, record)
        else:
            continue
        kinds[kind] += int(flops * share)
        paths[record.path] += int(flops * share)
    return Work(dict(+kinds), dict(+paths))


def _is_product(record: Record) -> bool:
    if isinstance(record.func, Op):
        return False
    packet = record.func._overloadpacket
    return packet in flop_registry or packet.__name__ in _FORMULAS


def _flops(packet: Any, record: Record) -> int:
    key = call_key(packet, record.args, record.kwargs)
    try:
        if key not in _REMEMBERED:
            if len(_REMEMBERED) > _MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[key] = _by_formula(packet, record)
        return _REMEMBERED[key]
    except TypeError:  # an argument that cannot be hashed
        return _by_formula(packet, record)


def _by_formula(packet: Any, record: Record) -> int:
    formula = flop_registry.get(packet)
    if formula is not None:
        return int(formula(*record.args, **record.kwargs, out_val=record.out))
    return _FORMULAS[packet.__name__](record.args, record.out)


def _kind_of_work(operator: str) -> str:
    if "conv" in operator:
        return "conv"
    return "attention" if "attention" in operator else "matmul"


# -- formulas that torch lacks, from the arguments and the result --------------------------


def _product(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """(..., k) @ (k, n), and each of a stack: every element of the left meets n columns."""
    left, right = args[0], args[1]
    return 2 * int(left.numel()) * int(right.shape[-1] if right.dim() > 1 else 1)


def _added_product(args: tuple[Any, ...], out: torch.Tensor) -> int:
    return _product(args[1:], out)


def _linear(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """(..., k), (n, k) -> (..., n)."""
    return 2 * int(out.numel()) * int(args[1].shape[-1])


def _grouped(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """Routed experts: each row of the left, (rows, k), meets one of the matrices (experts, k, n).

    Where the groups are of columns, (experts, m, k) and (k, columns), each column meets one.
    """
    left, right = args[0], args[1]
    rows = left[0].numel() if left.dim() == 3 and right.dim() == 2 else left.numel()
    return 2 * int(rows) * int(right.shape[-1])


def _deformable(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """The convolution at its moved places; the interpolation there counts nothing."""
    weight = args[1]  # (out, in / groups, height, width)
    return 2 * int(out.numel()) * int(weight[0].numel())


def _trilinear(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """nn.Bilinear, (n, k), (o, k, l), (n, l) -> (n, o): the weight first meets one input."""
    weight = args[1]
    rows = args[0].numel() // weight.shape[1]
    return 2 * int(rows) * int(weight.numel() + weight[:, 0].numel())


def _distances(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """(n, k), (m, k) -> (n, m), as a product of rows with their squares and ones beside them."""
    return 2 * int(out.numel()) * int(args[0].shape[-1] + 2)


_FORMULAS: dict[str, Callable[[tuple[Any, ...], torch.Tensor], int]] = {
    **dict.fromkeys(("mv", "dot", "vdot", "_int_mm"), _product),
    **dict.fromkeys(("addmv", "addbmm", "_addmm_activation"), _added_product),
    **dict.fromkeys(("_grouped_mm", "_scaled_grouped_mm"), _grouped),
    "linear": _linear,
    "_euclidean_dist": _distances,
    "_trilinear": _trilinear,
    "deform_conv2d": _deformable,
}
