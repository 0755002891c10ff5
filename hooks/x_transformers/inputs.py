"""What x-transformers' models eat: ids for what has an embedding, vectors for the rest."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from .._shared.layer_inputs import STEPS, TOKENS
from .._shared.layers import floats, ids

_READERS = ("token_emb", "embeds", "project_in", "input_embed")  # what only the first part has


def guesses(model: Any) -> list[ExampleInputs]:
    """Inputs that the forward may accept, best guess first."""
    if hasattr(model, "patch_to_embedding"):
        return [ExampleInputs((_image(model),))]
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        return _pairs(model)
    reader = _reader(model)
    if reader is None:
        return [ExampleInputs((floats(1, STEPS, _width(model)),), _context(model, model))]
    args = _read(reader)
    found = [ExampleInputs(args, _context(model, reader))]
    if type(model).__name__ == "DPO":  # what was preferred, what was not, where both begin
        prompt = torch.arange(args[0].shape[1])[None] < STEPS
        found.insert(0, ExampleInputs((*args, *args), {"prompt_mask": prompt}))
    return found


def _pairs(model: Any) -> list[ExampleInputs]:
    """Of a model that reads one sequence and writes another, or the same once more."""
    source, target = _reader(model.encoder), _reader(model.decoder)
    if source is None or target is None:
        return [ExampleInputs((floats(1, STEPS, _width(model)),))]
    return [ExampleInputs((*_read(source), *_read(target))), ExampleInputs(_read(target))]


def _reader(model: Any) -> Any:
    """The first part that takes in ids or vectors: a wrapper around a wrapper has the same."""
    for part in model.modules():
        if any(hasattr(part, name) for name in _READERS):
            return part
    return None


def _read(reader: Any) -> tuple[Any, ...]:
    length = min(TOKENS, getattr(reader, "max_seq_len", None) or TOKENS)
    if hasattr(reader, "input_embed"):  # a vector whose every entry is a token
        return (floats(1, reader.input_embed.shape[0]),)
    if hasattr(reader, "project_in"):
        return (floats(1, length, _width(reader)),)
    embeds = getattr(reader, "embeds", None)
    if isinstance(embeds, nn.ModuleDict):
        rows = {name.removesuffix("_embed"): _rows(part) for name, part in embeds.items()}
        return ({name: ids(length, count) for name, count in rows.items()},)
    tokens = ids(length, _rows(reader.token_emb))
    if hasattr(reader, "numerical_token_id"):
        return tokens, floats(1, length)
    return (tokens,)


def _rows(embedding: nn.Module) -> int:
    """Of the table in a token embedding."""
    tables = (part for part in embedding.modules() if isinstance(part, nn.Embedding))
    return next((table.num_embeddings for table in tables), 2)


def _width(model: Any) -> int:
    """Of the vectors that come in."""
    project = getattr(model, "project_in", None)
    for part in project.modules() if isinstance(project, nn.Module) else ():
        if isinstance(part, nn.Linear):
            return part.in_features
    for part in (model, *model.modules()):
        width = getattr(part, "dim", None)
        if isinstance(width, int):
            return width
    first = next((part for part in model.modules() if isinstance(part, nn.Linear)), None)
    return first.in_features if first is not None else 64


def _context(model: Any, reader: Any) -> dict[str, Tensor]:
    """What layers that attend to something else are given to look at."""
    for part in reader.modules():
        if getattr(part, "cross_attend", False) is True:
            return {"context": floats(1, STEPS, part.dim)}
    return {}


def _image(model: Any) -> Tensor:
    """As large as the table of the patches' positions, cut as the first layer wants it."""
    side = math.isqrt(model.pos_embedding.shape[1]) * model.patch_size
    linear = next(part for part in model.patch_to_embedding if isinstance(part, nn.Linear))
    channels = linear.in_features // model.patch_size**2
    return torch.empty(1, channels, side, side, device="meta")
