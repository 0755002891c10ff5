"""Runs ATen calls on the meta device, and remembers the answers by operator and shapes.

Meta kernels written in Python take up to 2 ms; blocks repeat, so most answers are known. What is
remembered are shapes only, nothing of a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any

import torch

from nar_plugin import isolation
from nar_plugin.tracing.record.opaque import likely_outputs

with warnings.catch_warnings():  # sympy adds a filter of its own
    import torch.fx.experimental.symbolic_shapes  # by meta kernels: once here, not in each child

_LAYOUTS: dict[Any, Any] = {}
_MOST_LAYOUTS = 1 << 14
_SEQUENCES = (list, tuple)


def call_key(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What tells calls apart: operator, numbers, and the layouts of the tensors.

    It can be hashed unless an argument cannot.
    """
    return func, _shapes(args), _shapes(tuple(kwargs.items())) if kwargs else None


def _shapes(items: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    return tuple(
        [
            (item.shape, item.stride(), item.dtype)
            if isinstance(item, torch.Tensor)
            else (_entries(item) if isinstance(item, _SEQUENCES) else (type(item), item))
            for item in items
        ]
    )


def _entries(items: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    if items and type(items[0]) is int:  # a shape, in which no other type can stand
        return tuple(items)
    return _shapes(items)


def _layout(out: Any) -> Any:
    if isinstance(out, torch.Tensor):
        return (out.shape, out.stride(), out.dtype)
    if isinstance(out, tuple | list):
        return [_layout(item) for item in out]
    return out


def _empty_like_layout(layout: Any) -> Any:
    if type(layout) is tuple:
        shape, stride, dtype = layout
        return without_memory(torch.empty_strided(shape, stride, dtype=dtype, device="meta"))
    if type(layout) is list:
        return tuple([_empty_like_layout(item) for item in layout])
    return layout


def _on_meta_kernel(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return func(*args, **kwargs)
    except NotImplementedError:
        return _without_meta_kernel(func, args, kwargs)
    except RuntimeError as error:
        if "fake impl" in str(error):  # torch.library.custom_op without register_fake
            return _without_meta_kernel(func, args, kwargs)
        if "channel dimensions" in str(error):  # the meta kernel is terser than the others
            raise RuntimeError(_channels_wanted(args)) from error
        if "dtype" not in str(error) and "type" not in str(error):
            raise
        args, kwargs = _all_float32(args, kwargs)
        return func(*args, **kwargs)


def _channels_wanted(args: tuple[Any, ...]) -> str:
    data, weight = args[:2]
    wanted = weight.shape[0] if args[6] else weight.shape[1] * args[8]  # transposed; groups
    shape = list(data.shape)
    return f"expected input{shape} to have {wanted} channels, but got {shape[1]} channels instead"


def run_on_meta(
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    view: bool = False,
    writes: tuple[int, ...] = (),
    ready: bool = False,
) -> Any:
    """The meta kernel's answer, or the remembered one for the same shapes.

    Args:
        func: The operator.
        args: Its arguments; real tensors among them become meta.
        kwargs: Its keyword arguments.
        view: Whether the result is a view, which nothing can stand in for.
        writes: Positions of the arguments that are written to.
        ready: Whether the arguments are known to hold no real tensor and no device.
    """
    if not ready:
        args, kwargs = _all_meta(args, kwargs)
    if view or len(writes) > 1:
        return _on_meta_kernel(func, args, kwargs)
    try:
        key = call_key(func, args, kwargs)
        layout = _LAYOUTS.get(key)
    except TypeError:  # an argument that cannot be hashed
        return _on_meta_kernel(func, args, kwargs)
    if layout is None:
        out = _on_meta_kernel(func, args, kwargs)
        if len(_LAYOUTS) > _MOST_LAYOUTS:
            _LAYOUTS.clear()
        _LAYOUTS[key] = _layout(out)
        return out if writes else map_tensors(out, without_memory)
    if writes:  # `transpose_`, `squeeze_` and `out=` can give their argument another shape
        written = args[writes[0]]
        return written if layout == _layout(written) else _on_meta_kernel(func, args, kwargs)
    return _empty_like_layout(layout)


def without_memory(tensor: torch.Tensor) -> torch.Tensor:
    """A meta tensor whose `data_ptr()` raises: C code would follow the null that it returns."""
    _throw_on_data_ptr(tensor)
    return tensor


_throw_on_data_ptr: Callable[[torch.Tensor], None] = torch._C._set_throw_on_mutable_data_ptr


def meta_twin(tensor: torch.Tensor) -> torch.Tensor:
    """An empty meta tensor of the same shape; every float becomes float32."""
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    return without_memory(torch.empty(tensor.shape, dtype=dtype, device="meta"))


def map_tensors(item: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """The item with every tensor changed, in lists and tuples too."""
    if isinstance(item, torch.Tensor):
        return change(item)
    if type(item) is list or type(item) is tuple:
        return type(item)([map_tensors(entry, change) for entry in item])
    return item


def _all_meta(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    args = tuple([_meta_argument(item) for item in args])
    if kwargs:
        kwargs = {key: _meta_argument(item) for key, item in kwargs.items()}
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("meta")
    return args, kwargs


def _meta_argument(item: Any) -> Any:
    if isinstance(item, torch.Tensor):
        return item if item.is_meta else meta_twin(item)
    if type(item) is list or type(item) is tuple:
        return type(item)([_meta_argument(entry) for entry in item])
    return item


def _all_float32(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point() or tensor.dtype == torch.float32:
            return tensor
        return torch.empty(tensor.shape, dtype=torch.float32, device="meta")

    return map_tensors(args, change), {
        key: map_tensors(item, change) for key, item in kwargs.items()
    }


def _without_meta_kernel(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return _on_small_reals(func, args, kwargs)
    except Exception:  # no kernel for the CPU either, or it refuses zeros
        return likely_outputs(func, args, kwargs)


def _on_small_reals(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator without a meta kernel runs on zeros, for the shape of its result."""

    def zeros(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.numel() > 1 << 24:
            raise NotImplementedError(f"{func} has no meta kernel, and its input is large")
        return torch.zeros(tensor.shape, dtype=tensor.dtype)

    kwargs = {key: map_tensors(item, zeros) for key, item in kwargs.items()}
    if kwargs.get("device") is not None:
        kwargs["device"] = torch.device("cpu")
    return map_tensors(func(*map_tensors(args, zeros), **kwargs), meta_twin)


def plainly_on_meta(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The meta kernel's answer to a call that draws random numbers."""
    args, kwargs = _all_meta(args, kwargs)
    if "generator" in kwargs:
        kwargs["generator"] = None
    return func(*args, **kwargs)


class _Answers:
    """The layouts that a forked child has learned (`isolation.Memory`); operators by name."""

    def begin(self) -> None:
        self._known = len(_LAYOUTS)

    def news(self) -> list[tuple[str, Any, Any]]:
        new = islice(_LAYOUTS.items(), self._known, None)
        return [(func.name(), rest, layout) for (func, *rest), layout in new]

    def learn(self, news: list[tuple[str, Any, Any]]) -> None:
        for name, rest, layout in news:
            with suppress(AttributeError, RuntimeError):  # an operator that is the child's alone
                _LAYOUTS[_operator(name), *rest] = layout


def _operator(name: str) -> Any:
    """The overload of that name, such as `aten::add.Tensor`."""
    packet, _, overload = name.partition(".")
    space, _, operator = packet.partition("::")
    return getattr(getattr(getattr(torch.ops, space), operator), overload or "default")


isolation.remember(_Answers())
