"""super_image: super-resolution networks with configurations in the manner of transformers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_SCALES = (2, 3, 4)  # of the checkpoints that the library publishes
_OTHER_SCALES = {"ddbpn": (2, 4), "masa": (4,)}
_INCOMPLETE = ("jiif", "liif", "rnan", "smsr")  # without a forward that takes an image alone
# Checkpoints of the library on the Hub whose configuration is not the default: its card says.
_VARIANTS: dict[str, dict[str, Any]] = {
    "edsr-base": {},
    "edsr": {"n_resblocks": 32, "n_feats": 256, "res_scale": 0.1},
    **{f"{name}-bam": {"bam": True} for name in "awsrn carn drln mdsr msrn pan rcan".split()},
}


def _entries() -> Mapping[str, Entry]:
    import super_image

    found: dict[str, Entry] = {}
    kinds = [name.removesuffix("Model") for name in vars(super_image) if name.endswith("Model")]
    plain = {kind.lower() for kind in kinds} - {"pretrained", "edsr", *_INCOMPLETE}
    for name in (*sorted(plain), *_VARIANTS):
        kind = name.partition("-")[0].capitalize()
        for scale in _OTHER_SCALES.get(name, _SCALES):
            build = partial(_built, kind, {"scale": scale, **_VARIANTS.get(name, {})})
            hub_id = f"eugenesiow/{name}" if name in _VARIANTS else None
            entry = Entry(build, kind.lower(), "image-to-image", hub_id)
            found[f"{name}_x{scale}"] = entry
    return found


def _built(kind: str, options: Mapping[str, Any]) -> nn.Module:
    import super_image
    import torch

    config = getattr(super_image, f"{kind}Config")(**options)
    with torch.device("cpu"):  # the shift of the colours is a layer filled with numbers
        model: nn.Module = getattr(super_image, f"{kind}Model")(config)
    return model.to("meta")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, 64, 64, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="super_image",
    distribution="super-image",
    licence="Apache-2.0",
    url="https://github.com/eugenesiow/super-image",
    entries=_entries,
    inputs=_inputs,
).hooks()
