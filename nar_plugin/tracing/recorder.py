"""Records every ATen call of a forward pass on the meta device, with small constants known.

Three sorts of tensor meet in a forward. *Live* ones depend on parameters or on the data and stay
on the meta device; the operations on them are the architecture. *Constants* that are small (token
ids, masks, positions, factory calls) are computed for real on the CPU, so that `.item()`,
`nonzero` and `tolist` see true values. Large constants are meta tensors that nobody records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from nar_plugin.tracing import higher_order
from nar_plugin.tracing.choices import asks_for_chosen
from nar_plugin.tracing.constants import FILLER, KNOWN_ELEMENTS, Constants
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.kernels import map_tensors, meta_twin, run_on_meta, without_memory
from nar_plugin.tracing.linear_layers import in_one_call, is_linear
from nar_plugin.tracing.partial_writes import Parts, Write
from nar_plugin.tracing.record import CONST, DATA, PARAM, Move, Record, name_of
from nar_plugin.tracing.stand_ins import Computed, Unknown
from nar_plugin.tracing.traits import Trait, trait_of
from nar_plugin.tracing.vocabulary import LOOKUPS

if TYPE_CHECKING:
    from nar_plugin.tracing.samples import Samples

_SEQUENCES = (tuple, list)
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# What torch and Python raise where a function is called with arguments of another kind.
_REFUSALS = (RuntimeError, LookupError, AttributeError, TypeError, ValueError)
_HOLDERS = (torch.Tensor, *_SEQUENCES)  # arguments that are tensors or may hold some
MOST_CALLS = 300_000  # views included; rwkv, one of the largest models, makes 61,576
MOST_QUESTIONS = 3_000  # by one module


class ValuesLost(Exception):
    """A forward made a constant on the device of a meta tensor; it is to be made on the CPU."""


class EndlessLoop(BaseException):
    """A forward waits for a value that will not come.

    Not an Exception, since the `except Exception` in such a loop would swallow it.
    """


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The dispatch mode that runs a forward on meta tensors and keeps its records.

    Args:
        data: Meta tensors that count as the model's input.
        strict: Whether to stop at a meta tensor that nobody has seen being made.
        samples: Follows what a batch of several samples holds for each; None where there is one.
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
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.records: list[Record] = []
        self.path = ""
        self.head_counts: dict[int, int] = {}
        self.samples = samples
        self.packed_elements = 0  # of weights that no parameter holds
        self.made_up = 0  # values of live tensors that the forward asked for, and was told one
        self.exported: list[torch.Tensor] = []  # live tensors whose values went to numpy
        self._source: dict[int, int] = {id(tensor): DATA for tensor in data}
        self._keep: list[Any] = [*data]
        self._strict = strict
        self._questions: Counter[str] = Counter()  # by module path
        self._reductions: dict[int, tuple[str, int]] = {}  # result: `all` or `any`, of what
        self._denied: set[int] = set()
        self._calls = 0
        self._refused: list[torch.Tensor] = []  # arguments of the call that raised
        self._replaced: dict[int, torch.Tensor] = {}
        self._unpacked: dict[tuple[int, tuple[int, ...]], torch.Tensor] = {}
        self._base: dict[int, torch.Tensor] = {}
        self._parts = Parts()
        self._allocated: set[int] = set()  # by the forward, to be written to
        self.moves: dict[int, Move] = {}  # the results of calls that move values, by id
        self.constants = Constants(self._keep, self._base)
        self._known = self.constants.known

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

    def is_live(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor depends on the data or on parameters."""
        return self.source(tensor) != CONST

    def is_known(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's values are at hand."""
        return not self._replaced.get(id(tensor), tensor).is_meta

    def source(self, tensor: torch.Tensor) -> int:
        """The record that made a tensor, or PARAM, DATA or CONST."""
        replaced = self._replaced.get(id(tensor))
        return self._source.get(id(tensor if replaced is None else replaced), CONST)

    def plain_source(self, tensor: Any) -> int:
        """The same for a plain tensor on meta that is live, else CONST."""
        plain = type(tensor) in _PLAIN and tensor.is_meta
        return self._source.get(id(tensor), CONST) if plain else CONST

    def is_learned(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is a parameter or a view of one."""
        return self.source(tensor) == PARAM

    def is_fresh(self, tensor: torch.Tensor) -> bool:
        """Whether the forward has allocated a tensor of floats and written nothing into it yet."""
        if self.is_live(tensor) or not tensor.is_floating_point():
            return False
        if not self.on_meta:
            return True
        root, seen = tensor, {id(tensor)}
        while (base := self._base.get(id(root))) is not None and id(base) not in seen:
            seen.add(id(base))
            root = base
        with _disable_current_modes():
            return id(root) in self._allocated and (tensor.is_meta or not bool(tensor.any()))

    def maker(self, tensor: torch.Tensor) -> Record | None:
        """The record that made a tensor, if one did."""
        place = self.source(tensor)
        return self.records[place] if place >= 0 else None

    def put_in_order(self, rows: torch.Tensor) -> None:
        """Note that rows are to be packed: if they were sorted before, no others were chosen."""
        record = self.maker(rows)
        if record is None or record.name not in LOOKUPS:
            return
        read: list[torch.Tensor] = []
        map_tensors(record.args, read.append)
        for place, tensor in enumerate(read):
            if place > 0 and self.constants.is_order(tensor):
                record.sources[place] = CONST

    def parameters_read(self) -> set[int]:
        """The ids of the parameters that recorded calls read, through views too."""
        found: set[int] = set()

        def add(tensor: torch.Tensor | None) -> None:
            while tensor is not None and id(tensor) not in found:
                found.add(id(tensor))
                tensor = self._base.get(id(tensor))

        for record in self.records:
            if PARAM in record.sources:
                map_tensors((*record.args, *record.kwargs.values()), add)
        return found

    def learn(self, parameters: list[torch.Tensor]) -> None:
        """Register the meta tensors that count as learned."""
        self._source.update((id(tensor), PARAM) for tensor in parameters)
        self._keep.append(parameters)

    def learned(self, origin: Any, shape: torch.Size | None) -> torch.Tensor | None:
        """An empty weight in place of one that is packed or held as integers.

        Args:
            origin: What holds it; it holds one of a shape.
            shape: Of the weight; there is none without.
        """
        if shape is None:
            return None
        key = id(origin), tuple(shape)
        if key not in self._unpacked:
            with _disable_current_modes():
                weight = without_memory(torch.empty(shape, device="meta"))
            self._unpacked[key] = weight
            if not isinstance(origin, torch.Tensor):
                self.packed_elements += weight.numel()
            self._source[id(weight)] = PARAM
            self._keep.append(origin)
        return self._unpacked[key]

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
        if asks_for_chosen(self, answer):
            return True
        name, asked = self._reductions.get(id(answer), ("", 0))
        if name == "any":
            self._denied.add(asked)
        return name == "all" and asked not in self._denied

    def origins(self, inputs: dict[int, int | str]) -> frozenset[int | str]:
        """Which inputs the call that raised was about.

        Args:
            inputs: What to call each input, by the id of its tensor.
        """
        found: set[int | str] = set()
        seen: set[int] = set()
        waiting = list(self._refused)
        while waiting:
            tensor = waiting.pop()
            if id(tensor) in inputs:
                found.add(inputs[id(tensor)])
            elif (made_by := self.source(tensor)) >= 0 and made_by not in seen:
                seen.add(made_by)
                record = self.records[made_by]
                map_tensors((*record.args, *record.kwargs.values()), waiting.append)
        return frozenset(found)

    def blank(self, shape: tuple[int, ...]) -> torch.Tensor:
        """A tensor for the result of an operation that is about to be emitted."""
        with _disable_current_modes():
            return torch.full(shape, FILLER, device="meta" if self.on_meta else "cpu")

    def emit(self, op: Any, inputs: list[torch.Tensor], out: Any, *, flops: int) -> None:
        """Record one operation as a whole, such as an LSTM, in place of its many calls."""
        sources = [self.source(tensor) for tensor in inputs]
        self.records.append(Record(op, tuple(inputs), {"flops": flops}, out, sources, self.path))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if tensor is not None:
                self._source[id(tensor)] = len(self.records) - 1
        self._keep.append(out)

    def note(self, func: Any, args: tuple[Any, ...], sources: list[int], out: torch.Tensor) -> None:
        """Record a call of an ATen operator that was answered without its kernel."""
        self._calls += 1
        self._source[id(out)] = len(self.records)
        self.records.append(Record(func, args, {}, out, sources, self.path))
        self._keep.append(out)

    def write(self, op: Op, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Record an operation that writes into tensors which it was given."""
        self.emit(op, inputs, None, flops=0)
        with _disable_current_modes():
            for tensor in outputs:
                self._mark_written(tensor, len(self.records) - 1)

    def attempt(self, work: Callable[[], None], arguments: list[torch.Tensor]) -> bool:
        """Do what is written in torch's words; whether torch did not refuse.

        If it did, the calls before are taken back, and what they wrote into the arguments.
        """
        calls = len(self.records)
        written = {id(tensor) for tensor in arguments}
        for tensor in arguments:
            base = self._base.get(id(tensor))
            while base is not None and id(base) not in written:
                written.add(id(base))
                base = self._base.get(id(base))
        before = {key: (self._source.get(key), self._replaced.get(key)) for key in written}
        try:
            work()
        except _REFUSALS:
            del self.records[calls:]
            for key, (source, replaced) in before.items():
                _put_back(self._source, key, source)
                _put_back(self._replaced, key, replaced)
            return False
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one call on meta or real tensors and record it when it is live."""
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return higher_order.run(self, func, args, kwargs)
        trait = trait_of(func)
        if trait.composite and torch.is_inference_mode_enabled():
            return self._taken_apart(func, args, kwargs)
        if kwargs and trait.without_outs is not None:
            return self._into_outs(trait, args, kwargs)
        originals = args
        tensors = [] if kwargs or trait.lists else self._all_live(args)
        all_meta = bool(tensors)
        if not all_meta:
            args, kwargs = self._replacing(args, kwargs, tensors)
        if trait.as_float is not None:
            return trait.as_float(self, *args, **kwargs)
        if not tensors:
            made = self.constants.make(func, trait, args, kwargs)
            return self._allocate(made) if trait.allocates else made
        if not all_meta:
            on_meta = [tensor.is_meta for tensor in tensors]
            if True not in on_meta:
                made = self.constants.compute(func, trait, args, kwargs, originals, tensors)
                return self._allocate(made) if trait.allocates else made
            all_meta = False not in on_meta
            if trait.factors is not None:
                self._refuse_ids(*(args[place] for place in trait.factors))
        answered, named = args, kwargs  # what the meta kernel is asked with
        if trait.stand_in is not None:
            result = trait.stand_in(self, func, args, kwargs)
            if isinstance(result, Computed):
                return self._follow(func, trait, args, kwargs, result.out, tensors, originals)
            if not isinstance(result, Unknown):
                return self._allocate(result) if trait.allocates else result
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
            self._keep_shape(tensors[0], shape)
        return self._follow(func, trait, args, kwargs, out, tensors, originals)

    def _refuse_ids(self, first: torch.Tensor, second: torch.Tensor) -> None:
        """Raise what the other kernels say of ids that came in and meet a float weight.

        What a forward has computed of them passes: a time that is cast to its own type again.
        """
        if second.is_floating_point() and self.constants.came_in(first):
            self._refused = [first]
            raise RuntimeError("mat1 and mat2 must have the same dtype, but got Long and Float")

    def _taken_apart(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the calls that a composite operator is made of."""
        with self:
            return func.decompose(*args, **kwargs)

    def _allocate(self, made: Any) -> Any:
        """Note that a tensor was made to be written to."""
        self._allocated.add(id(made))
        return made

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

    def _keep_shape(self, tensor: torch.Tensor, shape: torch.Size) -> None:
        """Let the calls so far have a tensor as it was before `set_`, `squeeze_` and their like."""
        with _disable_current_modes():
            before = torch.empty(shape, dtype=tensor.dtype, device="meta")
        source = self.source(tensor)
        self._source[id(before)] = source
        self._keep.append(before)
        for place in range(max(source, 0), len(self.records)):
            args, kwargs, out = self.records[place][1:4]
            args, kwargs, out = map_tensors(
                [args, list(kwargs.items()), out],
                lambda item: before if item is tensor else item,
            )
            self.records[place] = self.records[place]._replace(
                args=args, kwargs=dict(kwargs), out=out
            )

    # -- arguments -------------------------------------------------------------------------

    def _all_live(self, args: tuple[Any, ...]) -> list[torch.Tensor]:
        """The tensors among arguments where all are live and on meta, as in most calls; else none.

        The steps of a packed sequence have values, and come from what was packed.
        """
        tensors = [item for item in args if isinstance(item, torch.Tensor)]
        source = self._source
        for tensor in tensors:
            if id(tensor) not in source or not tensor.is_meta:
                return []
        return tensors

    def _replacing(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[torch.Tensor]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with what stands for each tensor, which is also put into `tensors`."""
        args = tuple(
            [self._argument(item, tensors) if isinstance(item, _HOLDERS) else item for item in args]
        )
        return args, {key: self._argument(item, tensors) for key, item in kwargs.items()}

    def _argument(self, item: Any, tensors: list[torch.Tensor]) -> Any:
        if isinstance(item, torch.Tensor):
            replaced = self._replaced.get(id(item))
            if replaced is not None:
                item = replaced
            elif item.is_meta:
                if self._strict and id(item) not in self._source:
                    self._check_seen(item)
            elif id(item) not in self._known:
                item = self._foreign(item)
            tensors.append(item)
            return item
        if type(item) is list or type(item) is tuple:
            if item and type(item[0]) is int:  # a shape
                return item
            return type(item)([self._argument(entry, tensors) for entry in item])
        return item

    def _check_seen(self, tensor: torch.Tensor) -> None:
        """Stop at the result of `torch.tensor(..., device=x.device)`, made below the dispatcher.

        Raises:
            ValuesLost: Its values were lost on the meta device.
        """
        if tensor not in self.constants and not isinstance(tensor, torch.nn.Parameter):
            raise ValuesLost("a tensor was made on the meta device, without its values")

    def _foreign(self, tensor: torch.Tensor) -> torch.Tensor:
        """A real tensor from outside (a closure, a global): never written to, seldom read."""
        learned = isinstance(tensor, torch.nn.Parameter)
        returned = bool(self.exported) and not learned and tensor.is_floating_point()
        small = tensor.numel() <= KNOWN_ELEMENTS and not learned and type(tensor) is torch.Tensor
        if returned:  # from numpy, where it was computed from what went out
            twin = meta_twin(tensor)
            self.emit(Op("numpy"), self.exported, twin, flops=0)
        elif small:
            twin = self.constants.know(tensor.detach().to("cpu", copy=True))
        else:
            twin = meta_twin(tensor)
            self._keep.append(twin)
            if learned:
                self._source[id(twin)] = PARAM
        self._replaced[id(tensor)] = twin
        self._keep.append(tensor)
        return twin

    def without_values(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor on meta: itself, or an empty twin of a known constant."""
        tensor = self._replaced.get(id(tensor), tensor)
        if tensor.is_meta:
            return tensor
        with _disable_current_modes():
            return self.constants.add(meta_twin(tensor))

    # -- live calls ------------------------------------------------------------------------

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
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise EndlessLoop(f"the forward made over {MOST_CALLS:,} calls and goes on")
        source = self._source
        keep = self._keep
        results = out if isinstance(out, _SEQUENCES) else (out,)
        if trait.reduction:
            self._reductions[id(out)] = (trait.reduction, id(tensors[0]))
        if trait.bookkeeping:
            first = tensors[trait.moved]
            origin = source.get(id(first))
            joined = trait.view and self._parts.is_joined(origin)
            for place, item in enumerate(results):
                if origin is not None:
                    source[id(item)] = origin
                if joined:
                    source[id(item)] = self._parts.source(first, item, source[id(first)])
                if trait.view:
                    self._base[id(item)] = first
                if item is not first and (item is out or trait.view):
                    whence = args[trait.moved :]
                    self.moves[id(item)] = Move(func, whence, None if item is out else place)
                if self.samples is not None:
                    self.samples.move(name_of(func), first, item, self.source(first))
                heads = self.head_counts.get(id(first))
                if first.dim() == 4 and item.dim() == 3:
                    heads = _head_count(first, item) or heads
                if heads:
                    self.head_counts[id(item)] = heads
            keep.append(out)
            if origin is None:
                self.constants.add_all(out)
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
            if trait.overwrites and sources[0] != PARAM and self._is_whole(tensors[0]):
                return self._emptied(func, args, originals[trait.writes[0]])
            return originals[trait.writes[0]]
        if trait.part is not None:
            return self._scattered(trait, args, out, sources)
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
        self._mark_written(target, index, value)
        return target if isinstance(out, torch.Tensor) else out

    def _emptied(self, func: Any, args: tuple[Any, ...], target: torch.Tensor) -> torch.Tensor:
        """After `zero_` and its like: nothing is left of what the data made."""
        value = args[1] if name_of(func) in ("copy_", "fill_") else FILLER
        if name_of(func) == "zero_":
            value = 0
        known = not (isinstance(value, torch.Tensor) and value.is_meta)
        written: torch.Tensor | None = target
        while written is not None:
            current = self._replaced.get(id(written), written)
            self._source.pop(id(current), None)
            self.constants.add(current)
            if self.on_meta and known and target.numel() <= KNOWN_ELEMENTS:
                with _disable_current_modes():
                    values = torch.empty(target.shape, dtype=target.dtype)
                    values.copy_(torch.as_tensor(value))
                self._replaced[id(written)] = self.constants.know(values.view(written.shape))
            written = self._base.get(id(written))
        self._keep.append(target)
        return target

    def _scattered(
        self, trait: Trait, args: tuple[Any, ...], out: torch.Tensor, sources: list[int]
    ) -> torch.Tensor:
        """The copy of a whole with a part written, as `copy_` into that part leaves it."""
        whole, old, new = args[0], *sources
        assert trait.part is not None
        with _disable_current_modes():
            part = trait.part(whole if whole.is_meta or not self.on_meta else out, *args[2:])
        if old == CONST or self._parts.is_buffer(whole):
            self._parts.fill(out)
            whole = out
        self._keep.append((out, part))
        write = Write(whole, part, args[1], old, new, out, self.path)
        self._source[id(out)] = self._joined(write)
        return out

    def _joined(self, write: Write) -> int:
        """The source of a whole when a value was written into a part of it."""
        if CONST in (write.old, write.new) or write.old == write.new:
            return max(write.old, write.new)
        index = len(self.records)
        for place, record in self._parts.records(write, index).items():
            self.records[place : place + 1] = [record]
            self._keep.append(record)
        if self.samples is not None:
            read, sources = [write.part, write.value], [write.old, write.new]
            self.samples.compute("copy_", read, sources, write.into, index)
        return index

    def _is_whole(self, target: torch.Tensor) -> bool:
        """Whether a tensor is no view, or one of all that it is a view of."""
        base = self._base.get(id(target))
        while base is not None and base.numel() == target.numel():
            base = self._base.get(id(base))
        return base is None

    def _mark_written(
        self, target: torch.Tensor, index: int, value: torch.Tensor | None = None
    ) -> None:
        """Let a tensor have a new source, and what it is a part of be joined with it.

        Args:
            target: What was written to.
            index: The new source.
            value: What was copied there; None where it was computed in place.
        """
        held: list[torch.Tensor] = []  # what stands for the target and all that it is a view of
        written: torch.Tensor | None = target
        while written is not None:
            current = self._replaced.get(id(written), written)
            base = self._base.get(id(written))
            if base is None and current is not written:
                base = self._base.get(id(current))
            if self.on_meta and not current.is_meta:
                current = self._replaced[id(written)] = meta_twin(current)
                self._keep.append(current)
            held.append(current)
            written = base
        self._keep.append(target)
        if index == CONST:
            return
        joined = False
        for tensor in held:
            if not joined and tensor.numel() > target.numel():
                index = self._joined_up(held, held[0] if value is None else value, index)
                joined = True
            self._source[id(tensor)] = index

    def _joined_up(self, held: list[torch.Tensor], value: torch.Tensor, index: int) -> int:
        """The source of a whole whose part, the first of a chain of views, got a new one."""
        wholes = [tensor for tensor in held if tensor.numel() == held[-1].numel()]
        whole = next((tensor for tensor in wholes if self._parts.is_buffer(tensor)), wholes[0])
        old = self._source.get(id(whole), CONST)
        if old == CONST:
            for tensor in wholes:
                self._parts.fill(tensor)
        return self._joined(Write(whole, held[0], value, old, index, whole, self.path))


def _put_back(table: dict[int, Any], key: int, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _head_count(before: torch.Tensor, after: torch.Tensor) -> int:
    """The heads H when (B, H, L, D) is folded to (B * H, L, D) before a batched product."""
    batch, heads = before.shape[:2]
    return heads if after.shape[0] == batch * heads else 0
