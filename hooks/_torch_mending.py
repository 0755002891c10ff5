"""Reads what a forward said when it refused inputs, and mends them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import torch
from nar_plugin.hooks import _torch_edits as edit
from nar_plugin.hooks._torch_arguments import EDGES, companions
from nar_plugin.hooks._torch_layers import IMAGE, KINDS, STEPS, floats, stems_of
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

_MOST = 12  # proposals for one message

Mender = Callable[[nn.Module, ExampleInputs, "list[str]"], Iterator[ExampleInputs]]


def mended(model: nn.Module, inputs: ExampleInputs, message: str) -> list[ExampleInputs]:
    """Inputs that answer a forward's complaint, likeliest first, at most twelve.

    Example:
        ```python
        mended(model, ExampleInputs((torch.empty(1, 3, 28, 28),)),
               "expected input[1, 3, 28, 28] to have 1 channels, but got 3 channels instead")
        ```
    """
    found: list[ExampleInputs] = []
    for pattern, mend in _MENDERS:
        match = pattern.search(message)
        if match:
            words = [word for word in match.groups() if word is not None]
            found += islice(mend(model, inputs, words), _MOST)
    return found[:_MOST]


# -- sizes -----------------------------------------------------------------------------------


def _resize(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` are the size that was found and the one that is wanted."""
    have, want = (int(word) for word in words[:2])
    if have != want:
        for change in edit.resized(have, want):
            yield from edit.each(inputs, change)
        yield from edit.as_features(want)(inputs)


def _resize_back(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    yield from _resize(model, inputs, [words[1], words[0]])


def _either(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Two sizes that should be one; the second is more often the model's own."""
    yield from _resize(model, inputs, words)
    yield from _resize(model, inputs, words[::-1])


def _shapes(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Two shapes as text that should be broadcastable; compared from their ends."""
    first, second = (_numbers(word) for word in words[:2])
    for have, want in zip(reversed(first), reversed(second), strict=False):
        if have != want and 1 not in (have, want):
            yield from _either(model, inputs, [str(have), str(want)])


def _channels(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    want, have = int(words[0]), int(words[1])
    yield from edit.each_float(inputs, edit.channels(want))
    yield from edit.each_float(inputs, lambda tensor: _in_frames(tensor, want - have))
    yield from edit.each_float(inputs, lambda tensor: _as_frames(tensor, want))
    yield from _resize(model, inputs, [words[1], words[0]])


def _in_frames(tensor: Tensor, by: int) -> Tensor | None:
    """The channels of a video's frames, to which the forward may have added a state's."""
    return edit.shifted(tensor, 2, by) if tensor.dim() == 5 else None


def _as_frames(tensor: Tensor, want: int) -> Tensor | None:
    """Two frames in the place of a picture whose channels were taken for frames."""
    right = tensor.dim() == 4 and tensor.shape[1] == want
    return edit.shaped((len(tensor), 2, *tensor.shape[1:]), tensor) if right else None


def _longer_clip(tensor: Tensor) -> Tensor | None:
    return edit.longer(tensor, 2, 2) if tensor.dim() == 5 else None


def _signal(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A filter over time does not fit: a wave, with or without channels."""
    length = 16 * int(words[0])
    for shape in ((1, length), (1, 1, length)):
        yield from edit.each_float(inputs, lambda tensor, s=shape: edit.shaped(s, tensor))


def _width(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` are the shape that a norm wants and, perhaps, the size that it got."""
    want = _numbers(words[0])[-1]
    yield from edit.each_float(inputs, edit.width(want))
    if words[1:]:  # something may have been concatenated
        by = want - _numbers(words[1])[-1]
        yield from edit.each_float(inputs, lambda tensor: edit.shifted(tensor, -1, by))


def _sides(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    height, across = int(words[0]), int(words[-1])
    yield from edit.each_float(inputs, edit.sides(height, across))


def _multiples(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    for factor in (1, 2, 4, 8):
        yield from edit.each_float(inputs, edit.multiples(int(words[-1]) * factor))


def _larger(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A kernel or a window does not fit."""
    for ratio in (2.0, 4.0):
        yield from edit.each_float(inputs, lambda tensor, r=ratio: edit.scaled(tensor, r))
    yield from edit.each_float(inputs, lambda tensor: _longer_clip(tensor))


# -- kinds -----------------------------------------------------------------------------------


def _ranks(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` ends with the wanted number of dimensions."""
    wanted = int(words[-1])
    kind = {4: "image", 5: "volume"}.get(wanted)
    stem = stems_of(model).get(kind or "")
    if kind and stem:
        for tensor in islice(KINDS[kind](model, stem, ""), 2):
            yield from edit.each_float(inputs, lambda old, new=tensor: new)
    for change in edit.ranked(wanted):
        yield from edit.each(inputs, change)


def _another_rank(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """Two tensors should have as many dimensions; either of them may be wrong."""
    step = int(words[0]) - int(words[1])
    for by in (step, -step):
        for place in edit.places(inputs):
            yield from islice(_of_rank(inputs, place, by), 2)


def _of_rank(inputs: ExampleInputs, place: edit.Place, by: int) -> Iterator[ExampleInputs]:
    """The inputs with so many dimensions more in one place."""
    value = edit.value_at(inputs, place)
    if isinstance(value, Tensor) and value.dim() + by > 0:
        for change in edit.ranked(value.dim() + by):
            if (made := change(value)) is not None:
                yield edit.put(inputs, place, made)


def _ranks_of_layer(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """A layer got another number of dimensions than it wants: `words` ends with its size."""
    by = int(words[0]) - len(_numbers(words[1]))
    for place in edit.places(inputs):
        yield from _of_rank(inputs, place, by)


def _inner_rank(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """A layer got another number of dimensions than it wants: sets or frames were unpacked."""
    want, have = int(words[0]), int(words[1])
    for place in edit.places(inputs):
        value = edit.value_at(inputs, place)
        if isinstance(value, Tensor) and value.is_floating_point() and want > have:
            grown = edit.shaped((*[1] * (want - have), *value.shape), value)
            yield edit.put(inputs, place, grown)
    yield from edit.each_float(
        inputs,
        lambda tensor: edit.shaped((*[1] * (want - have), *tensor.shape), tensor),
    )


def _viewed(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A shape that the forward wants to see its input in."""
    sizes = [int(word) for word in re.findall(r"-?\d+", words[0])]
    if sizes[0] == 0 and len(sizes) > 1:  # too few frames for one clip
        for place in (1, 0):
            yield from edit.each_float(inputs, lambda t, p=place: edit.longer(t, p, sizes[1]))
    if sizes[0] > 1 and -1 in sizes:  # sets of a size that the model knows
        yield from edit.each(inputs, lambda tensor: _of_length(tensor, sizes[0]))
    shape = [max(1, size) for size in sizes]
    slim = [shape[0], *(size for size in shape[1:] if size > 1)]
    for wanted in (shape, slim):
        yield from edit.each_float(inputs, lambda tensor, w=wanted: edit.shaped(w, tensor))


def _of_length(tensor: Tensor, length: int) -> Tensor | None:
    shape = (length, *tensor.shape[1:])
    return edit.shaped(shape, tensor) if shape != tuple(tensor.shape) else None


def _last(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """So many values, in the last dimension."""
    want = int(words[0])
    yield from edit.each(
        inputs,
        lambda tensor: (
            edit.shaped((*tensor.shape[:-1], want), tensor) if tensor.shape[-1] != want else None
        ),
    )


def _asserted(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """An argument's dimension that should have a size: `words` are all three."""
    name, at, want = words[0], int(words[1]), int(words[2])
    for place, parameter in enumerate(_parameters(model)):
        value = inputs.args[place] if place < len(inputs.args) else inputs.kwargs.get(parameter)
        if parameter == name and isinstance(value, Tensor) and -value.dim() <= at < value.dim():
            shape = list(value.shape)
            shape[at] = want
            where = place if place < len(inputs.args) else parameter
            yield edit.put(inputs, where, edit.shaped(shape, value))


def _further(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A position lies outside of a dimension."""
    position, size = int(words[0]), int(words[1])
    yield from _resize(model, inputs, [str(size), str(2 * (position + 1))])


def _split(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Parts whose widths the forward knows."""
    yield from edit.each_float(inputs, edit.width(sum(_numbers(words[0]))))


def _more_dimensions(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    first = next((item for item in inputs.args if isinstance(item, Tensor)), None)
    if first is not None:
        yield from _ranks(model, inputs, [str(first.dim() + 1)])


def _token_ids(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    yield from edit.each_float(inputs, edit.as_ids)


def _as_floats(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    yield from edit.each(inputs, edit.as_floats)


def _lists(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    for place, value in enumerate(inputs.args):
        if isinstance(value, Tensor) and value.dim() > 1:
            yield edit.put(inputs, place, edit.as_list(value))
            yield edit.put(inputs, place, [value, value])


def _dicts(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The forward reads its argument by keys; they stand in its source, or a KeyError tells."""
    by_key = r"\b{}\[\s*['\"](\w+)['\"]\s*\]"
    yield from _composed(model, inputs, by_key, dict)
    yield from _composed(model, inputs, by_key, lambda values: [values], each_of=True)
    yield replace(inputs, args=({}, *inputs.args[1:]))


def _key(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A dict lacks a key, or each of a list of them."""
    for place, value in enumerate(inputs.args):
        fields = value[0] if isinstance(value, list) and value else value
        if isinstance(fields, dict):
            known = next((item for item in fields.values() if isinstance(item, Tensor)), None)
            for like in [torch.tensor([1]), floats(1)] if known is None else [known]:
                made = {**fields, words[0]: _value(words[0], like, model)}
                yield edit.put(inputs, place, made if value is fields else [made])


def _objects(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The forward reads its argument by attributes, as those of a PyG `Data`."""
    yield from _composed(model, inputs, r"\b{}\.([a-z]\w*)\b(?!\()", lambda d: SimpleNamespace(**d))


def _composed(
    model: nn.Module,
    inputs: ExampleInputs,
    pattern: str,
    make: Callable[[dict[str, Any]], Any],
    *,
    each_of: bool = False,
) -> Iterator[ExampleInputs]:
    """The first argument made of what the forward reads of it, or of `each_of` its elements."""
    first = next((item for item in inputs.args if isinstance(item, Tensor)), None)
    if first is None:
        return
    source = _source(model)
    names = list(_parameters(model))[:1]
    if each_of:
        names = [item for name in names for item in _loops(name, source)]
        first = first[0] if first.dim() == 4 else first  # a picture of a batch
    for name in names[:1]:
        keys = dict.fromkeys(re.findall(pattern.format(re.escape(name)), source))
        if keys:
            if any(EDGES.search(key) for key in keys) and first.shape[0] < STEPS:
                first = floats(STEPS, first.shape[-1])
            values = {
                key: first if each_of and IMAGE.search(key) else _value(key, first, model)
                for key in keys
            }
            yield ExampleInputs((make(values), *inputs.args[1:]), inputs.kwargs)


def _loops(name: str, source: str) -> list[str]:
    """What the loops over a name call its elements."""
    return re.findall(rf"\bfor (\w+) in {re.escape(name)}\b", source)


# -- arguments -------------------------------------------------------------------------------


def _missing(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    yield from _with(model, inputs, re.findall(r"'(\w+)'", words[0]))


def _optional(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Something is None: the arguments that the message names, else each in turn, else all."""
    given = list(_parameters(model))[: len(inputs.args)]
    left = [name for name in _parameters(model) if name not in given and name not in inputs.kwargs]
    named = [name for name in left if re.search(rf"\b{re.escape(name)}\b", " ".join(words))]
    if named:
        yield from _with(model, inputs, named)
    for name in left[:5]:
        yield from _with(model, inputs, [name])
    yield from _with(model, inputs, left[:5])


def _with(model: nn.Module, inputs: ExampleInputs, names: list[str]) -> Iterator[ExampleInputs]:
    values = (*inputs.args, *inputs.kwargs.values())
    first = next((item for item in values if isinstance(item, Tensor)), None)
    if first is not None and names:
        for variant in range(3):
            added = {name: _value(name, first, model, variant) for name in names}
            yield replace(inputs, kwargs={**inputs.kwargs, **added})


def _value(name: str, main: Tensor, model: nn.Module, variant: int = 0) -> Any:
    """A value for a name, which is the main input when the name says nothing else."""
    if IMAGE.search(name) and main.dim() >= 4:
        return main
    found = [value for value in companions(name, main, model) if value is not None]
    return found[min(variant, len(found) - 1)] if found else main


def _unexpected(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    kwargs = {name: value for name, value in inputs.kwargs.items() if name != words[0]}
    yield replace(inputs, kwargs=kwargs)


def _fewer(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    if len(inputs.args) > 1:
        yield replace(inputs, args=inputs.args[:-1])


def _parameters(model: nn.Module) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(model.forward).parameters
    except (TypeError, ValueError):
        return {}
    loose = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: item for name, item in parameters.items() if item.kind not in loose}


def _source(model: nn.Module) -> str:
    try:
        return inspect.getsource(type(model).forward)
    except (OSError, TypeError):
        return ""


def _numbers(text: str) -> list[int]:
    return [int(word) for word in re.findall(r"\d+", text)]


_MENDERS: tuple[tuple[re.Pattern[str], Mender], ...] = tuple(
    (re.compile(pattern, re.DOTALL), mend)
    for pattern, mend in (
        (r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)", _missing),
        (r"unexpected keyword argument '(\w+)'", _unexpected),
        (r"positional arguments? but \d+ (?:was|were) given", _fewer),
        (r"to have (\d+) channels, but got (\d+) channels", _channels),
        (r"running_mean should contain (\d+) elements not (\d+)", _resize),
        (r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", _resize),
        (r"same reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]", _resize),
        (r"must be equal to input_size\. Expected (\d+), got (\d+)", _resize_back),
        (r"input has inconsistent input_size: got (\d+),? expected (\d+)", _resize),
        (
            r"expected input with shape \[(?:\*, )?([\d, ]+)\]"
            r"(?:, but got input of size ?(?:torch\.Size\()?(\[[\d, ]+\]))?",
            _width,
        ),
        (r"was expecting embedding dimension of (\d+), but got (\d+)", _resize_back),
        (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", _either),
        (
            r"Mismatching argument at index 1 had (torch\.Size\(\[[^]]*\]\)).*broadcastable to "
            r"(\[[^]]*\])",
            _shapes,
        ),
        (r"Expected size (\d+) but got size (\d+)", _either),
        (r"Expected (\d+) in dimension \d+ but got (\d+)", _either),
        (r"shape '\[([-\d, ]+)\]' is invalid for input", _viewed),
        (r"got split_sizes=\[([\d, ]+)\]", _split),
        (r"Expected (\d+)-D tensors, but got (\d+)-D", _another_rank),
        (r"equation \((\d+)\) does not match the number of dimensions \((\d+)\)", _another_rank),
        (
            r"number of sizes provided \((\d+)\)[^(]*dimensions in the tensor \((\d+)\)",
            _another_rank,
        ),
        (r"(?:height|width|size)[^()]*\((\d+)[^)]*\) doesn't match[^()]*\((\d+)", _resize),
        (r"Expected image size \(?(\d+)(?:\s*[x*,]\s*(\d+))?", _sides),
        (r"expected (?:an )?(?:input|image)s? (?:of )?size[^\d]*(\d+)\D+(\d+)", _sides),
        (r"(?:divisible by|multiple of)[^\d]*(\d+)", _multiples),
        (
            r"Kernel size can't be greater|Output size is too small|smaller than kernel|"
            r"Calculated output size|non-positive|should be less than the corresponding",
            _larger,
        ),
        (r"per channel: \(\d+\)\. Kernel size: \((\d+)\)", _signal),
        (
            r"or (\d)D \(batched\) input to \w+, but got input of size: (\[[\d, ]+\])",
            _ranks_of_layer,
        ),
        (r"xpected \dD[^,]*or (\d)D", _ranks),
        (r"xpected (\d)D input \(got (\d)D", _inner_rank),
        (r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", _further),
        (r"xpected (\d)D input|must be (\d)-?D|xpected (\d)[- ]dim", _ranks),
        (r"not enough values to unpack \(expected (\d)", _ranks),
        (r"too many values to unpack \(expected (\d)", _ranks),
        (r"not equal to len\(dims\) = (\d)", _ranks),
        (r"expected (\d) dims|assert \w+\.(?:ndim|dim\(\)) == (\d)", _ranks),
        (r"right number of (?:axis|axes|dimensions)", _more_dimensions),
        (r"must (?:pass in|have|be) (\d+)|expected (\d+) (?:values|features)", _last),
        (r"assert (\w+)\.shape\[(-?\d+)\] == (\d+)\b", _asserted),
        (r"KeyError: '(\w+)'|exactly one of `(\w+)`", _key),
        (r"must be either a floating point", _as_floats),
        (
            r"invalid data type 'str'|indices must be integers|only integers, slices|"
            r"no attribute '(?:keys|items|get)'|too many indices|passed in a <class 'str'>",
            _dicts,
        ),
        (
            r"Dimension out of range|too many indices for tensor|tuple index out of range",
            _more_dimensions,
        ),
        (
            r"scalar types?:? Long|used as indices must be|index tensor|expected.*(?:Long|Int)\b.*"
            r"got.*Float",
            _token_ids,
        ),
        (r"'Tensor' object has no attribute '\w+'", _objects),
        (r"list of|List\[|must be a list|sequence of|0-d tensor", _lists),
        (r"((?:NoneType|specify|provide|required|None).*)", _optional),
    )
)
