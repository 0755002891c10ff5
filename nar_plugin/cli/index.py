"""`nar index`: the index of known architectures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from nar_plugin.cli.index_own import add, list_own, remove
from nar_plugin.cli.index_verify import verify
from nar_plugin.cli.output import Json, only_results_on_stdout, show, show_json

app = typer.Typer(help="The index of known architectures.", no_args_is_help=True)


@app.callback()
def index() -> None:
    """The index of known architectures."""


@app.command()
@only_results_on_stdout()
def info(
    as_json: Json = False,
    index: Annotated[
        str | None, typer.Option(metavar="PATH", help="An index folder or repository.")
    ] = None,
    revision: Annotated[
        str | None, typer.Option(metavar="R", help="Commit, tag or branch of the index.")
    ] = None,
) -> None:
    """What the index holds and where it came from."""
    from nar_plugin import api
    from nar_plugin.report.table import fact_table

    facts = api.load_index(index, revision).info()
    if as_json:
        show_json(facts)
    else:
        show(fact_table({key: _in_words(value) for key, value in facts.items()}))


app.command()(verify)
app.command()(add)
app.command()(remove)
app.command("list")(list_own)


def _in_words(value: Any, shown: int = 12) -> str:
    """Counts as `resnet 120, vit 80 and 40 more`; numbers with separators."""
    if isinstance(value, Mapping):
        counts = sorted(value.items(), key=lambda pair: -pair[1])
        listed = ", ".join(f"{name} {count:,}" for name, count in counts[:shown])
        return f"{listed} and {len(counts) - shown:,} more" if len(counts) > shown else listed
    return f"{value:,}" if isinstance(value, int) else str(value or "")
