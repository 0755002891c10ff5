"""Looks up sizes in a configuration and in the configurations inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

TEXT = ("text_config", "llm_config", "language_config", "thinker_config", "decoder", "text_encoder")
VISION = ("vision_config", "visual_config", "vit_config", "vision_encoder_config", "image_config")
BACKBONE = ("backbone_config", "encoder")
SEEING = (*VISION, *BACKBONE)
SOUND = ("audio_config", "audio_encoder_config", "speech_config", "encoder_config", "encoder")


def find(config: Any, names: Sequence[str], within: Sequence[str] = ()) -> Any:
    """The first value under one of `names` that is not None, or None.

    Example:
        ```python
        find(clip_config, ["image_size"], within=VISION)  # 224, from clip_config.vision_config
        ```

    Args:
        config: A configuration of transformers.
        names: Attributes, best first.
        within: Names of the inner configurations to ask before the outer one; the others are
            asked after it.
    """
    for holder in holders(config, within):
        for name in names:
            value = getattr(holder, name, None)
            if value is not None:
                return value
    return None


def number(config: Any, names: Sequence[str], default: int, within: Sequence[str] = ()) -> int:
    """As `find`, but only integers, the first of a pair, and `default` for None."""
    for holder in holders(config, within):
        for name in names:
            value = getattr(holder, name, None)
            if isinstance(value, list | tuple) and value:
                value = value[0]
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return default


def channels_of(config: Any) -> int:
    """Of an image, as the configuration counts them; else 3."""
    return number(config, ("num_channels", "in_channels", "in_chans", "image_channels"), 3, SEEING)


def holders(config: Any, within: Sequence[str] = ()) -> Iterator[Any]:
    """The inner configurations named in `within`, the configuration itself, then the others."""
    inner = list(_inner(config))
    chosen = [item for wanted in within for name, item in inner if name == wanted]
    yield from chosen
    yield config
    yield from (item for _, item in inner if not any(item is other for other in chosen))


def special_tokens(config: Any) -> set[int]:
    """Ids with a meaning of their own, such as padding or the place of an image."""
    found: set[int] = set()
    for holder in holders(config):
        for name, value in vars(holder).items():
            if name.endswith(("_token_id", "_token_index", "_id")):
                items = value if isinstance(value, list | tuple) else [value]
                found.update(item for item in items if isinstance(item, int))
    return found


def _inner(config: Any) -> Iterator[tuple[str, Any]]:
    """Every configuration inside this one with its attribute's name, the outermost first."""
    from transformers import PreTrainedConfig

    waiting = [config]
    while waiting:
        for name, value in vars(waiting.pop(0)).items():
            if isinstance(value, PreTrainedConfig) and not name.startswith("_"):
                yield name.strip("_"), value
                waiting.append(value)
