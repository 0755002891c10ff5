"""`nar novelty`: how far a model is from everything known."""

from __future__ import annotations

from nar_plugin.cli.output import Json, Reference, only_results_on_stdout, show, show_json


@only_results_on_stdout()
def novelty(reference: Reference, as_json: Json = False) -> None:
    """Say how novel a model is, the nearest prior art, and the blocks that it lacks."""
    from nar_plugin import api

    found = api.novelty(reference)
    if as_json:
        show_json(found.to_dict())
    else:
        show(found.__rich__())
