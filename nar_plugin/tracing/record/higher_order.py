"""Operators that take functions: `torch.cond`, flex attention, wrapped Triton kernels.

They reach a dispatch mode as a whole, with the mode itself set aside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nar_plugin.tracing.foreign.triton_kernels import launched
from nar_plugin.tracing.graph import Op


def run(recorder: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of one higher-order call, its operations recorded.

    Args:
        recorder: The recorder that was set aside for this call.
        func: The `torch._ops.HigherOrderOperator`.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Raises:
        NotImplementedError: Nothing is known about this operator.
    """
    rule = _RULES.get(func.name())
    if rule is None:
        raise NotImplementedError(f"the higher-order operator {func.name()} is not known")
    return rule(recorder, args, kwargs)


def _cond(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The branch that is taken when the condition holds."""
    _, branch, _, *operands = args
    with recorder:
        return branch(*(operands[0] if operands else ()))


def _while_loop(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One round of the body."""
    _, body, carried, *extra = args
    with recorder:
        return body(*carried, *(extra[0] if extra else ()))


def _flex_attention(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Dong et al. 2024, arXiv 2412.05496: attention with a mask or a bias given as a function."""
    query, key, value = args[:3]  # (batch, heads, length, width)
    attention = Op(
        "attention",
        (
            ("bias", False),
            ("heads", int(query.shape[1])),
            ("value_width", int(value.shape[-1])),
            ("width", int(query.shape[-1])),
        ),
    )
    lengths = query.shape[:-1]
    out = recorder.blank((*lengths, value.shape[-1]))
    rest = [recorder.blank(lengths) for _ in range(2)]
    flops = 2 * query.numel() * key.shape[-2] + 2 * out.numel() * key.shape[-2]
    recorder.emit(attention, [query, key, value], (out, *rest), flops=flops)
    return out, *rest


def _triton(recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel behind `torch.library.wrap_triton` writes into its arguments."""
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    kernel = kernel_side_table.get_kernel(kwargs["kernel_idx"])
    numbers = kernel_side_table.get_constant_args(kwargs["constant_args_idx"])
    with recorder:
        launched(recorder, kernel, {**numbers, **kwargs["kwargs"]})


_RULES: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "flex_attention": _flex_attention,
    "triton_kernel_wrapper_mutation": _triton,
}
