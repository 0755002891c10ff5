"""A model from its configuration alone: an object, a file, or a snapshot of the Hub.

Only `config.json` is read, never a weight, and never code that comes with it.
"""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nar_plugin.errors import NarError
from nar_plugin.references.construction import built
from nar_plugin.references.installation import want

if TYPE_CHECKING:
    from torch import nn

CONFIG = "config.json"
_WEIGHTS = (
    "it holds weights, and not what is done with them: build the model and call find_similar(model)"
)
_KINDS = {  # of files that are taken for a model
    ".py": "write the module, a colon and what makes the model: my_module:MyModel",
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt", ".safetensors"), _WEIGHTS),
}
FILES = frozenset((*_KINDS, ".json"))  # endings of what is a path and no name


def is_config(candidate: object) -> bool:
    """Whether this is a transformers config; imports nothing to find out."""
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(candidate, transformers.PreTrainedConfig)


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
    import transformers

    own = copy.deepcopy(config)
    model_class = _named_class(own)
    try:
        make = (
            transformers.AutoModel.from_config if model_class is None else model_class._from_config
        )
        model: nn.Module = built(lambda: make(own))
    except Exception as error:
        name = getattr(model_class, "__name__", "AutoModel")
        raise NarError(
            f"transformers could not build {name} from this {type(config).__name__}: {error}"
        ) from error
    return model


def from_file(path: Path) -> nn.Module:
    """The model of a `config.json`, or of the folder that holds one.

    Raises:
        NarError: When there is no such file, it is no config of transformers or timm, or it needs
            code that transformers does not have.
    """
    path = path.absolute()
    file = path / CONFIG if path.is_dir() else path
    content = _content(file)
    if "model_type" not in content and "architecture" in content:
        return _from_timm_file(file)
    want("transformers", for_what=str(path))
    import transformers

    if "auto_map" in content and content.get("model_type") not in transformers.CONFIG_MAPPING:
        raise NarError(
            f"{path} needs Python code that comes with it, which nar-plugin never runs: load the "
            "model yourself and call find_similar(model)"
        )
    try:
        config = transformers.AutoConfig.from_pretrained(str(file), trust_remote_code=False)
    except Exception as error:
        raise NarError(f"{file} is not a config that transformers knows: {error}") from error
    return from_config(config)


def from_hub(name: str) -> nn.Module:
    """The model of `owner/name` or `owner/name@revision`.

    A cached snapshot answers without the network. Give a revision to pin a commit.

    Raises:
        NarError: When the config can neither be found in the cache nor downloaded.
    """
    want("huggingface_hub", for_what=f"hub:{name}")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    repo, _, revision = name.partition("@")
    try:
        try:
            file = hf_hub_download(repo, CONFIG, revision=revision or None, local_files_only=True)
        except LocalEntryNotFoundError:
            file = hf_hub_download(repo, CONFIG, revision=revision or None)
    except (OSError, ValueError) as error:
        raise NarError(
            f"hub:{name} could not be read, neither from the cache of the Hugging Face Hub nor "
            f"from the network (HF_HUB_OFFLINE=1 asks the cache alone): {error}"
        ) from error
    return from_file(Path(file))


def _named_class(config: Any) -> Any:
    """The model class that the config itself names, if transformers has it and it takes it."""
    import transformers

    name = next(iter(config.architectures or ()), "")
    model_class = getattr(transformers, name, None)
    if not isinstance(model_class, type):
        return None
    if not issubclass(model_class, transformers.PreTrainedModel):
        return None
    return model_class if isinstance(config, model_class.config_class or ()) else None


def _content(file: Path) -> dict[str, Any]:
    if hint := _KINDS.get(file.suffix):
        raise NarError(f"{file} is no {CONFIG}: {hint}")
    if not file.is_file():
        raise NarError(f"{file} does not exist: give a folder with a {CONFIG}, or such a file")
    try:
        content = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise NarError(f"{file} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise NarError(f"{file} is not a config: it holds no object")
    return content


def _from_timm_file(file: Path) -> nn.Module:
    want("timm", for_what=str(file))
    import timm

    try:
        model: nn.Module = built(
            lambda: timm.create_model(f"local-dir:{file.parent}", pretrained=False)
        )
    except Exception as error:
        raise NarError(f"timm could not build the model of {file}: {error}") from error
    return model
