"""Token ids, with the placeholders that a model looks for, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..sizes import TEXT, find, number, special_tokens
from .media import Media

_TOKENS = 64
_DECODED = 32
_VOCABULARIES = ("vocab_size", "src_vocab_size", "n_words")
PLACEHOLDERS = {
    "image": ("image_token_id", "image_token_index", "img_token_id", "media_token_id"),
    "video": ("video_token_id", "video_token_index"),
    "audio": ("audio_token_id", "audio_token_index"),
}
_STARTS = {
    "image": ("vision_start_token_id", "image_start_token_id", "boi_token_id"),
    "video": ("vision_start_token_id", "video_start_token_id"),
    "audio": ("audio_start_token_id", "boa_token_id"),
}
_ENDS = {
    "image": ("vision_end_token_id", "image_end_token_id", "eoi_token_id"),
    "video": ("vision_end_token_id", "video_end_token_id"),
    "audio": ("audio_end_token_id", "eoa_token_id"),
}
# Tokens that one class of a type counts: their name and how many it wants.
_COUNTED = {"longformer": ("sep_token_id", 3), "splinter": ("question_token_id", 1)}
_KINDS = {"image": 1, "video": 2, "audio": 3}  # in mm_token_type_ids


def texts(
    config: Any, names: set[str], required: set[str], media: Sequence[Media]
) -> dict[str, Any]:
    """The arguments that hold tokens, with room for the media.

    Shapes:
        input_ids: int64[1, 64 + placeholders]; decoder_input_ids: int64[1, 32].
    """
    found: dict[str, Any] = {}
    if "input_ids" in names:
        ids, kinds = _with_places(config, media)
        if getattr(config, "is_encoder_decoder", False):
            _end(config, ids)
        found["input_ids"] = ids
        if "mm_token_type_ids" in names:
            found["mm_token_type_ids"] = kinds
        if "moe_mm_token_type_ids" in names:
            found["moe_mm_token_type_ids"] = _seen(kinds)
        if "global_attention_mask" in names:  # the first token sees all, as in classification
            found["global_attention_mask"] = (torch.arange(ids.shape[1]) == 0).long()[None]
        if "bbox" in names:
            found["bbox"] = boxes(ids.shape[1])
        for name in ("attention_mask", "token_type_ids"):
            if name in required:
                found[name] = torch.full_like(ids, int(name == "attention_mask"))
    if "protein_input_ids" in names:
        found["protein_input_ids"] = ids_of(config, _TOKENS, ("protein_encoder_config",))
        found["protein_attention_mask"] = torch.ones_like(found["protein_input_ids"])
    if "decoder_input_ids" in names:
        found["decoder_input_ids"] = ids_of(config, _DECODED, ("decoder", *TEXT))
    return found


def ids_of(config: Any, length: int, within: Sequence[str] = TEXT) -> Tensor:
    """Ordinary token ids int64[1, length], no two neighbours the same."""
    vocabulary = number(config, _VOCABULARIES, 1000, within)
    taken = special_tokens(config)
    ordinary = [item for item in range(min(vocabulary, 512)) if item not in taken] or [0]
    return torch.tensor([[ordinary[(7 * place + 3) % len(ordinary)] for place in range(length)]])


def boxes(length: int) -> Tensor:
    """A box (left, top, right, bottom) in thousandths of the page for each token."""
    left = torch.arange(length) * 7 % 500
    return torch.stack([left, left + 10, left + 100, left + 50], dim=-1)[None]


def _seen(kinds: Tensor) -> Tensor:
    """Which tokens go to the experts of pictures: the places and their ends; else one in two.

    An embedding in the place of a token may come from a picture even where the model takes none.
    """
    seen = kinds.bool()
    if not seen.any():
        return torch.arange(kinds.shape[1])[None] % 2
    ends = seen.roll(1, dims=-1) | seen.roll(-1, dims=-1)
    return (seen | ends).long()


def _end(config: Any, ids: Tensor) -> None:
    """A last token that ends the sequence: BART's classifier reads its state."""
    end = find(config, ("eos_token_id",))
    if isinstance(end, int):
        ids[0, -1] = end


def _with_places(config: Any, media: Sequence[Media]) -> tuple[Tensor, Tensor]:
    longest = number(config, ("max_position_embeddings",), _TOKENS, TEXT)
    ids = ids_of(config, min(longest, _TOKENS) if longest >= 16 else _TOKENS)[0].tolist()
    name, count = _COUNTED.get(config.model_type, ("", 0))
    ids[1 : 1 + count] = [getattr(config, name)] * count if count else []
    kinds = [0] * len(ids)
    for item in media:
        place = find(config, PLACEHOLDERS[item.kind])
        if place is None or not item.tokens:
            continue
        start = find(config, _STARTS[item.kind])
        end = find(config, _ENDS[item.kind])
        before, behind = ([token] if isinstance(token, int) else [] for token in (start, end))
        ids[4:4] = [*before, *[place] * item.tokens, *behind]
        kinds[4:4] = [0] * len(before) + [_KINDS[item.kind]] * item.tokens + [0] * len(behind)
    return torch.tensor([ids]), torch.tensor([kinds])
