"""lucidrains' packages: one paper each, whose README makes and calls its models."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nar_plugin.hooks import _lucidrains_examples, _references
from nar_plugin.hooks._lucidrains_catalogue import EXAMPLES, TASKS

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_PREFIX = "lucidrains"
_PAGE = "https://github.com/lucidrains"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The package and the class, such as `lucidrains:linformer/Linformer`."""
    for distribution, examples in EXAMPLES.items():
        for package in {name.partition("/")[0] for name in examples}:
            owner = _references.owner(model, package.partition(".")[0])
            if owner is not None:
                return Provenance(f"{_PREFIX}:{package}/{owner.__name__}", distribution)
    return None


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """What the README calls a model of this class with."""
    found = [
        example
        for examples in EXAMPLES.values()
        for name, example in examples.items()
        if example.call
        and example.construction.startswith(f"{type(model).__name__}(")
        and _references.owner(model, name.partition("/")[0].partition(".")[0])
    ]
    return list(map(_lucidrains_examples.inputs, found)) or None


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every example of the installed packages; `-2` stands behind the second of a class."""
    for distribution, examples in EXAMPLES.items():
        for name in examples:
            package = name.partition("/")[0].partition(".")[0]
            if find_spec(package) is not None:
                family = package.lower().removesuffix("_pytorch")
                yield NamedArchitecture(
                    name=f"{_PREFIX}:{name}",
                    library=distribution,
                    family=family,
                    task=TASKS.get(distribution, "feature-extraction"),
                    licence="MIT",
                    url=f"{_PAGE}/{distribution}",
                )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build what the README builds, without weights."""
    wanted = _references.architecture(name, _PREFIX)
    if wanted is None:
        return None
    for distribution, examples in EXAMPLES.items():
        if wanted in examples:
            try:
                model: nn.Module = _lucidrains_examples.construct(examples[wanted])
                return model
            except ImportError as error:
                command = f"pip install {distribution}"
                raise _references.missing(name, distribution, command) from error
    raise _references.unknown(
        name, _PREFIX, [item for group in EXAMPLES.values() for item in group]
    )
