"""The public models of transformers that no auto class lists, such as towers and vocoders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from .catalogue import OTHER_TASK, Pair, pairs

_PURPOSE = re.compile(r"For[A-Z]\w*$")  # BertForMaskedLM: ForMaskedLM
_TASKS = {  # of purposes that no listed class has
    "ForImageSegmentation": "image-segmentation",
    "ForPrediction": "time-series-forecasting",
    "ForSpeechToSpeech": "audio-to-audio",
}


@cache
def unlisted() -> tuple[Pair, ...]:
    """Every public PreTrainedModel that has a forward and is not among `pairs()`.

    Left out are the abstract bases (`BertPreTrainedModel`), which have none, and old names of
    another class, which `nar_build` still knows. Finding them imports some 130 modules, 6 s.
    """
    from torch.nn import Module

    listed = pairs()
    tasks = _TASKS | _task_by_purpose(listed)
    found = []
    for owner in _public_models({pair.class_name for pair in listed}):
        name = owner.__name__
        if owner.forward is Module.forward or _is_old_name(owner):
            continue
        purpose = _PURPOSE.search(name)
        task = tasks.get(purpose[0], OTHER_TASK) if purpose else OTHER_TASK
        found.append(Pair(named_type(_own_type(owner), owner), name, task, base=False))
    return tuple(sorted(found))


def named_type(own: str, owner: type) -> str:
    """The model type to name a class with: its configuration's, else one of its package.

    Example:
        ```python
        named_type("clip_text_model", CLIPTextModelWithProjection)  # 'clip_text_model'
        named_type("fine_acoustics", BarkFineModel)  # 'bark': no auto class knows the other
        ```
    """
    from transformers.models.auto.configuration_auto import (
        CONFIG_MAPPING,
        model_type_to_module_name,
    )

    if own in CONFIG_MAPPING:
        return own
    package = str(owner.__module__).split(".")[2]
    types = (kind for kind in CONFIG_MAPPING if model_type_to_module_name(kind) == package)
    return next(types, package)


def _public_models(listed: set[str]) -> Iterator[Any]:
    import transformers

    # What the lazy package exports, with the module of each name.
    for name, module in sorted(vars(transformers)["_class_to_module"].items()):
        if ".modeling_" in module and name not in listed and not name.endswith("PreTrainedModel"):
            owner = getattr(transformers, name)
            if isinstance(owner, type) and issubclass(owner, transformers.PreTrainedModel):
                yield owner


def _own_type(owner: Any) -> str:
    return str(getattr(owner.config_class, "model_type", ""))


def _is_old_name(owner: type) -> bool:
    """Whether all that the class does is to warn that another one has taken its place."""
    start = vars(owner).get("__init__")
    texts = start.__code__.co_consts if start is not None else ()
    return any(f"`{owner.__name__}` is deprecated" in text for text in texts if type(text) is str)


def _task_by_purpose(listed: Iterable[Pair]) -> dict[str, str]:
    """The commonest task of the listed classes whose names end alike."""
    counts: dict[str, Counter[str]] = {}
    for pair in listed:
        purpose = _PURPOSE.search(pair.class_name)
        if purpose:
            counts.setdefault(purpose[0], Counter())[pair.task] += 1
    return {purpose: count.most_common(1)[0][0] for purpose, count in counts.items()}
