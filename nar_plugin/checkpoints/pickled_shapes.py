"""The shapes of the tensors in a pickle, which is read as data: no object of it is ever made.

`pickletools.genops` splits a pickle into operations. Of these only the ones that `torch.save`
writes are followed, on a stack of plain values and stand-ins. A class or a function is a name here.
https://docs.python.org/3/library/pickletools.html
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

MOST_STEPS = 6_000_000  # operations; a tensor takes about 40
MOST_SIDES = 16
_MARK = object()


@dataclass(eq=False)
class Named:
    """A class or a function that the pickle names."""

    name: str


@dataclass(eq=False)
class Made:
    """Something that the pickle would make: by what, from what, and its state."""

    by: Any
    given: Any
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Storage:
    """The numbers of tensors: which, and how many."""

    key: str
    dtype: str
    count: int


class Readable(Protocol):
    """A file that is read from its beginning on."""

    def read(self, count: int, /) -> bytes:
        """At most so many bytes."""

    def readline(self) -> bytes:
        """A line."""


class Unreadable(ValueError):
    """A pickle does what `torch.save` does not."""


def read_pickle(file: Readable) -> Any:
    """The value of the pickle that begins where the file stands, with stand-ins for objects.

    Raises:
        ValueError: It is no pickle, or it does what `torch.save` does not.
    """
    return _Machine().run(file)


class _Machine:
    """Follows the operations of one pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, file: Readable) -> Any:
        steps = 0
        for code, argument, _ in pickletools.genops(cast(Any, file)):
            steps += 1
            if steps > MOST_STEPS:
                raise Unreadable(f"it has more than {MOST_STEPS:,} operations")
            if code.name == "STOP":
                return self.stack.pop()
            try:
                self.step(code.name, argument)
            except (IndexError, TypeError, AttributeError, KeyError) as error:
                raise Unreadable(f"its operation {code.name} has nothing to work on") from error
        raise Unreadable("it does not end")

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _VALUES:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if argument is None else argument] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            words = argument.split(" ", 1) if argument else [stack.pop(), stack.pop()][::-1]
            stack.append(Named(".".join(map(_text, words))))
        elif name in ("REDUCE", "NEWOBJ"):
            given = stack.pop()
            stack.append(_made(stack.pop(), given))
        elif name == "NEWOBJ_EX":
            named, given = stack.pop(), stack.pop()
            stack.append(_made(stack.pop(), (given, named)))
        elif name == "BINPERSID":
            stack.append(_storage(stack.pop()))
        elif name == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], Made):
                stack[-1].state = state
        elif name in _JOINS:
            stack.append(_JOINS[name](self, name))
        elif name in ("POP", "POP_MARK"):
            self.until_mark() if name == "POP_MARK" else stack.pop()
        elif name in ("APPEND", "APPENDS", "ADDITEMS"):
            values = [stack.pop()] if name == "APPEND" else self.until_mark()
            if isinstance(stack[-1], list):
                stack[-1].extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = [stack.pop(), stack.pop()][::-1] if name == "SETITEM" else self.until_mark()
            _set(stack[-1], values)
        elif name == "MARK":
            stack.append(_MARK)
        elif name not in ("PROTO", "FRAME"):
            raise Unreadable(f"it has the operation {name}, which no state_dict needs")

    def until_mark(self) -> list[Any]:
        values: list[Any] = []
        while (value := self.stack.pop()) is not _MARK:
            values.append(value)
        return values[::-1]

    def joined(self, name: str) -> Any:
        """A tuple, list or dict of what stands on the stack."""
        if name in _COUNTS:
            count = _COUNTS[name]
            values = self.stack[-count:]
            if len(values) < count:
                raise IndexError
            del self.stack[-count:]
            return tuple(values)
        values = self.until_mark()
        if name == "DICT":
            result: dict[Any, Any] = {}
            _set(result, values)
            return result
        return tuple(values) if name == "TUPLE" else values


_VALUES = frozenset(
    "INT LONG LONG1 LONG4 BININT BININT1 BININT2 FLOAT BINFLOAT UNICODE BINUNICODE "
    "SHORT_BINUNICODE BINUNICODE8 STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES "
    "BINBYTES8 BYTEARRAY8".split()
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Any] = {
    "EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": list,
}  # fmt: skip
_COUNTS = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_JOINS = dict.fromkeys(("TUPLE", "LIST", "DICT", "FROZENSET", *_COUNTS), _Machine.joined)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _set(target: Any, values: list[Any]) -> None:
    """Put keys and values into a dict; keys that are no texts or numbers are left out.

    The hash of a deeply shared tuple would take for ever.
    """
    items = target.items if isinstance(target, Made) else target
    if not isinstance(items, dict):
        raise TypeError
    for key, value in zip(values[::2], values[1::2], strict=True):
        if isinstance(key, str | int):
            items[key] = value


@dataclass(eq=False, frozen=True)
class Shaped:
    """A tensor of the pickle."""

    shape: tuple[int, ...]
    storage: Storage
    place: int


def _made(by: Any, given: Any) -> Any:
    """What a call would make: a tensor's shape, a dict, or a stand-in."""
    name = by.name if isinstance(by, Named) else ""
    if name.endswith(("OrderedDict", "defaultdict")):
        return _dict(given)
    if name in ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"):
        return given[0]
    if name.startswith("torch._utils._rebuild") or name.startswith("torch._tensor._rebuild"):
        shaped = _shaped(given)
        if shaped is not None:
            return shaped
    return Made(by, given)


def _dict(given: Any) -> dict[Any, Any]:
    """A dict, with the pairs that Python 2 gave an OrderedDict when it was made."""
    result: dict[Any, Any] = {}
    pairs = given[0] if isinstance(given, tuple) and given else ()
    for pair in pairs if isinstance(pairs, list | tuple) else ():
        if isinstance(pair, list | tuple) and len(pair) == 2:
            _set(result, list(pair))
    return result


def _shaped(given: Any) -> Shaped | None:
    """The tensor of storage, place, sides and strides; None of another form of call."""
    while isinstance(given, tuple) and given and isinstance(given[-1], tuple) and len(given) == 4:
        if isinstance(given[0], Named):  # _rebuild_from_type_v2(function, class, arguments, state)
            given = given[2]
        else:
            break
    if not isinstance(given, tuple) or len(given) < 3 or not isinstance(given[0], Storage):
        return None
    storage, place, sides = given[:3]
    whole = isinstance(sides, tuple) and len(sides) <= MOST_SIDES and type(place) is int
    if not whole or not all(type(side) is int and 0 <= side < 1 << 62 for side in sides):
        raise Unreadable("a tensor has sides that are no numbers")
    return Shaped(sides, storage, place)


def _storage(persistent: Any) -> Any:
    """The storage of a persistent id: ('storage', class, key, device, count)."""
    if isinstance(persistent, tuple) and persistent[:1] == ("module",):
        return persistent[1]  # a class, with its source
    if not isinstance(persistent, tuple) or len(persistent) < 5 or persistent[0] != "storage":
        raise Unreadable("it refers to something that is no storage")
    kind, key, count = persistent[1], persistent[2], persistent[4]
    name = kind.name if isinstance(kind, Named) else ""
    if not isinstance(key, str) or type(count) is not int:
        raise Unreadable("a storage has no key or no size")
    return Storage(key, dtype_of(name), count)


def dtype_of(storage: str) -> str:
    """Such as `float16` of `torch.HalfStorage`."""
    word = storage.rpartition(".")[2].removesuffix("Storage")
    return {
        "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Double": "float64",
        "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
        "Bool": "bool", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
    }.get(word, "float32" if word in ("", "Untyped") else word.lower())  # fmt: skip
