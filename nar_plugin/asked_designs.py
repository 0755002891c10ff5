"""What is asked about: a model that is traced, or the row that the index has of its name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nar_plugin import tracing
from nar_plugin.errors import NarError, TraceError, UnknownReference
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.known import is_another, known
from nar_plugin.index.ranking import Subject
from nar_plugin.index.stored_designs import stored_design
from nar_plugin.index.subjects import subject_of, subject_of_row
from nar_plugin.mining import MacroGraph, mine
from nar_plugin.opened_indexes import Index, load_index
from nar_plugin.references import explained
from nar_plugin.report import Query
from nar_plugin.report.answers import query_of_known, query_of_model, query_of_row

if TYPE_CHECKING:
    from nar_plugin.tracing.run.question import Traced


class AskedDesign(NamedTuple):
    """A design as the index compares it, as reports name it, and its graph.

    Attributes:
        subject: Its vector and labels.
        query: What reports say of it.
        macro: Its graph cut into blocks; None of a row.
    """

    subject: Subject
    query: Query
    macro: MacroGraph | None


def ask(
    model: Any, example_inputs: Any, index: ArchitectureIndex, caller: str, trace: bool = False
) -> AskedDesign:
    """What is asked about: the model, or the index's row of that name."""
    named = issubclass(type(model), str) and example_inputs is None
    if named and not trace and (row_of := known(index, model)):
        subject = subject_of_row(index, row_of.row, row_of.vector)
        return AskedDesign(subject, query_of_known(model, row_of), None)
    try:
        asked = traced(model, example_inputs, index, caller)
    except TraceError:
        raise
    except NarError as error:  # it could not be built
        found = index.by_name(model) if named else None
        if found is None:
            raise
        row, vector = found
        subject = subject_of_row(index, row, vector)
        return AskedDesign(subject, query_of_row(model, row, str(error)), None)
    graph = with_content(asked).graph
    macro = mine(graph)
    subject = subject_of(index, macro)
    source = None if example_inputs is not None or graph.method == "modules" else asked.provenance
    changed = source is not None and is_another(index, source.name, subject)
    query = query_of_model(model, asked, macro.table(), changed=changed)
    return AskedDesign(subject, query, macro)


def ask_with_graph(
    model: Any, example_inputs: Any, index: ArchitectureIndex, caller: str, trace: bool
) -> AskedDesign:
    """What is asked about, by its row where the index has its graph too."""
    asked = ask(model, example_inputs, index, caller, trace)
    if asked.macro is not None:
        return asked
    macro = stored_design(index, asked.query.fingerprint)
    if macro is None and not trace:
        return ask(model, example_inputs, index, caller, trace=True)
    return asked._replace(macro=macro)


def traced(model: Any, example_inputs: Any, index: Index, caller: str) -> Traced:
    """The model's graph; an unknown name is explained by the names that the index has."""
    try:
        return tracing.traced(model, example_inputs, caller=caller)
    except UnknownReference as error:
        raise explained(error, load_index(index).contents.names) from error


def with_content(asked: Traced) -> Traced:
    """The same, unless there is nothing to compare.

    Raises:
        TraceError: The graph has no operation.
    """
    if not len(asked.graph):
        raise TraceError(
            f"{asked.class_name} has nothing to compare: its forward computes no operation that "
            "is part of a design (0 ops)."
        )
    return asked


def mined(model: Any, example_inputs: Any, caller: str) -> MacroGraph:
    """The model's blocks; of a name that cannot be built here, those of the index's graph."""
    try:
        return mine(with_content(traced(model, example_inputs, None, caller)).graph)
    except TraceError:
        raise
    except NarError as error:
        named = issubclass(type(model), str) and example_inputs is None
        index = load_index()
        found = index.by_name(model) if named else None
        macro = stored_design(index, found[0].fingerprint) if found else None
        if macro is None:
            raise
        return replace(macro, graph=replace(macro.graph, method="index", reason=str(error)))
