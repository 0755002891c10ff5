"""`nar plugins`: the model libraries that nar-plugin knows, and what became of each plugin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show, show_json
from nar_plugin.errors import NarError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nar_plugin.hookspecs import NamedArchitecture
    from nar_plugin.manager import PluginInfo

_COLOURS = {"active": "green", "disabled": "dim", "failed": "red"}
_CHECKED = 5  # of the names that a plugin lists, where nobody asks for more

app = typer.Typer()


@app.callback(invoke_without_command=True)
def plugins(context: typer.Context, as_json: Json = False) -> None:
    """List the plugins; tell what failed. `check` tries one."""
    if context.invoked_subcommand is None:
        _list(as_json)


@only_results_on_stdout()
def _list(as_json: bool) -> None:
    from nar_plugin import manager

    found = manager.list_plugins()
    if as_json:
        show_json([asdict(plugin) for plugin in found])
    else:
        show(plugin_lists(found))


@app.command()
@only_results_on_stdout()
def check(
    name: Annotated[
        str, typer.Argument(metavar="PLUGIN", help="As it is listed.", show_default=False)
    ],
    most: Annotated[
        int, typer.Option("-n", min=1, help="How many of its names, from all over the list.")
    ] = _CHECKED,
    as_json: Json = False,
) -> None:
    """Try a plugin: list its names, build and trace some of them, and say what fails."""
    from nar_plugin import manager
    from nar_plugin.references import listed

    found = {plugin.name: plugin for plugin in manager.list_plugins()}
    if name not in found:
        raise NarError(f"There is no plugin {name}; there are {', '.join(sorted(found))}.")
    plugin = found[name]
    if plugin.status != "active":
        problem = plugin.error or "NAR_DISABLE_PLUGINS turns it off"
        raise NarError(f"The plugin {plugin.name} is {plugin.status}: {problem}")
    names = list(listed(manager.library_of(name) or name).values())
    if not names:
        raise NarError(f"The plugin {plugin.name} lists no names.{_why_no_names(plugin)}")
    step = max(1, -(-len(names) // most))
    tried = [_tried(architecture) for architecture in names[::step]]
    if as_json:
        show_json({"plugin": plugin.name, "names": len(names), "checked": tried})
    else:
        for one in tried:
            say(f"{one['name']}: {one['error'] or _traced_text(one)}")
        say(f"{len(names):,} names are listed, {len(tried)} were checked")
    if failed := [one["name"] for one in tried if one["error"]]:
        raise NarError(f"{len(failed)} of {len(tried)} failed: {', '.join(failed)}.")


def plugin_lists(found: Sequence[PluginInfo]) -> RenderableType:
    """The built-in plugins that are well as two lists of names, and a row for each other one."""
    from rich.console import Group
    from rich.text import Text

    from nar_plugin.manager import DISTRIBUTION
    from nar_plugin.report.table import fact_table, open_table
    from nar_plugin.version import VERSION
    from nar_plugin.visible_text import clean

    own = [one for one in found if one.distribution == DISTRIBUTION and one.status == "active"]
    kinds = {"library installed": True, "answered from the index": False}
    facts = {
        f"built in, {kind}": ", ".join(one.name for one in own if one.installed is installed)
        for kind, installed in kinds.items()
    }
    others = [one for one in found if one not in own]
    lists: list[RenderableType] = [fact_table(facts)] if own else []
    if others:
        table = open_table()
        for heading in ("plugin", "status", "library", "from", "hooks or error"):
            table.add_column(heading, overflow="fold")
        for one in others:
            version = one.version or ""
            table.add_row(
                Text(clean(one.name)),
                Text(one.status, style=_COLOURS[one.status]),
                Text("installed") if one.installed else Text("index only", style="dim"),
                Text(clean(f"{one.distribution or '?'} {version}")),
                Text(clean(one.error or _hooks_text(one))),
            )
        lists += [Text()] * bool(lists) + [table]
    elif own:
        lists.append(
            Text(f"\n{DISTRIBUTION} {VERSION}; no other plugin is installed, none failed.")
        )
    return Group(*lists)


def _hooks_text(plugin: PluginInfo) -> str:
    """The hooks' names; of a plugin without any, what may be the reason."""
    if plugin.hooks or plugin.status != "active":
        return ", ".join(plugin.hooks)
    return "no hook found: are its functions named nar_... and marked with @hookimpl?"


def _why_no_names(plugin: PluginInfo) -> str:
    if "nar_architectures" not in plugin.hooks:
        return " It has no hook nar_architectures."
    return "" if plugin.installed else " Its library is not installed."


def _tried(architecture: NamedArchitecture) -> dict[str, Any]:
    """What came of one name; an error's first line."""
    from nar_plugin import api

    facts: dict[str, Any] = {**asdict(architecture), "method": "", "ops": 0, "error": ""}
    try:
        graph = api.trace(architecture.name)
    except NarError as error:
        return facts | {"error": str(error)}
    reason = f"its forward was not followed: {graph.reason}" if graph.method == "modules" else ""
    return facts | {"method": graph.method, "ops": len(graph), "error": reason}


def _traced_text(one: dict[str, Any]) -> str:
    described = ", ".join(one[key] for key in ("family", "task") if one[key])
    described += f", code: {one['licence']}" if one["licence"] else ""
    return f"{one['ops']:,} ops, traced ({one['method']}); {described}"
