"""Fixed answers where a forward asks for values that a meta tensor does not have.

Each stand-in takes the recorder, the operator and its arguments, and returns the call's result, or
`Unknown` with arguments under which the meta kernel can run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Unknown(NamedTuple):
    """The call goes on to the meta kernel, with these arguments."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _item(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`.item()`: a check passes, so `all` holds and `isnan().any()` does not; 1 is any length."""
    dtype = args[0].dtype
    if dtype == torch.bool:
        return recorder.made_by(args[0]) == "all"
    if dtype.is_complex:
        return complex(1.0)
    return 1.0 if dtype.is_floating_point else 1


def _nonzero(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`nonzero`: one hit, at the origin."""
    return recorder.know(torch.zeros((1, args[0].dim()), dtype=torch.int64))


def _to_copy(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A change of device or of float precision is no change of the design."""
    tensor = args[0]
    dtype = kwargs.get("dtype")
    if dtype is None or (dtype.is_floating_point and tensor.is_floating_point()):
        return tensor
    return Unknown(args, {"dtype": dtype})


def _index(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Boolean masks in an index: known ones become their positions, unknown ones one position."""
    indices: list[Any] = []
    for index in args[1]:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            indices.append(index)
        elif index.is_meta:
            indices.extend(
                torch.empty(1, dtype=torch.int64, device="meta") for _ in range(index.dim())
            )
        else:
            indices.extend(index.nonzero().unbind(1))
    return Unknown((args[0], indices, *args[2:]), kwargs)


def _masked_select(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`masked_select`: one element."""
    return args[0].new_empty(1, device="meta")


def _unique(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`unique`: one value, that every element has."""
    tensor = args[0]
    value = tensor.new_empty(1, device="meta")
    positions = torch.empty(tensor.shape, dtype=torch.int64, device="meta")
    return value, positions, torch.empty(1, dtype=torch.int64, device="meta")


def _once_each(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`repeat_interleave` with unknown repeats: every position once."""
    if func is not torch.ops.aten.repeat_interleave.Tensor:
        return Unknown(args, kwargs)
    return recorder.know(torch.arange(args[0].numel()))


def _first_box(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Torchvision's `nms`: the first box is kept."""
    return recorder.know(torch.zeros(1, dtype=torch.int64))


def _fresh(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`zeros_like` and its like: a constant of the shape of a live tensor."""
    kwargs = {**kwargs, "device": torch.device("meta")}
    kwargs.pop("generator", None)
    shape = func(_meta(args[0]), *args[1:], **kwargs)
    return recorder.fresh(func, args, kwargs, shape)


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
    "repeat_interleave": _once_each,
    "_unique2": _unique,
    "unique_consecutive": _unique,
    "unique_dim": _unique,
    **dict.fromkeys(_FRESH, _fresh),
}
