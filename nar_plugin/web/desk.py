"""Answers visitors: from a state to results, and to pieces of HTML. It knows nothing of Gradio."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, cast

from nar_plugin import api
from nar_plugin.checkpoints.ranking import table_of
from nar_plugin.errors import NarError
from nar_plugin.index.stored_designs import stored_design
from nar_plugin.mining import MacroGraph
from nar_plugin.report import Comparison, SimilarArchitectures
from nar_plugin.report.explanation_html import comparison_html
from nar_plugin.report.weights import SimilarWeights
from nar_plugin.report.wording import name_text
from nar_plugin.visible_text import clean
from nar_plugin.web.address import State
from nar_plugin.web.hits import hits_html
from nar_plugin.web.uploads import Uploads
from nar_plugin.web.visitors import asked

KEPT = 32  # answers that are kept; another visitor often asks the same
_MAPS = 8  # maps that are kept, of half a megabyte each
_IMPORTED = "timm:resnet50", "transformers:bert"  # whose libraries build a visitor's configs
_NO_GRAPH = "There is no picture of it: its graph is not in the index."
_WEIGHTS = "A file of weights has no forward to draw, compare or map. Ask about one of its hits."
Found = SimilarArchitectures | SimilarWeights


@dataclass(frozen=True)
class Shown:
    """What the page shows of a state, as HTML; empty where there is nothing to show."""

    hits: str = ""
    picture: str = ""
    comparison: str = ""
    map: str = ""


class Desk:
    """Answers the questions of one server.

    Args:
        uploads: What its visitors uploaded.
        hub: Whether they may name repositories of the Hub.
    """

    def __init__(self, uploads: Uploads, *, hub: bool = False) -> None:
        self.uploads = uploads
        self.index = api.load_index()
        self._hub = hub
        self._find = lru_cache(KEPT)(self._find_anew)
        self._compare = lru_cache(KEPT)(self._compare_anew)
        self._map = lru_cache(_MAPS)(self._map_anew)

    def show(self, state: State) -> Shown:
        """Hits, picture, comparison and map; of a model that is not understood, what is wrong."""
        try:
            hits = hits_html(self.similar(state), state) if state.model else ""
        except NarError as error:  # nor can the rest be answered, and asking takes time
            return Shown(self.uploads.without_folders(error_html(error)))
        draws = state.model and not state.against
        return Shown(
            self.uploads.without_folders(hits),
            self.told(lambda: self.picture(state.model), quiet=True) if draws else "",
            self.told(lambda: self.compared(state)) if state.model and state.against else "",
            self.told(lambda: self.mapped(state)) if state.map else "",
        )

    def warm(self) -> None:
        """Pay what a process pays once: imports, the map, the shapes of all rows' weights."""
        self.show(State(model=_IMPORTED[0], map=True))
        for name in _IMPORTED:
            with suppress(NarError):  # its library is not installed, so nobody waits for it
                api.trace(name)
        with suppress(NarError):  # an index without graphs
            table_of(self.index)

    def similar(self, state: State) -> Found:
        """The hits of a state.

        Raises:
            NarError: The model or a filter is not understood.
        """
        return self._find(self._asked(state.model), state.k, tuple(state.where().items()))

    def comparison(self, model: str, against: str) -> Comparison:
        """Two models side by side.

        Raises:
            NarError: One of them is not understood, or has no forward.
        """
        return self._compare(self._asked(model), self._asked(against))

    def explained(self, model: str, against: str) -> str:
        """What two models have in common and what differs, as HTML."""
        return comparison_html(self.comparison(model, against))

    def compared(self, state: State) -> str:
        """The explanation and the picture of two models, as HTML."""
        found = self.comparison(state.model, state.against)
        names = " and ".join(escape(name_text(each)) for each in (found.a, found.b))
        drawn = found.draw().svg() if found.macros else f"<p>{_NO_GRAPH}</p>"
        told = comparison_html(found, picture=False)  # it stands below in full
        return f"<h2>{names}</h2>{told}<figure class='nw-picture'>{drawn}</figure>"

    def picture(self, model: str) -> str:
        """The design of a model as SVG, with a line to unfold its boxes."""
        macro, title = self._design(model)
        opened = (
            "<details class='nw-unfold'><summary>Unfold the boxes</summary><div></div></details>"
        )
        return f"<figure class='nw-picture'>{macro.draw(title).svg()}</figure>{opened}"

    def unfolded(self, model: str) -> str:
        """The page of a design whose boxes open, in a frame in which no script runs."""
        macro, title = self._design(model)
        page = escape(macro.draw(title).html())
        return f'<iframe sandbox title="The boxes, to unfold" srcdoc="{page}"></iframe>'

    def mapped(self, state: State) -> str:
        """The map of all designs with the models of a state on it, in a frame.

        Its script runs there, for the page of `nar_plugin.map` has one, and reaches nothing here.
        """
        asked = tuple(self._asked(text) for text in (state.model, state.against) if text)
        return self._map(asked)

    def told(self, make: Callable[[], str], *, quiet: bool = False) -> str:
        """What `make` returns; instead of an error, what it says.

        Args:
            make: Returns HTML.
            quiet: Return nothing in the place of an error, which was said already.
        """
        try:
            return self.uploads.without_folders(make())
        except NarError as error:
            return "" if quiet else self.uploads.without_folders(error_html(error))

    def _asked(self, text: str) -> str | Path:
        return asked(text, self.index, self.uploads, hub=self._hub)

    def _design(self, model: str) -> tuple[MacroGraph, str]:
        similar = self.similar(State(model=model))
        if isinstance(similar, SimilarWeights):
            raise NarError(_WEIGHTS)
        macro = similar.macro or stored_design(self.index, similar.query.fingerprint)
        if macro is None:
            raise NarError(_NO_GRAPH)
        return macro, self.uploads.without_folders(name_text(similar.query))

    def _find_anew(self, model: str | Path, k: int, where: tuple[tuple[str, str], ...]) -> Found:
        found: Any = api.find_similar(model, k, where=dict(where) or None)
        return cast(Found, found)

    def _map_anew(self, asked: tuple[str | Path, ...]) -> str:
        _refuse_weights(*asked)
        found = api.design_map(asked, index=self.index)
        named = (
            replace(each, text=self.uploads.without_folders(each.text)) for each in found.asked
        )
        page = escape(replace(found, asked=tuple(named)).html(link="?model="))
        allowed = "allow-scripts allow-top-navigation-by-user-activation"
        return f'<iframe sandbox="{allowed}" title="Map of all designs" srcdoc="{page}"></iframe>'

    def _compare_anew(self, model: str | Path, against: str | Path) -> Comparison:
        _refuse_weights(model, against)
        return api.compare(model, against)


def _refuse_weights(*asked: str | Path) -> None:
    if any(isinstance(each, Path) and each.suffix == ".safetensors" for each in asked):
        raise NarError(_WEIGHTS)


def error_html(error: NarError) -> str:
    """What an error says, as HTML."""
    return f'<div class="nw-error" role="alert">{escape(clean(error))}</div>'
