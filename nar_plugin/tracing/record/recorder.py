"""Records every ATen call of a forward pass on the meta device, with small constants known.

Three sorts of tensor meet in a forward. *Live* ones depend on parameters or on the data and stay
on the meta device; the operations on them are the architecture. *Constants* that are small (token
ids, masks, positions, factory calls) are computed for real on the CPU, so that `.item()`,
`nonzero` and `tolist` see true values. Large constants are meta tensors that nobody records.

What stands for an argument is in `arguments.py`, where a tensor came from in `sources.py`, and what
it holds after a write in `writes.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record import higher_order
from nar_plugin.tracing.record.arguments import all_live, replaced
from nar_plugin.tracing.record.choices import asks_for_chosen
from nar_plugin.tracing.record.constants import FILLER, Constants
from nar_plugin.tracing.record.kernels import run_on_meta
from nar_plugin.tracing.record.linear_layers import in_one_call, is_linear
from nar_plugin.tracing.record.nested import is_taken_apart
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record, name_of
from nar_plugin.tracing.record.sources import Sources
from nar_plugin.tracing.record.stand_ins import Computed, Unknown
from nar_plugin.tracing.record.traits import Trait, trait_of
from nar_plugin.tracing.record.writes import Writes

if TYPE_CHECKING:
    from nar_plugin.tracing.record.samples import Samples

_SEQUENCES = (tuple, list)
# What torch and Python raise where a function is called with arguments of another kind.
_REFUSALS = (RuntimeError, LookupError, AttributeError, TypeError, ValueError)
MOST_CALLS = 300_000  # views included; rwkv, one of the largest models, makes 61,576
MOST_QUESTIONS = 3_000  # by one module
LONG_WALK = 2_000  # calls after which one looks whether a forward goes round
_ROUNDS = 8  # times as many calls as are progress: it does
_MOST_ALIKE = 32  # calls of one operator by one module that count as progress


class EndlessLoop(BaseException):
    """A forward waits for a value that will not come.

    Not an Exception, since the `except Exception` in such a loop would swallow it.
    """


class LongWalk(BaseException):
    """A forward goes along its input, step by step; a shorter one would tell as much."""


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The dispatch mode that runs a forward on meta tensors and keeps its records.

    Args:
        data: Meta tensors that count as the model's input.
        strict: Whether to stop at a meta tensor that nobody has seen being made.
        samples: Follows what a batch of several samples holds for each; None where there is one.
        most_calls: After how many the forward is ended.
        impatient: Whether to end a forward that makes the same calls again and again.

    Attributes:
        calls: Made so far, of which those that compute are `records`.
    """

    supports_higher_order_operators = True
    on_meta = True  # live tensors have no values

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare each call torch's guard against compiling it: nothing compiles (`Eagerly`)."""
        return False

    def __init__(
        self,
        data: list[torch.Tensor],
        *,
        strict: bool = False,
        samples: Samples | None = None,
        most_calls: int = MOST_CALLS,
        impatient: bool = False,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.records: list[Record] = []
        self.sources = Sources(data, self.records)
        self.constants = Constants(self.sources.keep, self.sources.base)
        self.writes = Writes(
            self.records, self.sources, self.constants, samples, on_meta=self.on_meta
        )
        self.path = ""
        self.head_counts: dict[int, int] = {}
        self.moves: dict[int, Move] = {}  # the results of calls that move values, by id
        self.samples = samples
        self.made_up = 0  # values of live tensors that the forward asked for, and was told one
        self.exported: list[torch.Tensor] = []  # live tensors whose values went to numpy
        self.strict = strict
        self._questions: Counter[str] = Counter()  # by module path
        self._reductions: dict[int, tuple[str, int]] = {}  # result: `all` or `any`, of what
        self._denied: set[int] = set()
        self.in_pieces = False  # whether operators made of others come as wholes
        self.calls = 0
        self._most_calls = most_calls
        self._next_look = min(most_calls, LONG_WALK) if impatient else most_calls
        self._refused: list[torch.Tensor] = []  # arguments of the call that raised
        self._source = self.sources.made_by
        self._keep = self.sources.keep

    def scope(self, path: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        """A forward that tells the recorder its module path while it runs."""
        run = in_one_call(self, forward) if self.on_meta and is_linear(forward) else forward

        def scoped(*args: Any, **kwargs: Any) -> Any:
            outer = self.path
            self.path = path
            try:
                return run(*args, **kwargs)
            finally:
                self.path = outer

        scoped.__wrapped__ = forward  # type: ignore[attr-defined]  # for inspect.signature
        return scoped

    def ask(self, count: int = 1) -> int:
        """Note that the running module is given made-up values; how often it was, in hundreds.

        Raises:
            EndlessLoop: It was, more than `MOST_QUESTIONS` times.
        """
        self._questions[self.path] += count
        if self._questions[self.path] > MOST_QUESTIONS:
            raise EndlessLoop(
                f"{self.path or 'the model'} asked for more than {MOST_QUESTIONS:,} values that "
                "meta tensors do not have, as a loop does that waits for one"
            )
        return self._questions[self.path] // 100

    def holds(self, answer: torch.Tensor) -> bool:
        """What `all` and `any` of unknown values are said to be, so that an assertion passes.

        `all` holds and `any` does not; once `any` of a tensor was denied, its `all` is too. But
        some row is equal to what is asked for: each expert of a mixture gets a token.
        """
        if asks_for_chosen(self.sources, answer):
            return True
        name, asked = self._reductions.get(id(answer), ("", 0))
        if name == "any":
            self._denied.add(asked)
        return name == "all" and asked not in self._denied

    def refused_inputs(self, inputs: dict[int, int | str]) -> frozenset[int | str]:
        """Which inputs the call that raised was about.

        Args:
            inputs: What to call each input, by the id of its tensor.
        """
        return self.sources.origins(self._refused, inputs)

    def _look_at_calls(self) -> None:
        """End a forward that makes too many calls, or from time to time one that goes round.

        Raises:
            EndlessLoop: It made as many as it may.
            LongWalk: Most of them were made before.
        """
        if self.calls > self._most_calls:
            raise EndlessLoop(f"the forward made over {self._most_calls:,} calls and goes on")
        if self.calls > _ROUNDS * self.progress():
            raise LongWalk
        self._next_look = min(self._most_calls, self.calls + LONG_WALK)

    def refused_by_shape(self) -> bool:
        """Whether a call refused its arguments, and no value was made up before: it always will."""
        return bool(self._refused) and not self._questions and not self.made_up

    def progress(self) -> int:
        """How far the forward came: its calls, of those in a loop the first rounds alone."""
        alike = Counter((record.path, record.func) for record in self.records)
        on_given = min(self.constants.calls_on_given, _MOST_ALIKE)
        return on_given + sum(min(count, _MOST_ALIKE) for count in alike.values())

    def blank(self, shape: tuple[int, ...]) -> torch.Tensor:
        """A tensor for the result of an operation that is about to be emitted."""
        with _disable_current_modes():
            return torch.full(shape, FILLER, device="meta" if self.on_meta else "cpu")

    def emit(self, op: Any, inputs: list[torch.Tensor], out: Any, *, flops: int) -> None:
        """Record one operation as a whole, such as an LSTM, in place of its many calls."""
        sources = [self.sources.of(tensor) for tensor in inputs]
        self.records.append(Record(op, tuple(inputs), {"flops": flops}, out, sources, self.path))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if tensor is not None:
                self._source[id(tensor)] = len(self.records) - 1
        self._keep.append(out)

    def note(self, func: Any, args: tuple[Any, ...], sources: list[int], out: torch.Tensor) -> None:
        """Record a call of an ATen operator that was answered without its kernel."""
        self.calls += 1
        self._source[id(out)] = len(self.records)
        self.records.append(Record(func, args, {}, out, sources, self.path))
        self._keep.append(out)

    def write(self, op: Op, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Record an operation that writes into tensors which it was given."""
        self.emit(op, inputs, None, flops=0)
        with _disable_current_modes():
            for tensor in outputs:
                self.writes.mark(tensor, len(self.records) - 1, self.path)

    def attempt(self, work: Callable[[], None], arguments: list[torch.Tensor]) -> bool:
        """Do what is written in torch's words; whether torch did not refuse.

        If it did, the calls before are taken back, and what they wrote into the arguments.
        """
        calls = len(self.records)
        before = self.sources.before(arguments)
        try:
            work()
        except _REFUSALS:
            del self.records[calls:]
            self.sources.put_back(before)
            return False
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one call on meta or real tensors and record it when it is live."""
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return higher_order.run(self, func, args, kwargs)
        if types and is_taken_apart(types):
            return NotImplemented
        trait = trait_of(func)
        if trait.instead is not None or (trait.composite and self.takes_apart()):
            return self._taken_apart(func, args, kwargs)
        if kwargs and trait.without_outs is not None:
            return self._into_outs(trait, args, kwargs)
        originals = args
        tensors = [] if kwargs or trait.lists else all_live(args, self._source)
        all_meta = bool(tensors)
        if not all_meta:
            args, kwargs = replaced(self, args, kwargs, tensors)
        if trait.as_float is not None:
            return trait.as_float(self, *args, **kwargs)
        if not tensors:
            made = self.constants.make(func, trait, args, kwargs)
            return self.writes.allocate(made) if trait.allocates else made
        if not all_meta:
            on_meta = [tensor.is_meta for tensor in tensors]
            if True not in on_meta:
                made = self.constants.compute(func, trait, args, kwargs, originals, tensors)
                return self.writes.allocate(made) if trait.allocates else made
            all_meta = False not in on_meta
            if trait.factors is not None:
                self._refuse_ids(*(args[place] for place in trait.factors))
        answered, named = args, kwargs  # what the meta kernel is asked with
        if trait.stand_in is not None:
            result = trait.stand_in(self, func, args, kwargs)
            if isinstance(result, Computed):
                return self._follow(func, trait, args, kwargs, result.out, tensors, originals)
            if not isinstance(result, Unknown):
                return self.writes.allocate(result) if trait.allocates else result
            answered, named = result
        ready = all_meta and not kwargs and trait.stand_in is None
        shape = tensors[0].shape if trait.reshapes else None
        try:
            out = run_on_meta(
                func, answered, named, view=trait.view, writes=trait.writes, ready=ready
            )
        except Exception:
            self._refused = tensors
            raise
        if shape is not None and tensors[0].shape != shape:
            self.writes.keep_shape(tensors[0], shape)
        return self._follow(func, trait, args, kwargs, out, tensors, originals)

    def _refuse_ids(self, first: torch.Tensor, second: torch.Tensor) -> None:
        """Raise what the other kernels say of ids that came in and meet a float weight.

        What a forward has computed of them passes: a time that is cast to its own type again.
        """
        if second.is_floating_point() and self.constants.came_in(first):
            self._refused = [first]
            raise RuntimeError("mat1 and mat2 must have the same dtype, but got Long and Float")

    def takes_apart(self) -> bool:
        """Whether a call of a composite operator comes as a whole, which autograd would part."""
        return self.in_pieces or torch.is_inference_mode_enabled()

    def _taken_apart(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the calls that a composite operator is made of."""
        nested = trait_of(func).instead
        with self:
            return nested(self, *args, **kwargs) if nested else func.decompose(*args, **kwargs)

    def _into_outs(self, trait: Trait, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with `out=` is one without, and a copy of each result."""
        outs = [kwargs[name] for name in trait.outs]
        rest = {key: item for key, item in kwargs.items() if key not in trait.outs}
        with self:
            made = trait.without_outs(*args, **rest)
            results = made if isinstance(made, _SEQUENCES) else (made,)
            for out, result in zip(outs, results, strict=True):
                if out.shape != result.shape:  # an empty tensor grows
                    out.resize_(result.shape)
                out.copy_(result)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _follow(
        self,
        func: Any,
        trait: Trait,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        tensors: list[torch.Tensor],
        originals: tuple[Any, ...],
    ) -> Any:
        """Note where the results came from, and record the call when it computes."""
        self.calls += 1
        if self.calls > self._next_look:
            self._look_at_calls()
        source = self._source
        keep = self._keep
        results = out if isinstance(out, _SEQUENCES) else (out,)
        if trait.reduction:
            self._reductions[id(out)] = (trait.reduction, id(tensors[0]))
        if trait.bookkeeping:
            self._move(func, trait, args, out, tensors[trait.moved])
            if not trait.writes:
                return out
        sources = [source.get(id(tensor), CONST) for tensor in tensors]
        if trait.looks_up and sources[0] != CONST:
            learned = sources[0] == PARAM
            sources = [
                DATA if self.constants.varies(tensor, learned=learned) else place
                for tensor, place in zip(tensors, sources, strict=True)
            ]
        if max(sources) == CONST:
            keep.append(out)
            self.constants.add_all(out)
            return self._written(trait, args, originals, out, CONST)
        if trait.bookkeeping:  # copy_ and its like: the target now holds what was written
            live = next((s for s in sources[1:] if s != CONST), CONST)
            if live != CONST:
                return self._written(trait, args, originals, out, live, tensors[1])
            if trait.overwrites and sources[0] != PARAM and self.writes.is_whole(tensors[0]):
                return self.writes.empty(func, args, originals[trait.writes[0]])
            return originals[trait.writes[0]]
        if trait.part is not None:
            return self.writes.scatter(trait, args, out, sources, self.path)
        index = len(self.records)
        if trait.opaque is not None:
            self.records.append(Record(trait.opaque, (), {}, out, sources, self.path))
        else:
            self.records.append(Record(func, args, kwargs, out, sources, self.path))
        for item in results:
            if isinstance(item, torch.Tensor):
                source[id(item)] = index
        keep.append(out)
        if self.samples is not None:
            self.samples.compute(name_of(func), tensors, sources, out, index)
        return self._written(trait, args, originals, out, index)

    def _move(
        self, func: Any, trait: Trait, args: tuple[Any, ...], out: Any, first: torch.Tensor
    ) -> None:
        """Let the results of a call that computes nothing come from where its input came from."""
        source = self._source
        origin = source.get(id(first))
        joined = trait.view and self.writes.parts.is_joined(origin)
        for place, item in enumerate(out if isinstance(out, _SEQUENCES) else (out,)):
            if origin is not None:
                source[id(item)] = origin
            if joined:
                source[id(item)] = self.writes.parts.source(first, item, source[id(first)])
            if trait.view:
                self.sources.base[id(item)] = first
            if item is not first and (item is out or trait.view):
                whence = args[trait.moved :]
                self.moves[id(item)] = Move(func, whence, None if item is out else place)
            if self.samples is not None:
                self.samples.move(name_of(func), first, item, self.sources.of(first))
            heads = self.head_counts.get(id(first))
            if first.dim() == 4 and item.dim() == 3:
                heads = _head_count(first, item) or heads
            if heads:
                self.head_counts[id(item)] = heads
        self._keep.append(out)
        if origin is None:
            self.constants.add_all(out)

    def _written(
        self,
        trait: Trait,
        args: tuple[Any, ...],
        originals: tuple[Any, ...],
        out: Any,
        index: int,
        value: torch.Tensor | None = None,
    ) -> Any:
        """After an in-place call: the target, and all that it is a view of, have a new source."""
        if not trait.writes or trait.writes[0] >= len(args):
            return out
        target = originals[trait.writes[0]]
        if not isinstance(target, torch.Tensor):
            return out
        self.writes.mark(target, index, self.path, value)
        return target if isinstance(out, torch.Tensor) else out


def _head_count(before: torch.Tensor, after: torch.Tensor) -> int:
    """The heads H when (B, H, L, D) is folded to (B * H, L, D) before a batched product."""
    batch, heads = before.shape[:2]
    return heads if after.shape[0] == batch * heads else 0
