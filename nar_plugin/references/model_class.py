"""Which of transformers' own classes a config describes; nobody else's code is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn


def model_class(config: Any) -> Any:
    """The class that the config names first, else `AutoModel`, else what is left; or None.

    `AutoModel` has no model of some types, such as the text tower of BLIP. Those are answered by
    another auto class, or by what transformers defines beside the config's own class.
    """
    import transformers
    from transformers.models.auto import modeling_auto

    named = _named(config)
    if named is not None:
        return named
    if type(config) in modeling_auto.MODEL_MAPPING:
        return transformers.AutoModel
    return next((found for found in _candidates(config) if _takes(found, config)), None)


def make(owner: Any, config: Any) -> nn.Module:
    """Build the model; transformers is told never to run code that comes with a config."""
    import transformers

    automatic = owner is transformers.AutoModel
    build = partial(owner.from_config, trust_remote_code=False) if automatic else owner._from_config
    model: nn.Module = build(config)
    return model


def _named(config: Any) -> Any:
    """The class that the config itself names, if transformers has it and it takes the config."""
    import transformers

    names = getattr(config, "architectures", None)
    name = names[0] if isinstance(names, list | tuple) and names else None
    found = getattr(transformers, name, None) if isinstance(name, str) else None
    return found if _takes(found, config) else None


def _takes(candidate: Any, config: Any) -> bool:
    import transformers

    if not (isinstance(candidate, type) and issubclass(candidate, transformers.PreTrainedModel)):
        return False
    return isinstance(config, getattr(candidate, "config_class", None) or ())


def _candidates(config: Any) -> Iterator[Any]:
    from transformers.models.auto import modeling_auto

    kind = type(modeling_auto.MODEL_MAPPING)
    for mapping in vars(modeling_auto).values():
        if isinstance(mapping, kind) and type(config) in mapping:
            found = mapping[type(config)]
            yield from _preferred(config, found) if isinstance(found, list | tuple) else (found,)
    yield from _beside(type(config))


def _preferred(config: Any, classes: Any) -> Any:
    """Several classes for one type, those first that the config names."""
    named = getattr(config, "architectures", None) or ()
    return sorted(classes, key=lambda owner: owner.__name__ not in named)


def _beside(config_class: type) -> list[Any]:
    """The models of that config in the module beside its own, the plainest name first."""
    from torch.nn import Module

    package, _, module = config_class.__module__.rpartition(".")
    if not (package.startswith("transformers.models.") and module.startswith("configuration_")):
        return []
    beside = import_module(f"{package}.{module.replace('configuration_', 'modeling_', 1)}")
    stem = config_class.__name__.removesuffix("Config")
    models: list[Any] = [
        item
        for item in vars(beside).values()
        if isinstance(item, type)
        and getattr(item, "config_class", None) is config_class
        and getattr(item, "forward", Module.forward) is not Module.forward
    ]
    plain = (f"{stem}Model", stem)
    return sorted(models, key=lambda owner: (owner.__name__ not in plain, len(owner.__name__)))
