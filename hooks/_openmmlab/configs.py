"""The `model` part of an OpenMMLab config file, read without running the file.

mmengine takes a tenth of a second for a file, and a library publishes hundreds. To list them, the
types of the parts are enough; they are read from the syntax tree along the `_base_` files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any


@cache
def model_of(path: Path) -> dict[str, Any]:
    """The model part as nested dicts and lists; what is not a literal is None.

    Args:
        path: A config file, in mmengine's old or new style.
    """
    tree = ast.parse(path.read_text())
    found: dict[str, Any] = {}
    for base in _bases(tree, path):
        if base.is_file():
            found = _merged(found, model_of(base))
    values: dict[str, Any] = {"model": found}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, _value(node.value, values)
            values[name] = _merged(found, value) if name == "model" else value
        elif isinstance(node, ast.Expr) and (change := _model_update(node.value)) is not None:
            values["model"] = _merged(values["model"], _value(change, values))
    model = values["model"]
    return model if isinstance(model, dict) else {}


def _bases(tree: ast.Module, path: Path) -> Iterator[Path]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_base_":
            named = _value(node.value, {})
            for item in named if isinstance(named, list) else [named]:
                yield (path.parent / str(item)).resolve()
        if isinstance(node, ast.With):  # with read_base(): from .a.b import *
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and line.level and line.module:
                    folder = path.parents[line.level - 1]
                    yield folder.joinpath(*line.module.split(".")).with_suffix(".py")


def _model_update(node: ast.expr) -> ast.expr | None:
    """The argument of `model.update(...)` or `model.merge(...)`."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("update", "merge")
        and getattr(node.func.value, "id", "") == "model"
    ):
        return node.args[0]
    return None


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):  # of a variable, or of a class in the new style
        return known.get(node.id, node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item, known) for item in node.elts]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dict":
        pairs = [(item.arg, _value(item.value, known)) for item in node.keywords]
        spread = [value for name, value in pairs if name is None and isinstance(value, dict)]
        return {
            **{key: value for part in spread for key, value in part.items()},
            **{name: value for name, value in pairs if name is not None},
        }
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        return {
            key: _value(item, known) for key, item in zip(keys, node.values, strict=True) if key
        }
    return None


def _merged(base: Any, change: Any) -> Any:
    """A config over its base, as mmengine merges them."""
    if not isinstance(base, dict) or not isinstance(change, dict) or change.get("_delete_"):
        return change
    return {**base, **{key: _merged(base.get(key), value) for key, value in change.items()}}
