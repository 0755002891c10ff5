"""Reads the archive that `torch.export.save` writes: a zip of JSON and raw weights.

The JSON is torch's own schema (torch/_export/serde/schema.py). torch's reader unpickles the example
inputs and evaluates the formulas of sizes; none of this is needed, and nothing of it is done here.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BufferedReader
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor, nn

from .._shared.program import Program
from .._shared.program_tensors import empty, example, is_known, known
from .arguments import SCALAR_TYPES
from .calls import Reader
from .decompositions import composed
from .entries import first, payloads, read, read_json

_MOST_FILES = 1_000_000
_DYNAMIC = 8  # a size that the export left open


def program(file: BufferedReader) -> nn.Module:
    """The program as a module with its example inputs.

    Raises:
        ValueError: It is no such archive, is damaged or too large, or calls an unknown operator.
    """
    try:
        with ZipFile(file) as archive:
            if len(archive.filelist) > _MOST_FILES:
                raise ValueError(f"the archive has {len(archive.filelist):,} files")
            return _program(archive)
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ValueError(f"the archive is damaged: {error}") from error
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"its JSON is not what torch.export writes ({problem})") from error


def _program(archive: ZipFile) -> nn.Module:
    names = sorted(archive.namelist())
    model = first(names, r"(^|/)models/[^/]+\.json$") or first(names, r"serialized_exported_\w+$")
    model = model or first(names, r"(^|/)serialized_exported_program\.json$")
    if model is None:
        if first(names, r"\.(so|cubin|cpp)$"):
            raise ValueError("it is compiled by AOTInductor, so it holds no graph")
        raise ValueError("the archive has no models/*.json")
    content = read_json(archive, model)
    module, constraints = content["graph_module"], content.get("range_constraints") or {}
    graph, inputs, weights = module["graph"], [], {}
    places = payloads(archive, names)
    metas = {name: _meta(value, constraints) for name, value in graph["tensor_values"].items()}
    examples: list[Any] = []
    for spec in module["signature"]["input_specs"]:
        ((kind, item),) = spec.items()
        name, fqn = _named(kind, item)
        if kind == "user_input" and "as_tensor" in item["arg"]:
            inputs.append(name)
            examples.append(example(*metas[name]))
        elif kind == "user_input":
            inputs.append(name)
            examples.append(_number(item["arg"], graph, constraints))
        elif kind == "constant_input":
            inputs.append(name)
            examples.append(next(iter(item["value"].values())))
        elif kind in ("parameter", "buffer", "tensor_constant"):
            weights[name] = _weight(archive, places.get(fqn), metas[name], kind == "parameter")
        else:
            raise ValueError(f"it has an input of the kind {kind!r:.40}")
    reader = Reader()
    steps = composed([reader.step(node) for node in graph["nodes"]])
    outputs = [
        reader.argument(next(iter(spec["user_output"].values())))
        for spec in module["signature"]["output_specs"]
        if "user_output" in spec
    ]
    made = Program(inputs, steps, outputs, weights, reader.parts)
    made.example_input_array = tuple(examples)  # type: ignore[assignment]
    return made


def _named(kind: str, item: Any) -> tuple[str, str]:
    """The name of an input in the graph, and of its weight."""
    if kind == "constant_input":
        return item["name"], ""
    argument = item["arg"]
    if kind == "user_input":
        ((_, argument),) = argument.items()
    name = argument["name"] if "name" in argument else argument["as_name"]
    return name, str(item.get(f"{kind}_name", ""))


def _weight(
    archive: ZipFile, place: str | None, meta: tuple[torch.dtype, list[int]], is_parameter: bool
) -> Tensor:
    if is_parameter and meta[0].is_floating_point:
        return nn.Parameter(empty(*meta), requires_grad=False)
    if place is None or not is_known(*meta):
        return empty(*meta)
    return known(*meta, read(archive, place, 1 << 20))


def _meta(value: Any, constraints: Mapping[str, Any]) -> tuple[torch.dtype, list[int]]:
    return SCALAR_TYPES[value["dtype"]], [_size(size, constraints) for size in value["sizes"]]


def _size(size: Any, constraints: Mapping[str, Any]) -> int:
    """A size; one that the export left open is what it was then, or some small one."""
    if "as_int" in size:
        return int(size["as_int"])
    expression = size["as_expr"]
    if hint := expression.get("hint"):
        return int(hint["as_int"])
    bounds = constraints.get(expression["expr_str"]) or {}
    least, most = bounds.get("min_val") or 0, bounds.get("max_val") or _DYNAMIC
    return int(min(max(_DYNAMIC, least), most))


def _number(argument: Any, graph: Any, constraints: Mapping[str, Any]) -> Any:
    ((kind, value),) = argument.items()
    if kind == "as_none":
        return None
    if kind != "as_sym_int" or "as_int" in value:
        return value["as_int"] if isinstance(value, Mapping) else value
    return _size(graph["sym_int_values"][value["as_name"]], constraints)
