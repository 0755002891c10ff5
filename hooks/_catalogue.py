"""A plugin for a library that is a catalogue: names, what builds each, and what its models eat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Entry:
    """One name of a catalogue.

    Attributes:
        build: Constructs the model, without weights.
        family: The defining module or model type, as the library calls it.
        task: One of the Hugging Face Hub's, such as `image-classification`.
        hub_id: Repository on the Hub of a checkpoint with this architecture.
        composed: Whether the name is a cell of a cross product that was enumerated here, and
            not something that the library publishes.
    """

    build: Callable[[], nn.Module]
    family: str
    task: str
    hub_id: str | None = None
    composed: bool = False


@dataclass(frozen=True)
class Catalogue:
    """The hooks of one library; a plugin's file assigns what `hooks()` returns.

    Attributes:
        package: Import name, which is the prefix of its references too.
        distribution: Its name on PyPI.
        licence: SPDX expression of the code.
        url: The library's page.
        entries: Reads the library; raises ImportError when it is not installed.
        inputs: Guesses for a model of the library, best first; None leaves them to the tracer.
    """

    package: str
    distribution: str
    licence: str
    url: str
    entries: Callable[[], Mapping[str, Entry]]
    inputs: Callable[[nn.Module], Iterable[ExampleInputs]] | None = None

    def hooks(self) -> tuple[Callable[..., object], ...]:
        """The five hooks, in the order in which `hookspecs` has them, without mended inputs."""
        return (
            self.nar_library,
            self.nar_provenance,
            self.nar_example_inputs,
            self.nar_architectures,
            self.nar_build,
        )

    @hookimpl
    def nar_library(self) -> str:
        """The library's import name."""
        return self.package

    @hookimpl
    def nar_provenance(self, model: nn.Module) -> Provenance | None:
        """The class: a model of such a library does not say more."""
        owner = _references.owner(model, self.package)
        if owner is None:
            return None
        return Provenance(f"{self.package}:{owner.__name__}", self.distribution)

    @hookimpl
    def nar_example_inputs(self, model: nn.Module) -> list[ExampleInputs] | None:
        """The catalogue's guesses for a model whose class the library defines."""
        if self.inputs is None or _references.owner(model, self.package) is None:
            return None
        return list(self.inputs(model))

    @hookimpl
    def nar_architectures(self) -> Iterator[NamedArchitecture]:
        """Every entry; nothing when the library is not installed."""
        try:
            entries = self._read()
        except ImportError:
            return
        for name, entry in entries.items():
            yield NamedArchitecture(
                name=f"{self.package}:{name}",
                library=self.distribution,
                family=entry.family,
                task=entry.task,
                licence=self.licence,
                url=self.url,
                hub_id=entry.hub_id,
                composed=entry.composed,
            )

    @hookimpl
    def nar_build(self, name: str) -> nn.Module | None:
        """Build one entry without weights.

        Raises:
            PluginError: The library is not installed or has no such entry.
        """
        wanted = _references.architecture(name, self.package)
        if wanted is None:
            return None
        try:
            entries = self._read()
        except ImportError as error:
            command = f"pip install {self.distribution}"
            raise _references.missing(name, self.package, command) from error
        if wanted not in entries:
            raise _references.unknown(name, self.package, entries)
        return entries[wanted].build()

    def _read(self) -> Mapping[str, Entry]:
        import torch

        with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
            return self.entries()
