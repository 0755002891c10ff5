"""`nar doctor`: what is installed, what works, and how one model is traced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, show, show_json

if TYPE_CHECKING:
    from rich.console import RenderableType


@only_results_on_stdout()
def doctor(
    reference: Annotated[
        str | None, typer.Argument(metavar="REF", help="A model to trace.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Report versions, index and plugins; with REF, how that is traced."""
    from nar_plugin.cli.diagnosis import diagnose

    findings = diagnose(reference)
    if as_json:
        show_json(findings)
    else:
        show(_in_sections(findings))
    if "error" in findings.get("trace", ()):
        raise typer.Exit(1)


def _in_sections(findings: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """A heading and a list of facts for each part."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from nar_plugin.report.table import fact_table

    lines: list[RenderableType] = []
    for part, facts in findings.items():
        lines.append(Text(part, style="bold"))
        table = fact_table({what: _in_words(value) for what, value in facts.items()})
        lines.append(Padding(table, (0, 0, 0, 2), expand=False))
    return Group(*lines)


def _in_words(value: Any) -> str:
    if value is None:
        return "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
