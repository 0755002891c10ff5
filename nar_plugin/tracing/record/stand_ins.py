"""Fixed answers where a forward asks for values that a meta tensor does not have.

Each stand-in takes the recorder, the operator and its arguments, and returns the call's result, a
`Computed` result that is to be recorded, or `Unknown` with arguments for the meta kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from nar_plugin.tracing.record.choices import choices
from nar_plugin.tracing.record.signs import is_never_negative


class Unknown(NamedTuple):
    """The call goes on to the meta kernel, with these arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Computed(NamedTuple):
    """A result whose shape was chosen here, of an operation like any other."""

    out: Any


_SMALL = 2.0**-30


def _item(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`.item()`: a check passes, so `all` holds and `isnan().any()` does not; 1 is any length.

    A loop that waits for a value would wait for ever, so a module that keeps asking gets other
    answers: the opposite, zero, much. What cannot be negative, such as the estimate of an error,
    is small at first: it is below any tolerance, and its root can be taken.
    """
    dtype = args[0].dtype
    patience = recorder.ask()
    recorder.made_up += 1
    if dtype == torch.bool:
        return recorder.holds(args[0]) == (patience % 2 == 0)
    number: float = (1, 0, 1000, -1000)[patience % 4]
    if dtype.is_floating_point and is_never_negative(recorder.sources, args[0]):
        number = (_SMALL, 1, 1000, 0)[patience % 4]
    if dtype.is_complex:
        return complex(number)
    return float(number) if dtype.is_floating_point else number


def _nonzero(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`nonzero`: one hit, in the middle: what lies on a border is often thrown away."""
    recorder.ask()
    return recorder.constants.tell(
        torch.tensor([[size // 2 for size in args[0].shape]], dtype=torch.int64)
    )


def _to_copy(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A change of device or of float precision is no change of the design."""
    tensor = args[0]
    dtype = kwargs.get("dtype")
    if dtype is not None and not (dtype.is_floating_point and tensor.is_floating_point()):
        return Unknown(args, {"dtype": dtype})
    if tensor.dtype == torch.float32 or not tensor.is_floating_point():
        return tensor
    return Unknown(args, {"dtype": torch.float32})  # of a complex128 constant, say


def _index(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Boolean masks in an index: known ones become their positions, unknown ones hit everywhere."""
    indices: list[Any] = []
    for index in args[1]:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            indices.append(index)
        elif index.is_meta:
            indices.extend(
                torch.empty(index.numel(), dtype=torch.int64, device="meta")
                for _ in range(index.dim())
            )
        else:
            indices.extend(index.nonzero().unbind(1))
    return Unknown((args[0], indices, *args[2:]), kwargs)


def _masked_select(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`masked_select`: every element."""
    recorder.ask()
    shapes: Any = np.broadcast_shapes(args[0].shape, args[1].shape)
    return Computed(args[0].new_empty(math.prod(shapes), device="meta"))


def _unique(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`unique`: one value, that every element has."""
    recorder.ask()
    tensor = args[0]
    value = tensor.new_empty(1, device="meta")
    positions = torch.empty(tensor.shape, dtype=torch.int64, device="meta")
    return Computed((value, positions, torch.empty(1, dtype=torch.int64, device="meta")))


def _bincount(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`bincount`: a number for each choice that there was."""
    recorder.ask()
    least = kwargs.get("minlength", args[2] if len(args) > 2 else 0)
    bins = max(least, choices(recorder.sources, args[0]), 1)
    return Computed(torch.empty(bins, dtype=torch.int64, device="meta"))


def _once_each(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`repeat_interleave` with unknown repeats: every position once."""
    if func is not torch.ops.aten.repeat_interleave.Tensor:
        return Unknown(args, kwargs)
    return recorder.constants.tell(torch.arange(args[0].numel()))


def _fitting_split(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`split` by sizes that were stand-ins themselves: the first part takes what is left."""
    tensor, sizes, *rest = args
    whole = tensor.shape[rest[0] if rest else 0]
    if sum(sizes) != whole and 0 < len(sizes) <= whole and set(sizes) == {1}:
        sizes = [whole - len(sizes) + 1, *sizes[1:]]
    return Unknown((tensor, sizes, *rest), kwargs)


def _packed(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`pack_padded_sequence`: by its lengths where they are known, else all are full."""
    padded, lengths, batch_first = args
    batch, steps = padded.shape[:2] if batch_first else padded.shape[1::-1]
    if not lengths.is_meta and recorder.constants.packs(lengths):
        recorder.sources.put_in_order(padded, recorder.constants)
    if lengths.is_meta:
        lengths = torch.full((batch,), steps)
    sizes = (lengths[None] > torch.arange(int(lengths.max()))[:, None]).sum(1)  # (steps)
    data = padded.new_empty((int(sizes.sum()), *padded.shape[2:]), device="meta")
    return Computed((data, recorder.constants.know(sizes)))


def _padded(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`pad_packed_sequence`: the inverse of `_packed`."""
    data, sizes, batch_first, _, total = args
    if sizes.is_meta:
        sizes = torch.ones(sizes.shape[0], dtype=torch.int64)
    batch, steps = int(sizes[0]), max(len(sizes), total)
    shape = (batch, steps) if batch_first else (steps, batch)
    lengths = (sizes[:, None] > torch.arange(batch)[None]).sum(0)  # (batch)
    out = data.new_empty((*shape, *data.shape[1:]), device="meta")
    return Computed((out, recorder.constants.know(lengths)))


def _holds(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.equal` and `torch.allclose`: an assertion passes."""
    recorder.made_up += 1
    return recorder.ask() % 2 == 0


def _grouped_product(
    recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`_grouped_mm`: its shape alone, since torch's kernels before 2.15 take bfloat16 and no more.

    Of two matrices the groups part the inner dimension, so there is a product for each; else they
    part the rows or the columns of the one that is a matrix.
    """
    one, other = args[:2]
    groups: tuple[int, ...] = ()
    if one.dim() == other.dim():
        offsets: Any = args[2] if len(args) > 2 else kwargs.get("offs")
        groups = (len(offsets if one.dim() == 2 else one),)
    return Computed(one.new_empty((*groups, one.shape[-2], other.shape[-1]), device="meta"))


def _first_box(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Torchvision's `nms`: the first box is kept."""
    return recorder.constants.tell(torch.zeros(1, dtype=torch.int64))


def _fresh(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`zeros_like` and its like: a constant of the shape of a live tensor."""
    kwargs = {**kwargs, "device": torch.device("meta")}
    if "generator" in kwargs:
        kwargs["generator"] = None
    shape = func(_meta(args[0]), *args[1:], **kwargs)
    if torch.is_grad_enabled():  # a gradient must be on its tensor's device
        return recorder.constants.add(shape)
    return recorder.constants.make_like(func, args, kwargs, shape)


def _in_bounds(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Row numbers that the kernel would follow out of its memory; stand-ins may be too large."""
    rows, size, *rest = args
    return (rows.clamp(0, max(size - 1, 0)), size, *rest)


def _meta(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.is_meta else tensor.to("meta")


_FRESH = """
    zeros_like ones_like full_like empty_like rand_like randn_like randint_like new_zeros new_ones
    new_full new_empty new_empty_strided
""".split()

STAND_INS: dict[str, Callable[..., Any]] = {
    "_local_scalar_dense": _item,
    "nonzero": _nonzero,
    "_to_copy": _to_copy,
    "index": _index,
    "index_put": _index,
    "index_put_": _index,
    "_index_put_impl_": _index,
    "masked_select": _masked_select,
    "nms": _first_box,
    "_grouped_mm": _grouped_product,
    "split_with_sizes": _fitting_split,
    "_pack_padded_sequence": _packed,
    "_pad_packed_sequence": _padded,
    "equal": _holds,
    "allclose": _holds,
    "repeat_interleave": _once_each,
    "bincount": _bincount,
    "_unique2": _unique,
    "unique_consecutive": _unique,
    "unique_dim": _unique,
    **dict.fromkeys(_FRESH, _fresh),
}

# What must be checked before a call on known constants runs for real.
GUARDS: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "_convert_indices_from_coo_to_csr": _in_bounds,
}
