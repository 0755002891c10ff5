"""The numbers in which two blocks differ, in words: kernels, groups, heads, widths."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nar_plugin.encoder.words import ACTIVATIONS
from nar_plugin.likeness.wiring import Wired
from nar_plugin.tracing.graph import Op

_EXACT, _TANH = "exact GELU", "GELU by its tanh approximation"
GELUS = frozenset({f"{_EXACT} instead of {_TANH}", f"{_TANH} instead of {_EXACT}"})


def changed_numbers(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """What differs in the attributes of matched operations, each said once.

    Args:
        a: The block of the first design.
        b: The block of the second.
        pairs: Places of operations that correspond.
    """
    same_kind = [pair for pair in pairs if a.op(pair[0]).kind == b.op(pair[1]).kind]
    found: list[str] = []
    for one, other in same_kind:
        found += _settings(a.op(one), b.op(other))
    return [*dict.fromkeys(found), *_biases(a, b, same_kind), *_widths(a, b, same_kind)]


def _settings(one: Op, other: Op) -> list[str]:
    """Attributes that are no widths."""
    found = []
    if one.kind == "conv":
        if _dimensions(one) != _dimensions(other):
            found.append(f"{_dimensions(other)}d instead of {_dimensions(one)}d convolutions")
        found += [
            f"{name} {_side(other, name)} instead of {_side(one, name)}"
            for name in ("kernel", "stride", "dilation")
            if _side(one, name) != _side(other, name)
        ]
        if _grouping(one) != _grouping(other):
            found.append(f"{_grouping(other)} instead of {_grouping(one)} convolutions")
        if one.get("transposed") != other.get("transposed"):
            found.append(
                "transposed convolution" if other.get("transposed") else "no transposed convolution"
            )
    if one.kind == "attention":
        found += _attention(one, other)
    if (before := one.get("experts")) and (now := other.get("experts")) and before != now:
        found.append(f"{now} instead of {before} experts")
    if one.get("approximate") != other.get("approximate"):
        exact = other.get("approximate") == "none"
        found.append(f"{_EXACT} instead of {_TANH}" if exact else f"{_TANH} instead of {_EXACT}")
    return found


def _biases(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """Which layers have a bias in one of the blocks only."""
    layers = [pair for pair in pairs if b.op(pair[1]).kind in ("conv", "linear")]
    found = []
    for has in (True, False):
        changed = [
            b.noun(other)
            for one, other in layers
            if a.op(one).get("bias") != b.op(other).get("bias") and b.op(other).get("bias") is has
        ]
        if changed:
            where = "its layers" if len(changed) == len(layers) else " and ".join(changed)
            found.append(f"{'a' if has else 'no'} bias in {where}")
    return found


def _attention(one: Op, other: Op) -> list[str]:
    found = []
    if one.get("heads") != other.get("heads"):
        found.append(f"{other.get('heads')} instead of {one.get('heads')} heads")
    if one.get("width") != other.get("width"):
        found.append(f"heads of width {other.get('width')} instead of {one.get('width')}")
    if one.get("bias") != other.get("bias"):
        has = "a" if other.get("bias") else "no"
        found.append(f"{has} learned position bias in the attention")
    return found


def _dimensions(op: Op) -> int:
    """1 for sound and text, 2 for pictures, 3 for volumes."""
    return str(op.get("kernel")).count("x") + 1


def _side(op: Op, name: str) -> str:
    """A kernel, as one number where its sides are equal."""
    text = str(op.get(name))
    sides = text.split("x")
    return sides[0] if len(set(sides)) == 1 else text


def _grouping(op: Op) -> str:
    groups = op.get("groups", 1)
    if groups == 1:
        return "full"
    return "depthwise" if groups == op.get("in") else f"grouped ({groups})"


def _widths(a: Wired, b: Wired, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """Widths as one ratio where all have it, else each by name."""
    ratios = [_given(a, b, *pair) for pair in pairs]
    known = {ratio for ratio in ratios if ratio is not None}
    found = [
        f"{b.op(other).get('out')} instead of {a.op(one).get('out')} outputs"
        for one, other in pairs
        if _is_output(a, one)
        and _is_output(b, other)
        and a.op(one).get("out") != b.op(other).get("out")
    ]
    if known and known != {Fraction(1)}:
        found += [_ratio(known.pop())] if len(known) == 1 else _named_widths(a, b, pairs, ratios)
    return found


def _given(a: Wired, b: Wired, one: int, other: int) -> Fraction | None:
    """How much wider what an operation gives is; None where it states nothing that counts."""
    first, second = a.op(one), b.op(other)
    if first.kind == "attention" or _is_output(a, one) or _is_output(b, other):
        return None
    for name in ("out", "width"):
        before, now = first.get(name), second.get(name)
        if isinstance(before, int) and isinstance(now, int) and before and now:
            return Fraction(now, before)
    return None


def _is_output(block: Wired, place: int) -> bool:
    """Whether it is a last layer: its width is the number of classes."""
    return block.op(place).kind in ("linear", "conv") and not block.wiring.readers[place]


def _ratio(ratio: Fraction) -> str:
    words = {Fraction(2): "twice as wide", Fraction(1, 2): "half as wide"}
    return words.get(ratio, f"{float(ratio):.3g} times as wide")


def _named_widths(
    a: Wired,
    b: Wired,
    pairs: Sequence[tuple[int, int]],
    ratios: Sequence[Fraction | None],
) -> list[str]:
    found = []
    convolutions: dict[Fraction, list[str]] = {}
    for (one, other), ratio in zip(pairs, ratios, strict=True):
        first, second = a.op(one), b.op(other)
        if first.kind == "linear" and _reads_gate(b, other) and first.get("in") != second.get("in"):
            found.append(f"inner width {second.get('in')} instead of {first.get('in')}")
        if ratio is None or ratio == 1:
            continue
        heads = _key_heads(a, one), _key_heads(b, other)
        if heads[0] and heads[1]:
            if heads[0] != heads[1] and not (_all_heads(a, one) and _all_heads(b, other)):
                found.append(f"{heads[1]} instead of {heads[0]} key-value heads")
        elif first.kind == "conv":
            convolutions.setdefault(ratio, []).append(b.noun(other))
    for ratio, nouns in convolutions.items():
        found.append(f"{_ratio(ratio)} after {_listed(nouns)}")
    return list(dict.fromkeys(found))


def _listed(nouns: Sequence[str]) -> str:
    """Such as `the first and second convolution`."""
    *others, last = nouns
    short = [noun.removesuffix(" convolution") for noun in others]
    rest = last.removeprefix("the ") if others else last
    return (
        f"{', '.join([short[0], *(s.removeprefix('the ') for s in short[1:])])} and {rest}"
        if others
        else last
    )


def _reads_gate(block: Wired, place: int) -> bool:
    """Whether a linear layer reads an activation, or the product with one: it leads back."""
    sources = block.wiring.sources[place]
    return bool(sources) and block.wiring.kind(sources[0]) in ACTIVATIONS | {"mul"}


def _all_heads(block: Wired, place: int) -> bool:
    """Whether each head has its own keys and values."""
    attention = _attention_of(block, place)
    return attention is not None and attention.get("heads") == _key_heads(block, place)


def _attention_of(block: Wired, place: int) -> Op | None:
    """The attention that reads a layer, or what is made of it."""
    wiring = block.wiring
    reached = {
        further for reader in wiring.readers[place] for further in (reader, *wiring.readers[reader])
    }
    return next((wiring.ops[p] for p in reached if wiring.kind(p) == "attention"), None)


def _key_heads(block: Wired, place: int) -> int | None:
    """Of a layer that gives queries, keys and values: how many heads the keys have."""
    attention = _attention_of(block, place)
    if attention is None:
        return None
    out, heads, width = block.op(place).get("out"), attention.get("heads"), attention.get("width")
    if not (isinstance(out, int) and isinstance(heads, int) and isinstance(width, int) and width):
        return None
    keys, left = divmod(out - heads * width, 2 * width)
    return keys if keys > 0 and not left else None
