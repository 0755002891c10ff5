"""A model from its configuration alone: an object, a file, or a snapshot of the Hub.

Only `config.json` is read, never a weight, and never code that comes with it. A config is data:
`config_values.py` leaves out what would load, fetch or execute, and the model is built behind the
wall of `guard.py`.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.references.config_file import CONFIG, config_file, read_object
from nar_plugin.references.config_values import data_alone
from nar_plugin.references.construction import built
from nar_plugin.references.guard import DataOnly
from nar_plugin.references.installation import want
from nar_plugin.references.model_class import make, model_class
from nar_plugin.remote.cache import MAIN, Place

if TYPE_CHECKING:
    from torch import nn

Result = TypeVar("Result")
_REVISION = re.compile(r"\w(?!.*\.\.)[\w./+-]*")
_NEEDS_CODE = (
    "needs Python code that comes with it, which nar-plugin never runs: load the model yourself "
    "and call find_similar(model)"
)


def is_config(candidate: object) -> bool:
    """Whether this is a transformers config; imports nothing to find out."""
    transformers = sys.modules.get("transformers")
    return transformers is not None and issubclass(type(candidate), transformers.PreTrainedConfig)


def from_config(config: Any) -> nn.Module:
    """The model that a transformers config describes.

    Example:
        ```python
        from_config(transformers.BertConfig(num_hidden_layers=2))
        ```

    Args:
        config: A `transformers.PreTrainedConfig`. The first of its `architectures` is built when
            transformers has that class, else the base model of its type. It is left unchanged.

    Raises:
        NarError: When transformers cannot build it; the text is the library's own.
    """
    want("transformers", for_what="a config")
    return _from_config(config, where=f"this {type(config).__name__}")


def from_file(path: Path) -> nn.Module:
    """The model of a `config.json`, or of the folder that holds one.

    Raises:
        NarError: When there is no such file, it is no config of transformers or timm, or it needs
            code that transformers does not have.
    """
    file = config_file(path)
    content = read_object(file)
    needs_code = "auto_map" in content
    content = data_alone(content, str(file))
    if "model_type" not in content and "architecture" in content:
        return _from_timm(content, str(file))
    want("transformers", for_what=str(path))
    import transformers

    kind = content.pop("model_type", None)
    if not isinstance(kind, str):
        raise NarError(f"{file} is not a config that transformers knows: it has no model_type")
    if (
        kind == "mistral"
        and "layer_types" in content
        and "ministral" in transformers.CONFIG_MAPPING
    ):
        kind = "ministral"  # as transformers.AutoConfig reads such a file
    if needs_code and kind not in transformers.CONFIG_MAPPING:
        raise NarError(f"{path} {_NEEDS_CODE}")

    def read() -> Any:
        return transformers.CONFIG_MAPPING[kind].from_dict(content, name_or_path=str(file))

    failure = f"{file} is not a config that transformers knows"
    if kind not in transformers.CONFIG_MAPPING:
        raise NarError(
            f"{failure}: it has no model type {kind[:80]!r}; a newer version may have it"
        )
    config = _from_data(read, str(file), failure)
    return _from_config(config, where=str(file))


def from_hub(name: str) -> nn.Module:
    """The model of `owner/name` or `owner/name@revision`.

    A cached snapshot answers without the network. Give a revision to pin a commit.

    Raises:
        NarError: When the config can neither be found in the cache nor downloaded.
    """
    repo, at, revision = name.partition("@")
    if at and not _REVISION.fullmatch(revision):
        raise NarError(f"hub:{name} names no revision after its @: give a branch, tag or commit")
    place, revision = Place(repo, kind="model"), revision or MAIN
    try:
        file = place.cached(CONFIG, revision) or place.small(CONFIG, revision)
    except IndexUnavailable as error:
        raise NarError(
            f"hub:{name} could not be read, neither from the cache of the Hugging Face Hub nor "
            f"from the network (HF_HUB_OFFLINE=1 asks the cache alone): {error}"
        ) from error
    return from_file(file)


def _from_config(config: Any, where: str) -> nn.Module:
    def copied() -> Any:
        return data_alone(copy.deepcopy(config), where)

    failure = f"transformers could not build a model from {where}"
    own = _from_data(copied, where, failure)
    owner = _from_data(lambda: model_class(own), where, failure)
    if owner is None:
        raise NarError(
            f"transformers has no model of the type of {where}, {type(config).__name__}. If it "
            f"{_NEEDS_CODE}"
        )
    failure = f"transformers could not build {owner.__name__} from {where}"
    model: nn.Module = _from_data(lambda: built(lambda: make(owner, own)), where, failure)
    return model


def _from_timm(content: dict[str, Any], where: str) -> nn.Module:
    """What timm reads from such a file, without what it says of weights."""
    want("timm", for_what=where)
    import timm
    from timm.models._hub import _parse_model_cfg  # what `local-dir:` reads a config.json with

    def read_and_build() -> Any:
        described, name, arguments = _parse_model_cfg(content, {})
        described = data_alone({"pretrained_cfg": described}, where)["pretrained_cfg"]
        return built(lambda: timm.create_model(name, pretrained_cfg=described, **arguments or {}))

    model: nn.Module = _from_data(
        read_and_build, where, f"timm could not build the model of {where}"
    )
    return model


def _from_data(make: Callable[[], Result], what: str, failure: str) -> Result:
    """What `make` returns behind the wall.

    Raises:
        NarError: It failed, or tried what a description may not.
    """
    try:
        with DataOnly(what):
            return make()
    except NarError:
        raise
    except (Exception, SystemExit) as error:
        problem = str(error).strip() or type(error).__name__
        raise NarError(f"{failure}: {problem}") from error
