"""robustbench: the image classifiers of its leaderboard, for CIFAR-10, CIFAR-100 and ImageNet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from unittest.mock import patch

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    with _attack_renamed():
        from robustbench.model_zoo import model_dicts

    return {
        f"{data.value}/{threat.value}/{name}": Entry(
            build=row["model"], family=_family(row["model"]), task="image-classification"
        )
        for data, threats in model_dicts.items()
        for threat, rows in threats.items()
        for name, row in rows.items()
    }


@contextmanager
def _attack_renamed() -> Iterator[None]:
    """The package asks for pyautoattack but imports it by the name of its unpublished origin."""
    if find_spec("autoattack") is not None or "robustbench" in sys.modules:
        yield
        return
    import pyautoattack
    import pyautoattack.state

    names = {"autoattack": pyautoattack, "autoattack.state": pyautoattack.state}
    with patch.dict(sys.modules, names):
        yield
        added = {name: module for name, module in sys.modules.items() if name not in names}
    sys.modules.update(added)  # what was imported inside stays


def _family(build: Callable[[], nn.Module]) -> str:
    """The module that defines the first architecture of which a row's function speaks."""
    import timm
    from torchvision import models

    code = getattr(build, "__code__", None)
    words = (
        [item for item in (*code.co_consts, *code.co_names) if isinstance(item, str)]
        if code
        else []
    )
    for found in (build, *(build.__globals__.get(word) for word in words)):
        for owner in getattr(found, "__mro__", (found,)):
            home = getattr(owner, "__module__", "")
            if ".architectures." in home and not home.endswith("utils_architectures"):
                return home.rpartition(".")[2].lower()
    for word in words:
        maker = timm.model_entrypoint(word) if timm.is_model(word) else vars(models).get(word)
        if callable(maker):
            return str(maker.__module__).rpartition(".")[2]
    return "robustbench"


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, side, side, device="meta"),)) for side in (32, 224)]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="robustbench",
    distribution="robustbench",
    licence="MIT",
    url="https://github.com/RobustBench/robustbench",
    entries=_entries,
    inputs=_inputs,
).hooks()
