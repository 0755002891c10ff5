"""A program that a file holds: a list of calls, run one after another as a forward."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from .program_steps import Step, Value, filled, run

MOST_STEPS = 100_000  # the largest designs that ship have some 20,000 calls


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
        made = filled(self._outputs, values)
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
