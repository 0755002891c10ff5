"""Reads the calls in a plugin's table, such as `ViT(image_size=256, attn_layers=Encoder(dim=8))`.

A table states a model as the library's README does. Only what such an example needs is read:
literals, calls, public attributes, arithmetic and slices, of names that the plugin lends.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.BitAnd: operator.and_,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
}


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """What an expression of a table makes.

    Example:
        ```python
        evaluate("Linear(4, 2 * 8, bias=False)", {"Linear": torch.nn.Linear})
        ```

    Args:
        text: One expression.
        names: What it may name.

    Raises:
        ValueError: The expression has a form that no table needs, or a private attribute.
        KeyError: It has a name that was not lent.
    """
    return _value(ast.parse(text, mode="eval").body, names)


def options(text: str) -> dict[str, Any]:
    """The keyword arguments of a call, whatever is called.

    Example:
        ```python
        options("UNet(channels=(16, 32), strides=(2,))")  # {"channels": (16, 32), "strides": (2,)}
        ```
    """
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError(f"expected a call with keyword arguments alone, got {text!r}")
    return _keywords(call, {})


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id]
        case ast.Attribute() if not node.attr.startswith("_"):
            return getattr(_value(node.value, names), node.attr)
        case ast.Call():
            function = _value(node.func, names)
            args = [_value(item, names) for item in node.args]
            return function(*args, **_keywords(node, names))
        case ast.Tuple():
            return tuple(_value(item, names) for item in node.elts)
        case ast.List():
            return [_value(item, names) for item in node.elts]
        case ast.Dict(keys=keys) if None not in keys:
            pairs = zip(keys, node.values, strict=True)
            return {_value(key, names): _value(item, names) for key, item in pairs if key}
        case ast.Subscript():
            return _value(node.value, names)[_value(node.slice, names)]
        case ast.Slice():
            bounds = (node.lower, node.upper, node.step)
            return slice(*(None if item is None else _value(item, names) for item in bounds))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.UnaryOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.operand, names))
        case ast.Compare(ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(node.left, names), _value(right, names))
    raise ValueError(f"a table has no such expression: {ast.unparse(node)}")


def _keywords(call: ast.Call, names: Mapping[str, Any]) -> dict[str, Any]:
    found = {word.arg: _value(word.value, names) for word in call.keywords if word.arg}
    if len(found) < len(call.keywords):
        raise ValueError(f"a table has no such call: {ast.unparse(call)}")
    return found
