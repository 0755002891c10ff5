"""Tries inputs on one model, one after another, and remembers what was refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from torch import nn

from nar_plugin import isolation
from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.escapes import told
from nar_plugin.tracing.record.host_copies import WeightsWanted, out_of_reach
from nar_plugin.tracing.record.recorder import EndlessLoop
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.forward import ABOUT, CALLS_MADE, follow_on_meta, follow_on_reals
from nar_plugin.tracing.twin.parts import buffers, parameters

Follow = Callable[[nn.Module, ExampleInputs, str], ArchitectureGraph]

_MOST_REPAIRS = 80  # tries beyond the plugins' guesses
_FIRST_REPAIRS = 16  # of them before the first blind guess
_MOST_ALIKE = 8  # refusals with one message that are looked into
_MOST_ON_REALS = 3
_MOST_REAL_PARAMETERS = 50_000_000  # a model that small is copied with its weights


class _Refusal(NamedTuple):
    inputs: ExampleInputs
    message: str
    calls: int  # that the forward made before
    about: frozenset[int | str]  # the arguments on which the call that raised depends


class Attempts:
    """The tries on one model.

    Args:
        model: Any module; it is only read.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._tried: set[str] = set()
        # Messages as text: an exception would keep the model in its frames alive.
        self._refused: list[_Refusal] = []
        self._endless = False  # other inputs would not help

    def with_guesses(self, stated: ExampleInputs | None = None) -> ArchitectureGraph | None:
        """The first trace on meta that succeeds: the plugins' guesses, then mended ones.

        A blind guess may be accepted by luck, so some mended ones come before the first of them.

        Args:
            stated: What the model itself says, which comes before all guesses.
        """
        if stated is not None:
            graph = self.with_inputs(stated, "the forward accepted the example_input_array")
            if graph is not None or self._endless:
                return graph
        repaired = False
        for inputs in example.guesses(self._model):
            if inputs.blind and not repaired:
                repaired = True
                graph = self._with_mended(_FIRST_REPAIRS)
                if graph is not None or self._endless:
                    return graph
            graph = self.with_inputs(inputs, "the forward accepted guessed inputs")
            if graph is not None or self._endless:
                return graph
        return self._with_mended(_MOST_REPAIRS)

    def _with_mended(self, most: int) -> ArchitectureGraph | None:
        """The first trace on meta that succeeds with what the messages suggest."""
        for inputs, message in islice(self._mended(), most):
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
        described = example.describe(inputs)
        text = f"{follow.__name__}: {described}"
        if text in self._tried:
            return None
        self._tried.add(text)
        isolation.tell(f"the forward of {type(self._model).__name__} on {described[:300]}")
        try:
            graph = follow(self._model, inputs, reason)
        except TraceError:
            raise
        except (Exception, SystemExit, EndlessLoop) as error:
            endless = isinstance(error, EndlessLoop | RecursionError)
            self._endless = self._endless or endless
            calls = int(getattr(error, CALLS_MADE, 0))
            about: frozenset[int | str] = getattr(error, ABOUT, frozenset())
            self._refused.append(_Refusal(inputs, told(error)[:2000], calls, about))
            return None
        if len(graph) == 0 and graph.params > 0:  # it ran in a thread, or is a generator
            self._refused.append(
                _Refusal(inputs, "the forward ran, but no call was seen", 0, frozenset())
            )
            return None
        return graph

    def on_reals(self) -> ArchitectureGraph | None:
        """A small model with weights runs for real on the inputs that were refused on meta.

        Raises:
            WeightsWanted: They are on an accelerator, out of this process's reach.
        """
        weights = list(parameters(self._model))
        if any(tensor.is_meta for tensor in (*weights, *buffers(self._model))):
            return None
        if sum(parameter.numel() for parameter in weights) > _MOST_REAL_PARAMETERS:
            return None
        if any(out_of_reach(tensor) for tensor in (*weights, *buffers(self._model))):
            raise WeightsWanted
        for inputs, message, *_ in self._farthest()[:_MOST_ON_REALS]:
            reason = f"real tensors, since on meta tensors the forward raised {message[:300]!r}"
            try:
                graph = self.with_inputs(inputs, reason, follow_on_reals)
            except TraceError:
                continue
            if graph is not None:
                return graph
        return None

    def __str__(self) -> str:
        """The refusals that came farthest, a line each; one on meta and for real counts once."""
        lines = dict.fromkeys(
            f"  {example.describe(inputs)}: {message[:500]}"
            for inputs, message, *_ in self._farthest()
        )
        return "\n".join(islice(lines, 4))

    def _farthest(self) -> list[_Refusal]:
        """The refusals, those first whose forward made most calls before; ties as they came."""
        return sorted(self._refused, key=lambda refusal: -refusal.calls)

    def _mended(self) -> Iterator[tuple[ExampleInputs, str]]:
        """What the messages suggest, for the forward that came farthest first.

        A mended guess that is refused is mended again.
        """
        seen = 0
        complaints: Counter[str] = Counter()
        waiting: list[tuple[int, int]] = []  # calls made before the refusal, negative; place
        while True:
            for place in range(seen, len(self._refused)):
                heappush(waiting, (-self._refused[place].calls, place))
            seen = len(self._refused)
            if not waiting:
                return
            refusal = self._refused[heappop(waiting)[1]]
            complaints[refusal.message] += 1
            if complaints[refusal.message] > _MOST_ALIKE:  # no input seems to matter to it
                continue
            proposed = example.mended(self._model, refusal.inputs, refusal.message)
            for mended in sorted(proposed, key=lambda inputs: _strays(inputs, refusal)):
                yield mended, refusal.message


def _strays(mended: ExampleInputs, refusal: _Refusal) -> bool:
    """Whether a proposal changes arguments that the refusal was not about."""
    before = dict((*enumerate(refusal.inputs.args), *refusal.inputs.kwargs.items()))
    after = dict((*enumerate(mended.args), *mended.kwargs.items()))
    changed = {place for place in before | after if before.get(place) is not after.get(place)}
    return bool(refusal.about) and not changed <= refusal.about
