"""Default configurations, with the fields that every real checkpoint sets and none defaults."""

from __future__ import annotations

from typing import Any

# By model type: what the default lacks. Values are those of the first published checkpoint.
_COMPLETED: dict[str, dict[str, Any]] = {}
# By class, where only that class needs more.
_COMPLETED_FOR_CLASS: dict[str, dict[str, Any]] = {}


def default_config(model_type: str, class_name: str) -> Any:
    """The configuration with which a class of a model type can be constructed.

    Example:
        ```python
        default_config("bert", "BertModel").hidden_size  # 768
        ```
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    fields = {**_COMPLETED.get(model_type, {}), **_COMPLETED_FOR_CLASS.get(class_name, {})}
    return CONFIG_MAPPING[model_type](**fields)
