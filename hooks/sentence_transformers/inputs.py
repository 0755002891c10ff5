"""Guesses at the features that a model of sentence_transformers is given, from its first module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

_WORDS = 32


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """Features that the model may accept, best first: one dict, as the tokenizer makes it."""
    first, route = _first(model)
    extra = {"task": route} if route else {}
    for features in _features(first):
        yield ExampleInputs((features,), extra)


def _first(model: nn.Module) -> tuple[nn.Module, str | None]:
    """The module that reads the features, and the route to it where there are several."""
    module = next(model.children(), model) if isinstance(model, nn.Sequential) else model
    routes = getattr(module, "sub_modules", None)
    if isinstance(routes, nn.ModuleDict) and len(routes):
        name = next(iter(routes))
        inner: Any = routes[name]
        return (next(inner.children(), inner), name)
    return module, None


def _features(module: Any) -> Iterator[dict[str, Any]]:
    encoder = getattr(module, "auto_model", None)
    if isinstance(encoder, nn.Module):
        yield from _of_transformers(encoder)
        return
    if isinstance(getattr(module, "embedding", None), nn.EmbeddingBag):
        ids = _ids(module.embedding.num_embeddings)[0]
        yield {"input_ids": ids, "offsets": torch.tensor([0])}
    table = getattr(module, "emb_layer", None)
    if isinstance(table, nn.Embedding):
        yield {**_words(table.num_embeddings), "sentence_lengths": torch.tensor([_WORDS])}
    width = getattr(module, "embedding_dimension", None) or getattr(module, "in_features", None)
    if isinstance(width, int):  # a part that was taken out of its model
        vector = torch.empty(1, width, device="meta")
        tokens = torch.empty(1, _WORDS, width, device="meta")
        mask = torch.ones(1, _WORDS, dtype=torch.int64)
        yield {
            "sentence_embedding": vector,
            "token_embeddings": tokens,
            "attention_mask": mask,
            "sentence_lengths": torch.tensor([_WORDS]),
        }


def _of_transformers(encoder: nn.Module) -> Iterator[dict[str, Any]]:
    """What the plugin of transformers guesses for the encoder, with the mask that pooling needs."""
    from ..transformers.inputs.guesses import guesses as of_transformers

    for inputs in of_transformers(encoder):
        features = {
            name: value
            for name, value in inputs.kwargs.items()
            if isinstance(value, Tensor) and not name.startswith("decoder_")
        }
        ids = features.get("input_ids")
        if ids is not None:
            features.setdefault("attention_mask", torch.ones_like(ids))
        yield features


def _words(vocabulary: int) -> dict[str, Tensor]:
    ids = _ids(vocabulary)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def _ids(vocabulary: int) -> Tensor:
    """Token ids int64[1, words], 0 left out."""
    return 1 + (torch.arange(_WORDS)[None] * 7 + 3) % max(vocabulary - 1, 1)
