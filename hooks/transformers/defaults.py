"""Default configurations, completed so that the models of a type can be constructed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from .._shared.tables import table

# The field of the vision configuration that is the width of the projected image.
_PROJECTED = {"janus": "projection_dim", "qwen2_vl": "hidden_size"}
# Parts that are annotated with the whole's configuration and read an inner one.
_PARTS = {"UVDocBridge": "backbone_config"}


def default_config(model_type: str, owner: type) -> Any:
    """The configuration with which a class of a model type can be constructed.

    Example:
        ```python
        default_config("bert", BertModel).hidden_size  # 768
        ```

    Args:
        model_type: Such as `bert`.
        owner: The class; the text model of a composite type takes the inner configuration.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from .sizes import holders

    of_class = table(__package__, "completions.toml")["by_class"].get(owner.__name__, {})
    config = CONFIG_MAPPING[model_type](**{**completion(model_type), **deepcopy(of_class)})
    _agree_on_width(config)
    name_places(config)
    if owner.__name__ in _PARTS:
        return getattr(config, _PARTS[owner.__name__])
    wanted = getattr(owner, "config_class", None)
    if not isinstance(wanted, type):
        return config
    for holder in holders(config):
        if isinstance(holder, wanted):
            return holder
    return _around(wanted, config)


def _around(wanted: Any, config: Any) -> Any:
    """The configuration of a head that any language model may wear, around one's own."""
    parts = getattr(wanted, "sub_configs", {})
    if "text_config" not in parts:
        return config
    text = getattr(config, "text_config", None) or config
    towers = {name: getattr(config, name) for name in parts if getattr(config, name, None)}
    return wanted(**{**towers, "text_config": text, "hidden_size": text.hidden_size})


def completion(model_type: str) -> dict[str, Any]:
    """The fields that every real checkpoint of a type sets and no default does."""
    fields: dict[str, Any] = table(__package__, "completions.toml")["by_type"].get(model_type, {})
    return deepcopy(fields)  # a configuration may keep what it is given, and change it


def name_places(config: Any) -> None:
    """Choose tokens for the media where they come with the tokenizer: the default names none."""
    for token, kind in enumerate(("image", "video", "audio"), 1000):
        name = f"{kind}_token_id"
        if getattr(config, name, 0) is None:
            setattr(config, name, token)


def _agree_on_width(config: Any) -> None:
    """Project images and sounds to the width of the text, where the defaults were chosen apart."""
    text = getattr(config, "text_config", None)
    vision, sound = getattr(config, "vision_config", None), getattr(config, "audio_config", None)
    projected = _PROJECTED.get(config.model_type, "out_hidden_size")
    for tower, field in ((vision, projected), (sound, "output_dim")):
        if text is not None and hasattr(tower, field):
            setattr(tower, field, text.hidden_size)
