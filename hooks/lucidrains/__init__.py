"""lucidrains' packages: one paper each, whose README makes and calls its models."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nar_plugin.catalogue import lookup
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

from .catalogue import examples, packages, task
from .examples import construct, inputs

if TYPE_CHECKING:
    from torch import nn

_PREFIX = "lucidrains"
_PAGE = "https://github.com/lucidrains"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The package and the class, such as `lucidrains:linformer/Linformer`."""
    if lookup.owner(model, *packages()) is None:
        return None
    for distribution, models in examples().items():
        for package in {name.partition("/")[0] for name in models}:
            owner = lookup.owner(model, package.partition(".")[0])
            if owner is not None:
                return Provenance(f"{_PREFIX}:{package}/{owner.__name__}", distribution)
    return None


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """What the README calls a model of this class with."""
    if lookup.owner(model, *packages()) is None:
        return None
    found = [
        example
        for models in examples().values()
        for name, example in models.items()
        if example.call
        and example.build.startswith(f"{type(model).__name__}(")
        and lookup.owner(model, name.partition("/")[0].partition(".")[0])
    ]
    return list(map(inputs, found)) or None


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every example of the installed packages; `-2` stands after the second of a class."""
    for distribution, models in examples().items():
        for name in models:
            package = name.partition("/")[0].partition(".")[0]
            if find_spec(package) is not None:
                family = package.lower().removesuffix("_pytorch")
                yield NamedArchitecture(
                    name=f"{_PREFIX}:{name}",
                    library=distribution,
                    family=family,
                    task=task(distribution),
                    licence="MIT",
                    url=f"{_PAGE}/{distribution}",
                )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build what the README builds, without weights."""
    wanted = lookup.architecture(name, _PREFIX)
    if wanted is None:
        return None
    for distribution, models in examples().items():
        if wanted in models:
            try:
                return construct(models[wanted])
            except ImportError as error:
                command = f"pip install {distribution}"
                raise lookup.missing(name, distribution, command) from error
    raise lookup.unknown(name, _PREFIX, [item for group in examples().values() for item in group])
