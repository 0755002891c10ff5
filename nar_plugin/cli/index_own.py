"""`nar index add` and `nar index remove`: a user's own models beside the published index."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json


@only_results_on_stdout()
def add(
    references: Annotated[
        list[str],
        typer.Argument(
            metavar="REF...",
            help="Your models, as in nar find, or 'mylib:*' for all that a plugin lists.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Add your own models to the overlay that every query searches.

    It stays on this machine, in HF_HOME/nar/overlay.
    """
    from nar_plugin import api
    from nar_plugin.index import embedding, overlay

    index = api.load_index()
    added = overlay.add_models(
        references, index, partial(embedding.embed, index), progress=_say_on_stderr
    )
    _report(len(added), added.manifest.names, as_json)


@only_results_on_stdout()
def remove(
    references: Annotated[
        list[str],
        typer.Argument(metavar="REF...", help="As they were added.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Take your own models out of the overlay, and off the disk."""
    from nar_plugin.index import overlay
    from nar_plugin.visible_text import counted

    left = overlay.remove_models(references)
    facts = {"overlay": str(overlay.overlay_folder()), "removed": references, "graphs": left}
    if as_json:
        show_json(facts)
    else:
        say(f"{len(references):,} removed, {counted(left, 'own architecture')} left")


@only_results_on_stdout()
def list_own(as_json: Json = False) -> None:
    """List your own models, and say which index answers."""
    from nar_plugin.hub.answering import answering
    from nar_plugin.index import overlay

    names = sorted(name for row in overlay.own_rows() for name in row.names)
    if as_json:
        show_json({"overlay": str(overlay.overlay_folder()), "names": names})
    else:
        say("\n".join([*names, f"{len(names):,} own. {answering()}"]))


def _say_on_stderr(reference: str) -> None:
    typer.echo(f"tracing {reference}", err=True)


def _report(graphs: int, names: int, as_json: bool) -> None:
    from nar_plugin.index.overlay import overlay_folder
    from nar_plugin.visible_text import counted

    facts = {"overlay": str(overlay_folder()), "graphs": graphs, "names": names}
    if as_json:
        show_json(facts)
    else:
        held = f"{counted(graphs, 'own architecture')}, {counted(names, 'name')}"
        say(f"{held}, in {facts['overlay']}")
