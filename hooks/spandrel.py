"""spandrel: networks that enlarge and restore images, with the sizes of their papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_COLOURS = {"num_in_ch": 3, "num_out_ch": 3}
# Where the defaults of a class make no network that was published: the authors' option files.
_LARGE = {"embed_dim": 180, "depths": (6,) * 6, "num_heads": (6,) * 6, "upsampler": "pixelshuffle"}
_PUBLISHED: dict[str, dict[str, Any]] = {
    "SwinIR": {**_LARGE, "upscale": 4, "window_size": 8, "mlp_ratio": 2},
    "Swin2SR": {**_LARGE, "upscale": 4, "window_size": 8, "mlp_ratio": 2},
    "HAT": {**_LARGE, "upscale": 4, "window_size": 16, "mlp_ratio": 2},
    "DRCT": {**_LARGE, "upscale": 4, "window_size": 16, "mlp_ratio": 2, "gc": 32},
    "NAFNet": {"width": 32, "enc_blk_nums": [1, 1, 1, 28], "middle_blk_num": 1}
    | {"dec_blk_nums": [1, 1, 1, 1]},
    "LaMa": {"in_nc": 4},  # an image and its mask
}


def _entries() -> Mapping[str, Entry]:
    import inspect
    import pkgutil
    from importlib import import_module

    from spandrel import architectures
    from torch import nn

    entries = {}
    for item in pkgutil.iter_modules(architectures.__path__):
        if item.name.startswith("_"):
            continue
        for name, value in vars(import_module(f"spandrel.architectures.{item.name}")).items():
            if not inspect.isclass(value) or not issubclass(value, nn.Module):
                continue
            parameters = inspect.signature(value).parameters.values()
            needed = {one.name for one in parameters if one.default is one.empty} - {"kwargs"}
            if needed <= _COLOURS.keys():
                options = {key: _COLOURS[key] for key in needed} | _PUBLISHED.get(name, {})
                build = partial(_build, value, options)
                entries[name] = Entry(build, item.name.lower(), "image-to-image")
    return entries


def _build(network: Callable[..., nn.Module], options: Mapping[str, Any]) -> nn.Module:
    import torch

    with torch.device("cpu"):  # some constructors fill a layer with tensors of their own
        return network(**options).to("meta")


def _inputs(model: nn.Module) -> Iterator[ExampleInputs]:
    import torch

    for side in (64, 128, 512):
        for bands in (3, 4, 1):
            image = torch.empty(1, bands, side, side, device="meta")
            yield ExampleInputs((image,))
        if type(model).__name__ == "LaMa":
            yield ExampleInputs((image.expand(1, 3, side, side), image))


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="spandrel",
    distribution="spandrel",
    licence="MIT",
    url="https://github.com/chaiNNer-org/spandrel",
    entries=_entries,
    inputs=_inputs,
).hooks()
