"""torchaudio: speech, source separation and speech synthesis. https://docs.pytorch.org/audio."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references, _torchaudio_import

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install torchaudio"
_DOCS = "https://docs.pytorch.org/audio/stable/generated"


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "torchaudio"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The class: nothing in a model of torchaudio says which builder made it."""
    owner = _class(model)
    return None if owner is None else Provenance(f"torchaudio:{owner.__name__}", "torchaudio")


@hookimpl
def nar_example_inputs(model: nn.Module) -> Iterator[ExampleInputs] | None:
    """Samples, frames, tokens: what the arguments of the forward are called."""
    if _class(model) is None:
        return None
    from nar_plugin.hooks._torchaudio_inputs import guesses

    found: Iterator[ExampleInputs] = guesses(model)
    return found


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Builders and classes of `torchaudio.models`, and the models of `torchaudio.pipelines`."""
    if not _present():
        return
    from nar_plugin.hooks._torchaudio_catalogue import builders, family, task

    for name in builders():
        package = "pipelines" if name.isupper() else "models"
        yield NamedArchitecture(
            name=f"torchaudio:{name}",
            library="torchaudio",
            family=family(name),
            task=task(name),
            licence="BSD-2-Clause",
            url=f"{_DOCS}/torchaudio.{package}.{name}.html",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `torchaudio:wav2vec2_base` or `torchaudio:HUBERT_ASR_LARGE` without weights."""
    wanted = _references.architecture(name, "torchaudio")
    if wanted is None:
        return None
    if not _present():
        raise _references.missing(name, "torchaudio", _INSTALL)
    from nar_plugin.hooks._torchaudio_catalogue import builders

    known = builders()
    if wanted not in known:
        raise _references.unknown(name, "torchaudio", known)
    import torch

    with _staying_on_meta():
        model: nn.Module = known[wanted]()
    # HuBERT's mask is made with `torch.FloatTensor(...)`, which heeds no default device.
    return model.to(torch.get_default_device())


def _staying_on_meta() -> AbstractContextManager[object]:
    """A mode for HuBERT's initialisation, which fetches each weight to the CPU to fill it."""
    import torch
    from torch.overrides import TorchFunctionMode

    class StayingOnMeta(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func is torch.Tensor.cpu and args[0].is_meta:
                return args[0]
            return func(*args, **(kwargs or {}))

    return StayingOnMeta()


def _present() -> bool:
    """Whether torchaudio can be imported; its binaries may not fit this torch."""
    try:
        _torchaudio_import.import_torchaudio()
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def _class(model: nn.Module) -> type | None:
    """The nearest class that torchaudio defines, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith("torchaudio."):
            return owner
    return None
