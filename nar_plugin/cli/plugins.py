"""`nar plugins`: the model libraries that nar-plugin knows, and what became of each plugin."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nar_plugin.cli.output import Json, only_results_on_stdout, show, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from nar_plugin.manager import PluginInfo

_COLOURS = {"active": "green", "disabled": "dim", "failed": "red"}


@only_results_on_stdout()
def plugins(as_json: Json = False) -> None:
    """List the plugins: active, disabled or failed, and why; and whose library is here."""
    from nar_plugin import manager

    found = manager.list_plugins()
    if as_json:
        show_json([asdict(plugin) for plugin in found])
    else:
        show(plugin_table(found))


def plugin_table(found: tuple[PluginInfo, ...]) -> Table:
    """A row for each plugin."""
    from rich.text import Text

    from nar_plugin.report.table import open_table
    from nar_plugin.report.wording import clean

    table = open_table()
    for heading in ("plugin", "status", "library", "from", "hooks or error"):
        table.add_column(heading, overflow="fold")
    for plugin in found:
        table.add_row(
            Text(clean(plugin.name)),
            Text(plugin.status, style=_COLOURS[plugin.status]),
            Text("installed") if plugin.installed else Text("index only", style="dim"),
            Text(clean(f"{plugin.distribution or '?'} {plugin.version or ''}")),
            Text(clean(plugin.error or ", ".join(plugin.hooks))),
        )
    return table
