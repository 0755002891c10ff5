"""Explain a hit: by the graphs that the index has of both, else by building what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nar_plugin.errors import NarError
from nar_plugin.report.explanation import Explanation, explain
from nar_plugin.report.wording import name_text
from nar_plugin.visible_text import clean

if TYPE_CHECKING:
    from nar_plugin.mining import MacroGraph
    from nar_plugin.report.asked import Query
    from nar_plugin.report.hit import Hit
    from nar_plugin.report.similar import Designs


def explained_hit(
    query: Query, macro: MacroGraph | None, hit: Hit, designs: Designs
) -> Explanation:
    """Why a hit is as alike as it is.

    Args:
        query: The model asked about.
        macro: Its design; None where its row answered.
        hit: The known architecture.
        designs: What the index has; what it lacks is built by the first name that can be.

    Raises:
        NarError: One of the two is not stored and cannot be built here.
    """
    own = macro or designs(query.fingerprint) or _built((query.name,) if query.name else ())
    known = designs(hit.fingerprint) or _built(tuple(dict.fromkeys((hit.name, *hit.names))))
    return explain(own, known, hit.score, (name_text(query), clean(hit.name)))


def _built(names: Sequence[str]) -> MacroGraph:
    from nar_plugin.mining import mine
    from nar_plugin.references import as_model
    from nar_plugin.tracing import trace

    refusal: NarError | None = None
    for name in names:
        try:
            return mine(trace(as_model(name, caller="explain"), None))
        except NarError as error:
            refusal = refusal or error
    raise NarError(
        f"{clean(names[0]) if names else 'The model'} cannot be built here, and the index came "
        f"without its graph, so there is nothing to explain block by block: {refusal}"
    ) from refusal
