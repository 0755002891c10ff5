"""Reads what a forward said when it refused inputs, and mends them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from torch import nn

from nar_plugin.hookspecs import ExampleInputs

from . import arguments, assertions, conditions, kinds, ranks, sizes

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
    found = found or list(islice(sizes.any_of(model, inputs, [message]), _MOST))
    return [*kinds.first_of(model, inputs), *found][:_MOST]


_MENDERS: tuple[tuple[re.Pattern[str], Mender], ...] = tuple(
    (re.compile(pattern, re.DOTALL), mend)
    for pattern, mend in (
        (r".*[:;] (assert .+)", assertions.asserted),
        (r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)", arguments.missing),
        (r"unexpected keyword argument '(\w+)'", arguments.unexpected),
        (r"positional arguments? but \d+ (?:was|were) given", arguments.fewer),
        (r"to have (\d+) channels, but got (\d+) channels", sizes.channels),
        (r"running_mean should contain (\d+) elements not (\d+)", sizes.resize),
        (
            r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
            conditions.conditions,
        ),
        (
            r"same reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]",
            conditions.conditions,
        ),
        (r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", sizes.facing),
        (r"same reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]", sizes.facing),
        (
            r"two dimensions of batch2 tensor to be: (\[\d+, \d+\]) but got: (\[\d+, \d+\])",
            sizes.stacked,
        ),
        (r"got input \(\d+x(\d+)\), vec \((\d+)\)", sizes.resize),
        (r"contracted dimensions.*first has size (\d+).*second has size (\d+)", sizes.facing),
        (r"has size (\d+) for operand.*previously seen size (\d+)", sizes.either),
        (r"does not match weight size: got (\d+) but expected (\d+)", sizes.resize),
        (r"same number of columns\. X1: (\d+) X2: (\d+)", sizes.either),
        (r"sizes (\[[\d, ]+\]) don't multiply up to the size of dim \d+ \((\d+)\)", sizes.product),
        (r"parameter numbers = (\d+) and channel size = (\d+)", sizes.channels),
        (r"weight of shape \[(\d+)\] and input of shape \[\d+, (\d+)", sizes.channels),
        (
            r"divisible by num_groups, but got input of shape \[\d+, (\d+).*num_groups=(\d+)",
            sizes.resize,
        ),
        (r"shape for pixel_shuffle.*\[\d+, (\d+), .*upscale_factor = (\d+)", sizes.shuffled),
        (r"must be equal to input_size\. Expected (\d+), got (\d+)", sizes.resize_back),
        (r"input has inconsistent input_size: got (\d+),? expected (\d+)", sizes.resize),
        (
            r"expected input with shape \[(?:\*(?:, )?)?([\d, ]+)\]"
            r"(?:, but got input of size ?(?:torch\.Size\()?(\[[\d, ]+\]))?",
            sizes.width,
        ),
        (r"was expecting embedding dimension of (\d+), but got (\d+)", sizes.resize_back),
        (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", sizes.either),
        (
            r"Mismatching argument at index \d+ had (torch\.Size\(\[[^]]*\]\)).*broadcastable to "
            r"(\[[^]]*\])",
            sizes.shapes,
        ),
        (r"to be equal size, but got (\[[\d, ]*\]) at entry \d+ and (\[[\d, ]*\])", sizes.shapes),
        (r"expanded size of the tensor \((\d+)\) must match .* \((\d+)\) at", sizes.expanded),
        (r"Expected size (\d+) but got size (\d+)", sizes.either),
        (r"Expected (\d+) in dimension \d+ but got (\d+)", sizes.either),
        (r"shape '\[([-\d, ]+)\]' is invalid for input(?: of size (\d+))?", ranks.viewed),
        (r"got split_sizes=\[([\d, ]+)\]", sizes.split),
        (r"Padding size \d+ is not supported for (\d)D input", ranks.fewer),
        (r"Expected hidden(?:\[\d\])? size", ranks.samples_second),
        (r"Expected (\d+)-D (?:tensors|argument \w+), but got (\d+)-D", ranks.another_rank),
        (
            r"equation \((\d+)\) does not match the number of dimensions \((\d+)\)",
            ranks.another_rank,
        ),
        (
            r"number of sizes provided \((\d+)\)[^(]*dimensions in the tensor \((\d+)\)",
            ranks.another_rank,
        ),
        (r"(?:height|width|size)[^()]*\((\d+)[^)]*\) doesn't match[^()]*\((\d+)", sizes.side),
        (r"Expected image size \(?(\d+)(?:\s*[x*,]\s*(\d+))?", sizes.sides),
        (r"expected (?:an )?(?:input|image)s? (?:of )?size[^\d]*(\d+)\D+(\d+)", sizes.sides),
        (r"(?:divisible by|multiple of)[^\d]*(\d+)", sizes.multiples),
        (
            r"Kernel size can't be greater|Output size is too small|smaller than kernel|"
            r"Calculated output size|non-positive|should be less than the corresponding",
            sizes.larger,
        ),
        (r"per channel: \(\d+\)\. Kernel size: \((\d+)\)", sizes.signal),
        (
            r"or (\d)D \(batched\) input to \w+, but got input of size: (\[[\d, ]+\])",
            ranks.ranks_of_layer,
        ),
        (r"xpected \dD[^,]*or (\d)D", ranks.ranks),
        (r"xpected (\d)D input \(got (\d)D", ranks.inner_rank),
        (r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", sizes.further),
        (r"xpected (\d)D input|must be (?:a )?(\d)-?D|xpected (\d)[- ]dim", ranks.ranks),
        (r"not enough values to unpack \(expected (\d)", ranks.ranks),
        (r"too many values to unpack \(expected (\d)", ranks.ranks),
        (r"dim\(\) = (\d) is not equal to len\(dims\) = (\d)", ranks.ordered),
        (r"expected (\d) dims|assert \w+\.(?:ndim|dim\(\)) == (\d)", ranks.ranks),
        (r"right number of (?:axis|axes|dimensions)", ranks.more_dimensions),
        (r"must (?:pass in|have|be) (\d+)|expected (\d+) (?:values|features)", sizes.last),
        (r"takes 1 positional argument but", kinds.keywords),
        (r"KeyError: '(\w+)'|exactly one of `(\w+)`", kinds.key),
        (r"must be either a floating point", kinds.as_floats),
        (
            r"expected scalar type \S+ but found \S*(?:int64|Long|[Ff]loat)|"
            r"must have the same dtype, but got Long and Float",
            kinds.vectors,
        ),
        (
            r"Boolean value of Tensor with more than one value|"
            r"elements cannot be converted to Scalar|only one element tensors can be converted",
            kinds.numbers,
        ),
        (
            r"invalid data type 'str'|indices must be integers|only integers, slices|"
            r"no attribute '(?:keys|items|get)'|too many indices|passed in a <class 'str'>",
            kinds.dicts,
        ),
        (
            r"Dimension out of range|too many indices for tensor|tuple index out of range",
            ranks.more_dimensions,
        ),
        (
            r"scalar types?:? Long|int32/int64|used as indices must be|index tensor|"
            r"expected.*(?:Long|Int)\b.*got.*Float",
            kinds.token_ids,
        ),
        (r"'Tensor' object has no attribute '\w+'", kinds.objects),
        (r"list index out of range", kinds.longer_lists),
        (r"list of|List\[|must be a list|sequence of|0-d tensor", kinds.lists),
        (r"((?:NoneType|specify|provide|required|None).*)", arguments.optional),
    )
)
