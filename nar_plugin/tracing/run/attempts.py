"""Tries inputs on one model, one after another, and remembers what was refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from torch import nn

from nar_plugin import isolation
from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.escapes import told
from nar_plugin.tracing.record.higher_order import Unfollowed
from nar_plugin.tracing.record.host_copies import WeightsWanted, out_of_reach
from nar_plugin.tracing.record.recorder import LONG_WALK, EndlessLoop, LongWalk
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.budget import Budget, elements, is_too_large, shortened
from nar_plugin.tracing.run.forward import (
    ABOUT,
    BY_SHAPE,
    CALLS_MADE,
    PROGRESS,
    accepts,
    follow_on_meta,
    follow_on_reals,
)
from nar_plugin.tracing.twin.parts import buffers, parameters

Follow = Callable[[nn.Module, ExampleInputs, str], ArchitectureGraph]

_MOST_REPAIRS = 80  # tries beyond the plugins' guesses
_FIRST_REPAIRS = 16  # of them before the first blind guess
_MOST_ALIKE = 8  # refusals with one message that are looked into
_LONGEST_WALK = 10_000  # calls along what was tried in short before
_MOST_ON_REALS = 3
_MOST_REAL_PARAMETERS = 50_000_000  # a model that small is copied with its weights


class _Refusal(NamedTuple):
    inputs: ExampleInputs
    message: str
    progress: int = 0  # calls that the forward made before, of a loop the first rounds alone
    by_shape: bool = False  # real tensors of these shapes would be refused as well
    about: frozenset[int | str] = frozenset()  # on which the call that raised depends


class Attempts:
    """The tries on one model.

    Args:
        model: Any module; it is only read.
        budget: What the tries may spend together; the first may always be made.

    Attributes:
        accepted: The inputs with which the forward was followed on meta.
        reason: Why these.
        unfollowed: Whether the forward does what nobody here can follow.
    """

    def __init__(self, model: nn.Module, budget: Budget | None = None) -> None:
        self.accepted: ExampleInputs | None = None
        self.reason = ""
        self.unfollowed = False
        self._model = model
        self._budget = budget or Budget()
        self._tried: set[str] = set()
        # Messages as text: an exception would keep the model in its frames alive.
        self._refused: list[_Refusal] = []
        self._walked: list[ExampleInputs] = []  # that a forward went along for long
        self._postponed: list[tuple[ExampleInputs, str]] = []  # these, with why they were tried
        self._hopeless = False  # other inputs would not help

    @property
    def count(self) -> int:
        """How many inputs were tried."""
        return len(self._tried)

    def with_guesses(self, stated: ExampleInputs | None = None) -> ArchitectureGraph | None:
        """The first trace on meta that succeeds: the plugins' guesses, then mended ones.

        A blind guess may be accepted by luck, so some mended ones come before the first of them.
        What a forward walks along for long is shortened, and tried as it is last of all.

        Args:
            stated: What the model itself says, which comes before all guesses.
        """
        if stated is not None:
            graph = self.with_inputs(stated, "the forward accepted the example_input_array")
            if graph is not None or self._is_over():
                return graph
        repaired = False
        for inputs, known in example.guesses(self._model):
            if inputs.blind and not repaired:
                repaired = True
                graph = self._with_mended(_FIRST_REPAIRS)
                if graph is not None or self._is_over():
                    return graph
            graph = self._with_guess(inputs, _GUESSED, known=known)
            if graph is not None or self._is_over():
                return graph
        graph = self._with_mended(_MOST_REPAIRS)
        for inputs, reason in self._postponed:
            if graph is not None or self._is_over():
                return graph
            self._budget.calls = min(self._budget.calls, _LONGEST_WALK)
            graph = self.with_inputs(inputs, reason)
        return graph

    def _with_mended(self, most: int) -> ArchitectureGraph | None:
        """The first trace on meta that succeeds with what the messages suggest."""
        for inputs, message in islice(self._mended(), most):
            reason = f"guessed inputs were mended after {message[:300]!r}"
            graph = self._with_guess(inputs, reason)
            if graph is not None or self._is_over():
                return graph
        return None

    def _with_guess(
        self, inputs: ExampleInputs, reason: str, *, known: bool = False
    ) -> ArchitectureGraph | None:
        """As `with_inputs`; along what may be shorter, a forward does not walk for long.

        Args:
            inputs: A guess.
            reason: As of `with_inputs`.
            known: Whether the model's own library wants them as they are.
        """
        short = None if known else shortened(inputs)
        if short is None:
            return self.with_inputs(inputs, reason)
        if self._walks_further(inputs):
            self._postponed.append((inputs, reason))
            return None
        walks = len(self._walked)
        graph = self.with_inputs(inputs, reason, impatient=True)
        if len(self._walked) > walks:
            self._postponed.append((inputs, reason))
            return self.with_inputs(short, reason)
        return graph

    def _is_over(self) -> bool:
        return self._hopeless or self._budget.is_spent()

    def _walks_further(self, inputs: ExampleInputs) -> bool:
        """Whether a guess is larger than one along which a forward went for long."""
        return bool(self._walked) and elements(inputs) > min(map(elements, self._walked))

    def with_inputs(
        self,
        inputs: ExampleInputs,
        reason: str,
        follow: Follow | None = None,
        *,
        impatient: bool = False,
    ) -> ArchitectureGraph | None:
        """The graph, or None when the forward refuses these inputs.

        Args:
            inputs: What the forward is called with.
            reason: Why these, in words; kept on the graph.
            follow: How to follow it; on meta by default.
            impatient: Whether to end a forward that walks along them for long.

        Raises:
            TraceError: The model cannot be traced with any inputs.
        """
        described = example.describe(inputs)
        text = f"{follow and follow.__name__} {impatient}: {described}"
        if text in self._tried:
            return None
        self._tried.add(text)
        isolation.tell(f"the forward of {type(self._model).__name__} on {described[:300]}")
        on_meta = partial(follow_on_meta, most_calls=self._budget.calls, impatient=impatient)
        try:
            graph = (follow or on_meta)(self._model, inputs, reason)
        except TraceError:
            raise
        except LongWalk:
            self._budget.spend(LONG_WALK)
            self._walked.append(inputs)
            return None
        except (Exception, SystemExit, EndlessLoop) as error:
            self._refuse(inputs, error)
            return None
        if len(graph) == 0 and graph.params > 0:  # it ran in a thread, or is a generator
            self._refused.append(_Refusal(inputs, "the forward ran, but no call was seen"))
            return None
        if follow is None:
            self.accepted, self.reason = inputs, reason
        return graph

    def _refuse(self, inputs: ExampleInputs, error: BaseException) -> None:
        self.unfollowed = self.unfollowed or isinstance(error, Unfollowed)
        self._hopeless = isinstance(error, EndlessLoop | RecursionError | Unfollowed)
        self._budget.spend(int(getattr(error, CALLS_MADE, 0)))
        about: frozenset[int | str] = getattr(error, ABOUT, frozenset())
        progress, by_shape = getattr(error, PROGRESS, 0), getattr(error, BY_SHAPE, False)
        refusal = _Refusal(inputs, told(error)[:2000], progress, by_shape, about)
        self._refused.append(refusal)

    def on_reals(self) -> ArchitectureGraph | None:
        """A small model with weights runs for real on the inputs that were refused on meta.

        Guesses of a wrong shape do not: they would be refused again.

        Raises:
            WeightsWanted: They are on an accelerator, out of this process's reach.
        """
        if not self._can_run():
            return None
        refusals = [
            refusal
            for refusal in self._farthest()
            if isinstance(refusal.inputs, example.Given) or not refusal.by_shape
        ]
        if not refusals:
            return None
        if self._is_away():
            raise WeightsWanted
        for inputs, message, *_ in refusals[:_MOST_ON_REALS]:
            if self._budget.is_spent() and not isinstance(inputs, example.Given):
                return None
            reason = f"real tensors, since on meta tensors the forward raised {message[:300]!r}"
            try:
                graph = self.with_inputs(inputs, reason, follow_on_reals)
            except TraceError:
                continue
            if graph is not None:
                return graph
        return None

    def runs_alone(self, inputs: ExampleInputs) -> bool:
        """Whether a copy of the model accepts inputs when nobody follows it.

        If so, a refusal before was no fault of theirs.
        """
        return self._can_run() and not self._is_away() and accepts(self._model, inputs)

    def _can_run(self) -> bool:
        """Whether the model has its weights, and few enough."""
        weights = list(parameters(self._model))
        if any(tensor.is_meta for tensor in (*weights, *buffers(self._model))):
            return False
        return sum(parameter.numel() for parameter in weights) <= _MOST_REAL_PARAMETERS

    def _is_away(self) -> bool:
        tensors = (*parameters(self._model), *buffers(self._model))
        return any(out_of_reach(tensor) for tensor in tensors)

    def __str__(self) -> str:
        """The refusals that came farthest, a line each; one on meta and for real counts once."""
        lines = dict.fromkeys(
            f"  {example.describe(inputs)}: {message[:500]}"
            for inputs, message, *_ in self._farthest()
        )
        return "\n".join(islice(lines, 4))

    def _farthest(self) -> list[_Refusal]:
        """The refusals, those first whose forward came farthest; ties as they came."""
        return sorted(self._refused, key=lambda refusal: -refusal.progress)

    def _mended(self) -> Iterator[tuple[ExampleInputs, str]]:
        """What the messages suggest, for the forward that came farthest first.

        A mended guess that is refused is mended again.
        """
        seen = 0
        complaints: Counter[str] = Counter()
        waiting: list[tuple[int, int]] = []  # progress before the refusal, negative; place
        while True:
            for place in range(seen, len(self._refused)):
                heappush(waiting, (-self._refused[place].progress, place))
            seen = len(self._refused)
            if not waiting:
                return
            refusal = self._refused[heappop(waiting)[1]]
            complaints[refusal.message] += 1
            if complaints[refusal.message] > _MOST_ALIKE:  # no input seems to matter to it
                continue
            proposed = example.mended(self._model, refusal.inputs, refusal.message)
            for mended in sorted(proposed, key=lambda inputs: _strays(inputs, refusal)):
                if not is_too_large(mended):
                    yield mended, refusal.message


_GUESSED = "the forward accepted guessed inputs"


def _strays(mended: ExampleInputs, refusal: _Refusal) -> bool:
    """Whether a proposal changes arguments that the refusal was not about."""
    before = dict((*enumerate(refusal.inputs.args), *refusal.inputs.kwargs.items()))
    after = dict((*enumerate(mended.args), *mended.kwargs.items()))
    changed = {place for place in before | after if before.get(place) is not after.get(place)}
    return bool(refusal.about) and not changed <= refusal.about
