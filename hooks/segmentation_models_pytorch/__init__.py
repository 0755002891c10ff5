"""segmentation_models_pytorch: a decoder over an encoder for semantic segmentation.

https://github.com/qubvel-org/segmentation_models.pytorch
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import ExampleInputs, Provenance

if TYPE_CHECKING:
    from torch import nn

_LIBRARY = "segmentation_models_pytorch"
_DISTRIBUTION = "segmentation-models-pytorch"
_PAGE = "https://smp.readthedocs.io/en/latest/models.html"


def _entries() -> Mapping[str, Entry]:
    """Every decoder over every encoder of the library; what is no default is composed here."""
    import segmentation_models_pytorch  # noqa: F401 (an ImportError where it is not installed)

    from .catalogue import all_pairs, defaults

    published = defaults()
    return {
        f"{decoder}/{encoder}": Entry(
            build=partial(_built, decoder, encoder_name=encoder),
            family=decoder,
            task="image-segmentation",
            url=f"{_PAGE}#{decoder}",
            composed=(decoder, encoder) not in published,
        )
        for decoder, encoder in dict.fromkeys((*published, *all_pairs()))
    }


def _unlisted(name: str) -> Callable[[], nn.Module] | None:
    """A decoder alone, which gets its default encoder, or one over an encoder of timm."""
    from .catalogue import decoders, encoders

    decoder, slash, encoder = name.partition("/")
    known = not slash or encoder in encoders() or encoder.startswith("tu-")
    if decoder not in decoders() or not known:
        return None
    return partial(_built, decoder, **({"encoder_name": encoder} if slash else {}))


def _built(decoder: str, **options: str) -> nn.Module:
    import segmentation_models_pytorch as smp

    try:
        model: nn.Module = smp.create_model(decoder, encoder_weights=None, **options)
    except (KeyError, ValueError, AssertionError, NotImplementedError, RuntimeError) as error:
        if "meta" in str(error).lower():  # built again on the CPU
            raise
        name = "/".join((decoder, *options.values()))
        problem = f"{_LIBRARY} cannot build {_LIBRARY}:{name}: {str(error)[:300]}"
        raise PluginError(problem) from error
    return model


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """One image whose sides the encoder can divide, or of the size that it was built for."""
    import torch

    from .sizes import channels, sizes

    width = channels(model)
    return [ExampleInputs((torch.empty(1, width, *size, device="meta"),)) for size in sizes(model)]


def _provenance(model: nn.Module, owner: type) -> Provenance:
    """The decoder and the encoder that the model's own name says."""
    decoder, _, encoder = str(getattr(model, "name", "")).partition("-")
    name = f"{owner.__name__.lower()}/{encoder}" if decoder and encoder else owner.__name__.lower()
    return Provenance(f"{_LIBRARY}:{name}", _DISTRIBUTION)


_CATALOGUE = Catalogue(
    package=_LIBRARY,
    distribution=_DISTRIBUTION,
    licence="MIT",
    url=_PAGE,
    entries=_entries,
    inputs=_inputs,
    models=(f"{_LIBRARY}.decoders", f"{_LIBRARY}.encoders"),
    unlisted=_unlisted,
    provenance=_provenance,
)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = _CATALOGUE.hooks()
