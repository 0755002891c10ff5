"""What the OpenMMLab libraries share: their wheels hold config files, and mmengine builds them."""

from __future__ import annotations

import collections
import collections.abc
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, hookimpl

from .configs import model_of

if TYPE_CHECKING:
    from torch import nn

_SIBLINGS = {"mmdet": "3.0.0"}  # the version that passes every other library's check
# What names a checkpoint, and `num_cp`: layers whose activations training computes again.
_LEFT_OUT = ("init_cfg", "load_from", "num_cp")


class Library(NamedTuple):
    """One OpenMMLab library.

    Attributes:
        package: Import name.
        distribution: Its name on PyPI.
        task: Of a config, by its path below the config folder and its model part.
        part: Of the model whose type is the family, such as `backbone`; empty for the model.
        inputs: Guesses for a model; its config is `model.cfg`.
        imports: Modules that register the parts of models.
        design: Of a model part, the registered type that says most of its design, where that is
            not the type of `part`.
    """

    package: str
    distribution: str
    task: Callable[[str, dict[str, Any]], str]
    part: str
    inputs: Callable[[nn.Module], Iterable[ExampleInputs]]
    imports: tuple[str, ...] = ("models",)
    design: Callable[[dict[str, Any]], str | None] = lambda model: None


def catalogue(library: Library) -> Catalogue:
    """The hooks of one library."""
    return _ByConfig(
        package=library.package,
        distribution=library.distribution,
        licence="Apache-2.0",
        url=f"https://github.com/open-mmlab/{library.distribution}",
        entries=partial(_Configs, library),
        inputs=library.inputs,
    )


class _ByConfig(Catalogue):
    """A catalogue whose models may be of another library's class: their config says whose."""

    @hookimpl
    def nar_example_inputs(self, model: nn.Module) -> list[ExampleInputs] | None:
        """Guesses for a model of this library's config, or of its class when it has none."""
        scope = (getattr(model, "cfg", None) or {}).get("default_scope")
        if scope is None:
            return super().nar_example_inputs(model)
        if self.inputs is None or scope != self.package:
            return None
        return list(self.inputs(model) or ())


class _Configs(Mapping[str, Entry]):
    """The published configs by name; each is read when it is asked for."""

    def __init__(self, library: Library) -> None:
        self._library = library
        package = importlib.util.find_spec(library.package)
        if package is None or package.origin is None:
            raise ModuleNotFoundError(f"No module named {library.package!r}")
        self._folder = Path(package.origin).parent / ".mim" / "configs"

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """Config files by name: that of the file, with its folder where it is taken."""
        found: dict[str, Path] = {}
        for path in sorted(self._folder.rglob("*.py")):
            where = path.relative_to(self._folder)
            if (
                not path.stem.startswith("_")
                and "_base_" not in where.parts
                and model_of(path).get("type")
            ):
                found[path.stem if path.stem not in found else str(where.with_suffix(""))] = path
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, name: str) -> Entry:
        path, library = self._paths[name], self._library
        model = model_of(path)
        part = model.get(library.part) or model
        part = part[-1] if isinstance(part, list) else part  # the last stage of a cascade
        kind = library.design(model) or str(part.get("type", model["type"]))
        return Entry(
            build=partial(_built, library, path),
            family=self._defining_module(kind),
            task=library.task(str(path.relative_to(self._folder)), model),
        )

    @cached_property
    def _registry(self) -> Any:
        with _imported(self._library):
            return importlib.import_module(f"{self._library.package}.registry").MODELS

    def _defining_module(self, kind: str) -> str:
        """The module that defines a registered class, such as `faster_rcnn`."""
        with _imported(self._library) if "." in kind else nullcontext():  # another library's
            found = self._registry.get(kind)
        if found is not None:
            return str(found.__module__).rpartition(".")[2]
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.rpartition(".")[2]).lower()


def _built(library: Library, path: Path) -> nn.Module:
    import torch

    from .texts import mend_fusion, published_texts

    with _imported(library):
        from mmengine.config import Config
        from mmengine.model import revert_sync_batchnorm
        from mmengine.registry import DefaultScope

        with torch.device("cpu"):
            config: Any = Config.fromfile(path)
        _without_weights(config.model)
        scope = config.setdefault("default_scope", library.package)
        models = importlib.import_module(f"{scope}.registry").MODELS
        with DefaultScope.overwrite_default_scope(scope), published_texts():
            model: Any = revert_sync_batchnorm(models.build(config.model))
        mend_fusion()
    model.cfg = config  # as each library's `init_model` does
    model.eval()  # LeViT and others make their attention's bias then; not all return themselves
    built: nn.Module = model
    return built


def _without_weights(part: Any) -> None:
    """Take out of a config what names a checkpoint, and what asks for a process group."""
    if isinstance(part, dict):
        if part.get("type") == "MMSyncBN":
            part["type"] = "SyncBN"
        for key in _LEFT_OUT:
            part.pop(key, None)
        if part.get("type") != "ResNet3dCSN":  # which asks for one, be it None
            part.pop("pretrained", None)
        part.update({key: None for key in ("pretrained", "teacher_ckpt") if key in part})
        for item in part.values():
            _without_weights(item)
    elif isinstance(part, list | tuple):
        for item in part:
            _without_weights(item)


@contextmanager
def _imported(library: Library) -> Iterator[None]:
    """Import a library beside current versions of what it needs, and fill its registries."""
    import torch

    from . import operators

    device = torch.get_default_device()
    with ExitStack() as around:
        around.enter_context(operators.at_hand())
        around.enter_context(_missing_modules())
        around.enter_context(torch.device("cpu"))  # what a module makes when it is imported
        for where, name, now in _moved():
            around.enter_context(patch.object(where, name, now, create=True))
        for sibling, claimed in _SIBLINGS.items():
            if sibling != library.package and importlib.util.find_spec(sibling) is not None:
                module = importlib.import_module(sibling)
                around.enter_context(patch.object(module, "__version__", claimed))
        for name in library.imports:
            importlib.import_module(f"{library.package}.{name}")
        operators.without_cuda()
        with torch.device(device):
            yield


@contextmanager
def _missing_modules() -> Iterator[None]:
    """Modules that a wheel lacks or that cannot be imported, as long as they are asked for."""
    modules = {name: ModuleType(name) for name in ("drn", "drn.drn")}
    modules["drn.drn"].DRN = None  # type: ignore[attr-defined]  # left out of mmaction2's wheel
    modules = {f"mmaction.models.localizers.{name}": item for name, item in modules.items()}
    if importlib.util.find_spec("pycocotools") is not None:
        for part in ("", ".coco", ".cocoeval", ".mask"):  # its fork was compiled for numpy 1
            modules[f"xtcocotools{part}"] = importlib.import_module(f"pycocotools{part}")
    modules = {name: item for name, item in modules.items() if name not in sys.modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            sys.modules.pop(name, None)


def _moved() -> Iterator[tuple[Any, str, Any]]:
    """Names that the libraries import from where they are no more: owner, name, object."""
    yield collections, "Sequence", collections.abc.Sequence
    if importlib.util.find_spec("mmpretrain") is None:
        return
    import transformers
    from transformers import modeling_utils, pytorch_utils

    for name in ("apply_chunking_to_forward", "prune_linear_layer"):
        yield modeling_utils, name, getattr(pytorch_utils, name)
    yield modeling_utils, "find_pruneable_heads_and_indices", None
    yield modeling_utils, "GenerationMixin", transformers.GenerationMixin
    yield modeling_utils, "PretrainedConfig", transformers.PretrainedConfig
