"""The plugin of a library that lists its models: their names, and what builds each of them.

Example:
    ```python
    import zoo
    from nar_plugin.catalogue import Catalogue, Entry

    def entries():
        return {name: Entry(build, "resnet", "image-classification")
                for name, build in zoo.BUILDERS.items()}

    hooks = Catalogue("zoo", "zoo-models", "MIT", "https://zoo.example", entries).hooks()
    nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = hooks
    ```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nar_plugin.catalogue import lookup
from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Catalogue", "Entry"]


@dataclass(frozen=True)
class Entry:
    """One name of a catalogue.

    Attributes:
        build: Constructs the model, without weights.
        family: The defining module or model type, as the library calls it.
        task: A task of the Hugging Face Hub, such as `image-classification`.
        hub_id: Repository on the Hub of a checkpoint with this architecture.
        composed: Whether the plugin made the name by combining parts, and the library does not
            publish it.
        url: A page about the architecture; None takes the library's page.
        year: Of the first version of its paper.
        paper: Such as `arXiv:1512.03385`, `doi:10.1038/nature14236` or an address.
        title: Of the paper.
        weights_license: Of the published weights, in the words of the source that says it.
        line: A line of Python that builds it.
    """

    build: Callable[[], nn.Module]
    family: str
    task: str
    hub_id: str | None = None
    composed: bool = False
    url: str | None = None
    year: int | None = None
    paper: str | None = None
    title: str | None = None
    weights_license: str | None = None
    line: str | None = None


@dataclass(frozen=True)
class Catalogue:
    """The hooks of one library. A plugin assigns what `hooks()` returns, or writes some itself.

    Attributes:
        package: Import name of the library, and the prefix of its references.
        distribution: Its name on PyPI.
        licence: SPDX expression of the code.
        url: The library's page.
        entries: Returns the names with an entry each. It imports the library, and may raise
            ImportError.
        inputs: Guesses inputs for a model of the library, best first. None leaves it to the tracer.
        models: Dotted names of the packages that define the models; empty for `package`.
        unlisted: Returns what builds a name that is not listed, or None: for example a decoder of
            this library with an encoder of another.
        provenance: Says where a model of the class comes from, if it knows more than the class: for
            example its name or the repository on the Hub. None names the class.
    """

    package: str
    distribution: str
    licence: str
    url: str
    entries: Callable[[], Mapping[str, Entry]]
    inputs: Callable[[nn.Module], Iterable[ExampleInputs] | None] | None = None
    models: tuple[str, ...] = ()
    unlisted: Callable[[str], Callable[[], nn.Module] | None] | None = None
    provenance: Callable[[nn.Module, type], Provenance | None] | None = None

    def hooks(self) -> tuple[Callable[..., object], ...]:
        """The hooks `nar_library`, `_provenance`, `_example_inputs`, `_architectures`, `_build`."""
        return (
            self.nar_library,
            self.nar_provenance,
            self.nar_example_inputs,
            self.nar_architectures,
            self.nar_build,
        )

    def owner(self, model: nn.Module) -> type | None:
        """The library's class of which a model is an instance, or None."""
        return lookup.owner(model, *(self.models or (self.package,)))

    @hookimpl
    def nar_library(self) -> str:
        """The library's import name."""
        return self.package

    @hookimpl
    def nar_provenance(self, model: nn.Module) -> Provenance | None:
        """Say where the model comes from, if the library defines its class."""
        owner = self.owner(model)
        if owner is None:
            return None
        if self.provenance is not None:
            return self.provenance(model, owner)
        return Provenance(f"{self.package}:{owner.__name__}", self.distribution)

    @hookimpl
    def nar_example_inputs(self, model: nn.Module) -> list[ExampleInputs] | None:
        """Guess inputs for a model whose class the library defines."""
        if self.inputs is None or self.owner(model) is None:
            return None
        guesses = self.inputs(model)
        return None if guesses is None else list(guesses)

    @hookimpl
    def nar_architectures(self) -> Iterator[NamedArchitecture]:
        """List every entry, or nothing if the library is not installed."""
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
                url=entry.url or self.url,
                hub_id=entry.hub_id,
                composed=entry.composed,
                year=entry.year,
                paper=entry.paper,
                title=entry.title,
                weights_license=entry.weights_license,
                build=entry.line,
            )

    @hookimpl
    def nar_build(self, name: str) -> nn.Module | None:
        """Build one entry without weights, or return None for a name of another library.

        Raises:
            PluginError: The library is not installed or has no such entry.
        """
        wanted = lookup.architecture(name, self.package)
        if wanted is None:
            return None
        try:
            entries = self._read()
        except ImportError as error:
            command = f"pip install {self.distribution}"
            raise lookup.missing(name, self.package, command) from error
        build = entries[wanted].build if wanted in entries else None
        if build is None and self.unlisted is not None:
            build = self.unlisted(wanted)
        if build is None:
            raise lookup.unknown(name, self.package, entries)
        return build()

    def _read(self) -> Mapping[str, Entry]:
        import torch

        with torch.device("cpu"):  # tensors that a module makes when it is imported stay real
            return self.entries()
