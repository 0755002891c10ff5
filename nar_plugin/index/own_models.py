"""A user's own model: which references are meant, and the row that describes each."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nar_plugin.errors import NarError, TraceError, UnknownReference
from nar_plugin.index.store.rows import ArchitectureRow
from nar_plugin.references import explained, listed

if TYPE_CHECKING:
    from nar_plugin.hookspecs import NamedArchitecture
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.mining import MacroGraph
    from nar_plugin.tracing.graph import ArchitectureGraph


class OwnModel(NamedTuple):
    """A model as the overlay keeps it."""

    row: ArchitectureRow
    graph: ArchitectureGraph
    macro: MacroGraph


def meant(reference: str) -> dict[str, NamedArchitecture | None]:
    """The references that one stands for, each with what a plugin declares of it, if one does.

    That is itself, or all that a pattern such as `mylib:*` matches of the names that are listed.

    Raises:
        NarError: No name of that library matches.
    """
    library, colon, pattern = reference.partition(":")
    found = listed(library) if colon else {}
    # A printed cell has brackets too; of a library that lists nothing there is no pattern.
    if not any(sign in pattern for sign in ("*?[" if found else "*?")):
        return {reference: found.get(reference)}
    names = {name: found[name] for name in sorted(found) if fnmatchcase(name, reference)}
    if not names:
        raise NarError(
            f"{reference} matches no architecture: no plugin of an installed library {library!r} "
            "lists such a name. `nar plugins` shows the plugins."
        )
    return dict(names)


def own_model(
    reference: str, index: ArchitectureIndex, declared: NamedArchitecture | None
) -> OwnModel:
    """Trace one model and describe it.

    Args:
        reference: The model.
        index: The index that answers: it lends family and task to an equal design.
        declared: What a plugin says of it, which counts more.

    Raises:
        NarError: The reference names no model.
        TraceError: Its forward could not be followed.
    """
    from nar_plugin.encoder.backbone import backbone
    from nar_plugin.mining import mine
    from nar_plugin.tracing import traced

    reference = settled(reference)
    try:
        asked = traced(reference, caller="nar index add")
    except UnknownReference as error:
        raise explained(error, index.contents.names) from error
    graph = asked.graph
    if graph.method == "modules":
        # Of the refusals the one that came farthest.
        first = " ".join(graph.reason.splitlines()[:2]).rstrip(".")
        raise TraceError(
            f"{reference} could not be run, only its layers are known: {first}. An index holds "
            "whole graphs: a module around it whose forward takes tensors can be added."
        )
    macro = mine(graph)
    known = index.by_fingerprint(graph.fingerprint)
    library, colon, _ = reference.partition(":")
    described = declared or known
    row = ArchitectureRow(
        name=reference,
        names=(reference,),
        library=declared.library if declared else library if colon else "",
        family=described.family if described else asked.class_name,
        task=described.task if described else "",
        params=graph.params,
        flops=graph.flops,
        fingerprint=graph.fingerprint,
        design=graph.design,
        licence=declared.licence if declared else "",
        url=declared.url if declared else None,
        motifs=macro.table(),
        backbone=backbone(macro, graph.design),
    )
    return OwnModel(row, graph, macro)


def settled(reference: str) -> str:
    """The reference as the overlay keeps it: a path must mean the same in another folder."""
    if reference.startswith((".", "~")):
        try:
            return str(Path(reference).expanduser().resolve())
        except (OSError, RuntimeError, ValueError) as error:  # no such user, a loop of links
            raise NarError(f"{reference[:80]!a} names no place: {error}. Give its path.") from error
    return reference
