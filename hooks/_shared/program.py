"""A program that a file holds: a list of calls, run one after another as a forward."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

MOST_STEPS = 100_000  # the largest designs that ship have some 20,000 calls
MOST_KNOWN = 1 << 16  # elements of an integer tensor whose values are read
MOST_ELEMENTS = 1 << 40  # of one tensor: no weight has as many
_IDS = 7  # different ones, few enough for any table


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an earlier step, an input or a weight, by its name in the file."""

    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """One call.

    Attributes:
        call: What is called.
        args: Positional arguments; a `Value` in them, in lists too, stands for what has its name.
        kwargs: Keyword arguments, in the same way.
        result: A name for the whole result, or a list of names, one for each part of it. None
            leaves a part out.
    """

    call: Callable[..., Any]
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None


class Program(nn.Module):
    """Runs the steps of a file.

    Example:
        ```python
        relu = Step(torch.relu, [Value("x")], result="y")
        Program(["x"], [relu], [Value("y")])(torch.ones(1))
        ```

    Args:
        inputs: Names of the forward's arguments.
        steps: The calls, in order.
        outputs: What the forward returns.
        weights: Tensors by name. A `nn.Parameter` counts as a weight, another tensor as a buffer.
        parts: Programs that a step takes as an argument, such as the branches of a condition.

    Attributes:
        digest: A hash of its names and shapes.
        has_layers: False: its module tree says nothing of the design (`tracing.run.methods`).

    Raises:
        ValueError: There are too many steps, or a value is used before it is made.
    """

    has_layers = False

    def __init__(
        self,
        inputs: Iterable[str],
        steps: Iterable[Step],
        outputs: Sequence[Any],
        weights: Mapping[str, Tensor] | None = None,
        parts: Mapping[str, nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self._inputs, self._outputs = tuple(inputs), list(outputs)
        self._steps = tuple(steps)
        if len(self._steps) > MOST_STEPS:
            raise ValueError(f"it has {len(self._steps):,} steps, more than {MOST_STEPS:,}")
        self._places: dict[str, str] = {}
        for number, (name, tensor) in enumerate((weights or {}).items()):
            self._places[name] = f"weight_{number}"
            if isinstance(tensor, nn.Parameter):
                self.register_parameter(f"weight_{number}", tensor)
            else:
                self.register_buffer(f"weight_{number}", tensor)
        for number, (name, part) in enumerate((parts or {}).items()):
            self._places[name] = f"part_{number}"
            self.add_module(f"part_{number}", part)
        self._check()
        self.digest = self._digest()

    def forward(self, *given: Any) -> Any:
        """What the steps make of the inputs."""
        values = dict(zip(self._inputs, given, strict=True))
        values.update({name: getattr(self, place) for name, place in self._places.items()})
        run(self._steps, values)
        made = _filled(self._outputs, values)
        return made[0] if len(made) == 1 else tuple(made)

    def _digest(self) -> str:
        """What tells one program from another: their classes and code are the same."""
        shapes = [list(item.shape) for item in self.state_dict().values()]
        names = [step.result for step in self._steps]
        text = repr((self._inputs, self._outputs, shapes, names))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def _check(self) -> None:
        """Every value is made before it is used, so no step waits for itself."""
        known = {*self._inputs, *self._places}
        for step in self._steps:
            _want([step.args, step.kwargs], known)
            known.update(_names(step.result))
        _want(self._outputs, known)


def run(steps: Iterable[Step], values: dict[str, Any]) -> None:
    """Make the calls, one after another; each finds its arguments in `values`, and adds to them."""
    for step in steps:
        made = step.call(*_filled(step.args, values), **_filled(step.kwargs, values))
        _bind(step.result, made, values)


def example(dtype: torch.dtype, shape: Sequence[int]) -> Tensor:
    """An input of this kind: floats on meta, integers as small ids, conditions that all hold.

    Example:
        ```python
        example(torch.int64, (1, 4))  # [[0, 1, 2, 3]]
        ```
    """
    if dtype.is_floating_point or dtype.is_complex:
        return empty(dtype, shape)
    if dtype == torch.bool:
        return torch.ones(tuple(shape), dtype=torch.bool)
    places = torch.arange(torch.Size(shape).numel()).reshape(tuple(shape)) % _IDS
    return places.to(dtype)


def empty(dtype: torch.dtype, shape: Sequence[int]) -> Tensor:
    """A tensor on meta.

    Raises:
        ValueError: A size is negative, or there are too many elements.
    """
    size = torch.Size(shape)
    if any(side < 0 for side in size) or size.numel() > MOST_ELEMENTS:
        raise ValueError(f"a tensor has the shape {list(size)[:8]}")
    return torch.empty(size, dtype=dtype, device="meta")


def known(dtype: torch.dtype, shape: Sequence[int], content: bytes) -> Tensor:
    """A small tensor with the values that the file has.

    Raises:
        ValueError: The bytes are too few.
    """
    size = torch.Size(shape)
    wanted = size.numel() * dtype.itemsize
    if any(side < 0 for side in size) or wanted > len(content):
        raise ValueError(f"a tensor of {wanted} bytes has {len(content)}")
    if wanted == 0:
        return torch.empty(size, dtype=dtype)
    return torch.frombuffer(bytearray(content[:wanted]), dtype=dtype).reshape(size)


def is_known(dtype: torch.dtype, shape: Sequence[int]) -> bool:
    """Whether the values may matter: of places, sizes and masks, not of weights."""
    whole = not (dtype.is_floating_point or dtype.is_complex)
    return whole and torch.Size(shape).numel() <= MOST_KNOWN


def _filled(item: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(item, Value):
        return values[item.name]
    if isinstance(item, list | tuple):
        return type(item)(_filled(each, values) for each in item)
    if isinstance(item, Mapping):
        return {key: _filled(each, values) for key, each in item.items()}
    return item


def _bind(result: Any, made: Any, values: dict[str, Any]) -> None:
    if isinstance(result, list | tuple):
        for name, part in zip(result, made, strict=False):
            _bind(name, part, values)
    elif result is not None:
        values[result] = made


def _names(result: Any) -> Iterable[str]:
    if isinstance(result, list | tuple):
        return [name for each in result for name in _names(each)]
    return [] if result is None else [result]


def _want(item: Any, names: set[str]) -> None:
    if isinstance(item, Value) and item.name not in names:
        raise ValueError(f"{item.name[:80]!r} is used before it is made")
    if isinstance(item, Mapping):
        item = list(item.values())
    if isinstance(item, list | tuple):
        for each in item:
            _want(each, names)
