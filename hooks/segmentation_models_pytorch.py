"""segmentation_models_pytorch: a decoder over an encoder for semantic segmentation.

https://github.com/qubvel-org/segmentation_models.pytorch
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nar_plugin.hooks import _references

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_LIBRARY = "segmentation_models_pytorch"
_INSTALL = "pip install segmentation-models-pytorch"
_PAGE = "https://smp.readthedocs.io/en/latest/models.html"


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return _LIBRARY


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The decoder and the encoder that the model's own name says."""
    owner = _class(model)
    if owner is None:
        return None
    decoder, _, encoder = str(getattr(model, "name", "")).partition("-")
    name = f"{owner.__name__.lower()}/{encoder}" if decoder and encoder else owner.__name__.lower()
    return Provenance(f"{_LIBRARY}:{name}", _LIBRARY)


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """One image whose sides the encoder can divide, or of the size that it was built for."""
    if _class(model) is None:
        return None
    import torch
    from nar_plugin.hooks._segmentation_models_pytorch_sizes import channels, sizes

    width = channels(model)
    return [ExampleInputs((torch.empty(1, width, *size, device="meta"),)) for size in sizes(model)]


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every decoder over every encoder of the library; what is no default is composed here."""
    try:
        import segmentation_models_pytorch  # noqa: F401
    except ImportError:
        return
    from nar_plugin.hooks._segmentation_models_pytorch_catalogue import all_pairs, defaults

    published = defaults()
    for decoder, encoder in dict.fromkeys((*published, *all_pairs())):
        yield NamedArchitecture(
            name=f"{_LIBRARY}:{decoder}/{encoder}",
            library="segmentation-models-pytorch",
            family=decoder,
            task="image-segmentation",
            licence="MIT",
            url=f"{_PAGE}#{decoder}",
            composed=(decoder, encoder) not in published,
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `segmentation_models_pytorch:unet/resnet34` without weights.

    Any decoder goes with any encoder; a decoder alone gets the library's default encoder.
    """
    wanted = _references.architecture(name, _LIBRARY)
    if wanted is None:
        return None
    try:
        import segmentation_models_pytorch as smp
    except ImportError as error:
        raise _references.missing(name, _LIBRARY, _INSTALL) from error
    from nar_plugin.hooks._segmentation_models_pytorch_catalogue import (
        all_pairs,
        decoders,
        encoders,
    )

    decoder, slash, encoder = wanted.partition("/")
    known = not slash or encoder in encoders() or encoder.startswith("tu-")
    if decoder not in decoders() or not known:
        raise _references.unknown(name, _LIBRARY, (f"{one}/{two}" for one, two in all_pairs()))
    options: dict[str, Any] = {"encoder_name": encoder} if slash else {}
    try:
        model: nn.Module = smp.create_model(decoder, encoder_weights=None, **options)
    except (KeyError, ValueError, AssertionError, NotImplementedError, RuntimeError) as error:
        if "meta" in str(error).lower():  # built again on the CPU
            raise
        raise PluginError(f"{_LIBRARY} cannot build {name}: {str(error)[:300]}") from error
    return model


def _class(model: nn.Module) -> type | None:
    """The nearest model class of the library, so that a subclass counts as well."""
    for owner in type(model).__mro__:
        if owner.__module__.startswith((f"{_LIBRARY}.decoders.", f"{_LIBRARY}.encoders.")):
            return owner
    return None
