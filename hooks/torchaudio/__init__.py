"""torchaudio: speech, source separation and speech synthesis. https://docs.pytorch.org/audio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

from .._shared import torchaudio_import

if TYPE_CHECKING:
    from torch import nn

_DOCS = "https://docs.pytorch.org/audio/stable/generated"


def _entries() -> Mapping[str, Entry]:
    """Builders and classes of `torchaudio.models`, and the models of `torchaudio.pipelines`."""
    try:
        torchaudio_import.import_torchaudio()
    except (OSError, RuntimeError) as error:  # its binaries do not fit this torch
        raise ImportError(str(error)) from error
    from .catalogue import builders, family, task

    entries = {}
    for name, builder in builders().items():
        package = "pipelines" if name.isupper() else "models"
        url = f"{_DOCS}/torchaudio.{package}.{name}.html"
        entries[name] = Entry(partial(_built, builder), family(name), task(name), url=url)
    return entries


def _built(builder: Callable[[], nn.Module]) -> nn.Module:
    import torch

    with _staying_on_meta():
        model = builder()
    # HuBERT's mask is made with `torch.FloatTensor(...)`, which heeds no default device.
    return model.to(torch.get_default_device())


def _inputs(model: nn.Module) -> Iterable[ExampleInputs]:
    """Samples, frames, tokens: what the arguments of the forward are called."""
    from .inputs import guesses

    return guesses(model)


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


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="torchaudio",
    distribution="torchaudio",
    licence="BSD-2-Clause",
    url="https://docs.pytorch.org/audio",
    entries=_entries,
    inputs=_inputs,
).hooks()
