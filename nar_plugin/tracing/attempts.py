"""Tries inputs on one model, one after another, and remembers what was refused and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import inputs as example
from nar_plugin.tracing.escapes import told
from nar_plugin.tracing.forward import follow_on_meta, follow_on_reals
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.recorder import EndlessLoop

Follow = Callable[[nn.Module, ExampleInputs, str], ArchitectureGraph]

_MOST_REPAIRS = 40  # tries beyond the plugins' guesses
_MOST_ON_REALS = 3
_MOST_REAL_PARAMETERS = 50_000_000  # a model that small is copied with its weights


class Attempts:
    """The tries on one model.

    Args:
        model: Any module; it is only read.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._tried: set[str] = set()
        # Messages as text: an exception would keep the model in its frames alive.
        self._refused: list[tuple[ExampleInputs, str]] = []
        self._endless = False  # other inputs would not help

    def with_guesses(self) -> ArchitectureGraph | None:
        """The first trace on meta that succeeds: the plugins' guesses, then mended ones."""
        for inputs in example.guesses(self._model):
            graph = self.with_inputs(inputs, "the forward accepted guessed inputs")
            if graph is not None or self._endless:
                return graph
        for inputs, message in islice(self._mended(), _MOST_REPAIRS):
            graph = self.with_inputs(inputs, f"guessed inputs were mended after {message[:300]!r}")
            if graph is not None or self._endless:
                return graph
        return None

    def with_inputs(
        self, inputs: ExampleInputs, reason: str, follow: Follow = follow_on_meta
    ) -> ArchitectureGraph | None:
        """The graph, or None when the forward refuses these inputs.

        Raises:
            TraceError: The model cannot be traced with any inputs.
        """
        text = f"{follow.__name__}: {example.describe(inputs)}"
        if text in self._tried:
            return None
        self._tried.add(text)
        try:
            return follow(self._model, inputs, reason)
        except TraceError:
            raise
        except (Exception, SystemExit, EndlessLoop) as error:
            self._endless = self._endless or isinstance(error, EndlessLoop)
            self._refused.append((inputs, told(error)[:2000]))
            return None

    def on_reals(self) -> ArchitectureGraph | None:
        """A small model with weights runs for real on the inputs that were refused on meta."""
        parameters = list(self._model.parameters())
        if any(tensor.is_meta for tensor in (*parameters, *self._model.buffers())):
            return None
        if sum(parameter.numel() for parameter in parameters) > _MOST_REAL_PARAMETERS:
            return None
        for inputs, message in self._refused[:_MOST_ON_REALS]:
            reason = f"real tensors, since on meta tensors the forward raised {message[:300]!r}"
            try:
                graph = self.with_inputs(inputs, reason, follow_on_reals)
            except TraceError:
                continue
            if graph is not None:
                return graph
        return None

    def __str__(self) -> str:
        """The first refusals, one on each line."""
        return "\n".join(
            f"  {example.describe(inputs)}: {message[:500]}"
            for inputs, message in self._refused[:4]
        )

    def _mended(self) -> Iterator[tuple[ExampleInputs, str]]:
        """What the messages suggest; a mended guess that is refused is mended again."""
        place = 0
        while place < len(self._refused):
            inputs, message = self._refused[place]
            for mended in example.mended(self._model, inputs, message):
                yield mended, message
            place += 1
