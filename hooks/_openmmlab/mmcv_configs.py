"""The OpenMMLab libraries of before mmengine: mmcv 1 builds the configs that their wheels hold."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry

from .configs import model_of

if TYPE_CHECKING:
    from torch import nn

_LEFT_OUT = ("init_cfg", "pretrained")  # name a checkpoint


class Configs(Mapping[str, Entry]):
    """The published configs of a library by name; each is read when it is asked for.

    Args:
        package: Import name of the library.
        part: The part of the model whose type is the family, such as `backbone`.
        task: Of all of them.
        design: Of a model part, the registered type that says most of its design, where that is
            not the type of `part`.
    """

    def __init__(
        self,
        package: str,
        part: str,
        task: str,
        design: Callable[[dict[str, Any]], str | None] = lambda model: None,
    ) -> None:
        self._package, self._part, self._task, self._design = package, part, task, design
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            raise ModuleNotFoundError(f"No module named {package!r}")
        self._folder = Path(found.origin).parent / ".mim" / "configs"

    @cached_property
    def _paths(self) -> dict[str, Path]:
        paths = (path for path in sorted(self._folder.rglob("*.py")) if "_base_" not in path.parts)
        return {path.stem: path for path in paths if model_of(path).get("type")}

    @cached_property
    def _registry(self) -> Any:
        return _imported(self._package).builder.MODELS

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, name: str) -> Entry:
        model = model_of(self._paths[name])
        part = model.get(self._part) or model
        kind = self._design(model) or str(part.get("type", model["type"]))
        family = str(self._registry.get(kind).__module__).rpartition(".")[2]
        build = partial(_built, self._package, self._paths[name])
        return Entry(build, family, self._task)


def _imported(package: str) -> Any:
    """The module of a library's models, with stand-ins for what mmcv compiles."""
    import torch

    from . import operators

    with operators.at_hand(), torch.device("cpu"):
        return importlib.import_module(f"{package}.models")


def _built(package: str, path: Path) -> nn.Module:
    import torch

    registry = _imported(package).builder.MODELS
    mmcv: Any = importlib.import_module("mmcv")
    with torch.device("cpu"):
        config = mmcv.Config.fromfile(str(path))
    _without_weights(config.model)
    model: Any = mmcv.cnn.utils.revert_sync_batchnorm(registry.build(config.model))
    model.cfg = config  # as each library's `init_model` does
    built: nn.Module = model
    return built


def _without_weights(part: Any) -> None:
    if isinstance(part, dict):
        for key in _LEFT_OUT:
            part.pop(key, None)
    for item in part.values() if isinstance(part, dict) else part:
        if isinstance(item, dict | list | tuple):
            _without_weights(item)
