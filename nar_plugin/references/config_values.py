"""Takes out of a config whatever would load, fetch or execute something.

A config says how many layers of which kind there are. Some of its keys say something else: where
weights lie, whose code to run, which compiled kernels to download. Those keys are left out, at any
depth, before a library sees the config. A name that asks a library for somebody's repository is
refused, for there is no architecture without it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from nar_plugin.errors import NarError

DEEPEST = 100  # levels of nesting; the deepest config of transformers has four
_LEFT_OUT = frozenset(
    (
        # code that comes with the config
        *("auto_map", "custom_generate", "custom_pipelines", "code_revision", "trust_remote_code"),
        # compiled code of the Hub, by the names of transformers and kernels
        *("allow_all_kernels", "kernel_config", "use_kernels"),
        # weights, and other files to read in the place of this one
        *("cache_dir", "checkpoint_path", "configuration_files", "gguf_file", "pretrained"),
        *("pretrained_backbone", "pretrained_cfg_overlay", "pretrained_model_name_or_path"),
        *("quantization_config", "state_dict", "use_pretrained_backbone", "weights_path"),
        # who asks the Hub, and where
        *("_commit_hash", "proxies", "token", "use_auth_token"),
    )
)
_OF_WEIGHTS = frozenset(  # keys of timm's `pretrained_cfg`
    ("custom_load", "file", "hf_hub_filename", "hf_hub_id", "source", "state_dict", "url")
)
_IMPLEMENTATION = re.compile(r"_?(attn|experts)_implementation(_internal)?")
# Of torch alone. All others are compiled code, some of it downloaded when it is asked for.
_IMPLEMENTATIONS = frozenset(("eager", "sdpa", "flex_attention", "grouped_mm", "batched_mm"))


def data_alone(value: Any, where: str, depth: int = 0) -> Any:
    """A copy of a config, or of a part of one, that can be given to a library.

    Example:
        ```python
        data_alone({"model_args": {"checkpoint_path": "x.bin", "depth": 3}}, "config.json")
        # {"model_args": {"depth": 3}}
        ```

    Args:
        value: What a JSON file holds, or a value of a config. A `transformers.PreTrainedConfig` in
            it is changed itself, so give a copy.
        where: Names the config in an error's text.
        depth: Levels of nesting above it.

    Raises:
        NarError: It names somebody's repository as its architecture, or is nested too deeply.
    """
    if depth > DEEPEST:
        raise NarError(f"{where} is nested deeper than {DEEPEST} levels, which no config is")
    if isinstance(value, Mapping) and not _is_config(value):
        return _with_backbone(_harmless(value, where, depth))
    if type(value) in (list, tuple):
        return type(value)(data_alone(item, where, depth + 1) for item in value)
    if _is_config(value):
        # The attributes themselves: to set one asks the class, which may convert or refuse it.
        kept = _harmless(vars(value), where, depth)
        vars(value).clear()
        vars(value).update(kept)
    return value


def _is_config(value: Any) -> bool:
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(value, transformers.PreTrainedConfig)


def _harmless(items: Mapping[Any, Any], where: str, depth: int) -> dict[Any, Any]:
    kept = {key: value for key, value in items.items() if key not in _LEFT_OUT}
    for key, value in kept.items():
        if key == "pretrained_cfg" and isinstance(value, Mapping):
            value = {name: item for name, item in value.items() if name not in _OF_WEIGHTS}
        if isinstance(key, str) and _IMPLEMENTATION.fullmatch(key):
            value = _of_torch(value)
        kept[key] = data_alone(value, where, depth + 1)
    _refuse_repositories(kept, where)
    return kept


def _of_torch(value: Any) -> Any:
    """The implementation, or None for the library's choice; one for each part is a dict."""
    if isinstance(value, Mapping):
        return {part: _of_torch(item) for part, item in value.items()}
    return value if value in (*_IMPLEMENTATIONS, None) else None


def _refuse_repositories(items: Mapping[Any, Any], where: str) -> None:
    """`hf-hub:owner/name` and `local-dir:folder` are timm's; the name of a repository is both's."""
    for key, parts in (("architecture", ":"), ("backbone", ":/")):
        name = items.get(key)
        if key == "backbone" and items.get("backbone_config"):
            continue
        if isinstance(name, str) and any(part in name for part in parts):
            raise NarError(
                f"{where} names {name!r} as its {key}, which is a repository or a folder and not "
                "an architecture: give the config.json of that model itself, or build the model "
                "and call find_similar(model)"
            )


def _with_backbone(items: dict[Any, Any]) -> dict[Any, Any]:
    """Write a timm backbone with arguments as transformers does today.

    In the older form, transformers asks the Hub whether there is a repository of that name.
    """
    arguments = items.get("backbone_kwargs")
    name = items.get("backbone")
    if isinstance(name, str) and isinstance(arguments, dict) and arguments:
        if not items.get("backbone_config"):
            new = {**items, "backbone_config": {"model_type": "timm_backbone", "backbone": name}}
            new["backbone_config"] |= arguments
            del new["backbone"], new["backbone_kwargs"]
            return new
    return items
