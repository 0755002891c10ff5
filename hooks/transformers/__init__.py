"""transformers: language, vision, audio and multimodal models, by model type and class.

https://github.com/huggingface/transformers
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import lookup
from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

    from .checkpoints import Checkpoint

_INSTALL = "pip install nar-plugin[transformers]"
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "transformers"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The model type and class, and the Hub id that the configuration was loaded from."""
    if not _is_ours(model):
        return None
    from .unlisted import named_type

    config: Any = model.config
    source = str(getattr(config, "_name_or_path", "") or "")
    hub_id = source if _HUB_ID.fullmatch(source) else None
    for owner in type(model).__mro__:
        if str(owner.__module__).startswith("transformers.models."):
            kind = named_type(str(config.model_type), owner)
            return Provenance(f"transformers:{kind}/{owner.__name__}", "transformers", hub_id)
    return Provenance(f"hub:{hub_id}", "transformers", hub_id) if hub_id else None


@hookimpl
def nar_example_inputs(model: nn.Module) -> Iterator[ExampleInputs] | None:
    """What the forward's signature and the configuration ask for."""
    if not _is_ours(model):
        return None
    from .inputs.guesses import guesses

    found: Iterator[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_mended_inputs(
    model: nn.Module, inputs: ExampleInputs, message: str
) -> Iterator[ExampleInputs] | None:
    """What the message of a refusal says about the results that were asked for."""
    if not _is_ours(model):
        return None
    from .mending import mended

    found: Iterator[ExampleInputs] = mended(model, inputs, message)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """The auto classes' (model type, class) pairs, the unlisted models, the Hub's checkpoints."""
    try:
        import transformers
    except ImportError:
        return
    from transformers.models.auto.configuration_auto import (
        CONFIG_MAPPING,
        model_type_to_module_name,
    )

    from .catalogue import family, pairs
    from .checkpoints import checkpoints
    from .unlisted import unlisted

    for pair in (*pairs(), *unlisted()):
        page = model_type_to_module_name(pair.model_type)
        yield NamedArchitecture(
            name=f"transformers:{pair.name}",
            library="transformers",
            family=family(pair.model_type),
            task=pair.task,
            licence="Apache-2.0",
            url=f"https://huggingface.co/docs/transformers/model_doc/{page}",
        )
    present = set(dir(transformers))
    for row in checkpoints().values():
        if row.model_type in CONFIG_MAPPING and row.class_name in present:
            yield NamedArchitecture(
                name=f"transformers:{row.name}",
                library="transformers",
                family=family(row.model_type),
                task=row.task,
                licence="Apache-2.0",
                url=f"https://huggingface.co/{row.hub_id}",
                hub_id=row.hub_id,
                build=f"transformers.{row.class_name}.from_pretrained('{row.hub_id}')",
            )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `transformers:bert` or `transformers:bert/BertForMaskedLM` from the default config.

    `transformers:BertForMaskedLM`, the class alone, is that of its own model type, and
    `transformers:bert@google-bert/bert-base-uncased` a checkpoint of the tables, with its class.
    """
    wanted = lookup.architecture(name, "transformers")
    if wanted is None:
        return None
    import torch

    try:
        import transformers
    except ImportError as error:
        raise lookup.missing(name, "transformers", _INSTALL) from error
    from .checkpoints import configuration
    from .defaults import default_config
    from .settings import restore_settings

    row = _checkpoint(wanted)
    model_type, class_name = (row.model_type, row.class_name) if row else _type_and_class(wanted)
    try:
        owner = getattr(transformers, class_name)
        config = configuration(row) if row else default_config(model_type, owner)
        model: nn.Module = owner(config)
        # A few parameters are made with `torch.Tensor(...)`, which heeds no default device.
        model.to(torch.get_default_device())
        restore_settings(model)
    except Exception as error:
        raise PluginError(
            f"transformers cannot build {name} from its {'known' if row else 'default'} "
            f"configuration: {str(error).strip()[:300]}\n"
            "Give a complete one: `nar find ./config.json`."
        ) from error
    return model


def _is_ours(model: nn.Module) -> bool:
    """Whether this is a PreTrainedModel; transformers is not imported to find out."""
    modeling = sys.modules.get("transformers.modeling_utils")
    return modeling is not None and isinstance(model, modeling.PreTrainedModel)


def _checkpoint(wanted: str) -> Checkpoint | None:
    """The row of the tables that a reference with an `@` names, or None for one without.

    Raises:
        PluginError: The tables have no such checkpoint.
    """
    if "@" not in wanted:
        return None
    from .checkpoints import checkpoints

    rows: Mapping[str, Checkpoint] = checkpoints()
    if wanted not in rows:
        raise lookup.unknown(f"transformers:{wanted}", "transformers", rows)
    return rows[wanted]


def _type_and_class(wanted: str) -> tuple[str, str]:
    """The model type and the class that `bert`, `bert/BertForMaskedLM` or `BertForMaskedLM` names.

    Raises:
        PluginError: transformers has no such type, or no such class for it.
    """
    from .catalogue import pairs

    model_type, slash, class_name = wanted.partition("/")
    known = [pair for pair in pairs() if pair.model_type == model_type]
    if slash:
        if class_name in {pair.class_name for pair in known} or _owns(model_type, class_name):
            return model_type, class_name
    else:
        for pair in known:
            if pair.base:
                return model_type, pair.class_name
        if own := _type_of(wanted):
            return own, wanted
    near = [pair.name for pair in known or pairs()]
    raise lookup.unknown(f"transformers:{wanted}", "transformers", near)


def _type_of(class_name: str) -> str | None:
    """The model type of a class's configuration, or None where there is no such class."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    owner = getattr(transformers, class_name) if class_name in dir(transformers) else None
    model_type = getattr(getattr(owner, "config_class", None), "model_type", None)
    return model_type if model_type in CONFIG_MAPPING else None


def _owns(model_type: str, class_name: str) -> bool:
    """Whether a class that the auto classes do not list is defined for this model type."""
    import transformers
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    if class_name not in dir(transformers):
        return False
    owner = getattr(transformers, class_name)
    module = f"transformers.models.{model_type_to_module_name(model_type)}."
    return (
        isinstance(owner, type)
        and issubclass(owner, transformers.PreTrainedModel)
        and str(owner.__module__).startswith(module)
    )
