"""`nar dev bench motifs`: how well mined motifs meet the blocks that models declare."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, show, show_json
from nar_plugin.errors import NarError

if TYPE_CHECKING:
    from nar_plugin.bench.boundaries import Agreement, Summary


class Models(StrEnum):
    """The lists of models that the figures are taken on."""

    DEVELOPMENT = "development"
    HELD_OUT = "held_out"
    FRESH = "fresh"
    UNTOUCHED = "untouched"


@only_results_on_stdout()
def motifs(
    references: Annotated[
        list[str] | None, typer.Argument(metavar="REF...", help="Models to compare.")
    ] = None,
    models: Annotated[
        Models, typer.Option("--list", help="Without REF: the models of this list.")
    ] = Models.HELD_OUT,
    as_json: Json = False,
) -> None:
    """Compare blocks and depths with those that libraries declare."""
    from nar_plugin.bench.boundaries import measure, model_lists, summary

    results: list[Agreement] = []
    undeclared: list[str] = []
    failed: dict[str, str] = {}
    for reference in references or model_lists()[models.value]:
        try:
            result = measure(reference)
        except NarError as error:
            failed[reference] = str(error)
            continue
        if result is None:
            undeclared.append(reference)
        else:
            results.append(result)
    whole = summary(results) if results else None
    if as_json:
        show_json(
            {
                "summary": asdict(whole) if whole else None,
                "models": [asdict(result) for result in results],
                "undeclared": undeclared,
                "failed": failed,
            }
        )
        return
    _show(results, _caption(whole, undeclared, failed))


def _show(results: list[Agreement], caption: str) -> None:
    from rich.table import Table

    table = Table(caption=caption)
    table.add_column("model", overflow="fold")
    for heading in ("ops", "macro", "shift", "F1", "F1 everywhere", "depths"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in sorted(results, key=lambda result: (result.f1, result.model)):
        found = sum(met for _, _, met in result.depths)
        table.add_row(
            result.model,
            f"{result.ops:,}",
            f"{result.nodes / result.ops:.3f}",
            str(result.shift),
            f"{result.f1:.2f}",
            f"{result.f1_everywhere:.2f}",
            f"{found} of {len(result.depths)}",
        )
    show(table)


def _caption(whole: Summary | None, undeclared: list[str], failed: dict[str, str]) -> str:
    refused = "".join(f" {reference} failed: {text}" for reference, text in failed.items())
    if whole is None:
        return f"No model declares a stack of blocks.{refused}"
    size = f"{whole.macro_size:.3f}" if whole.macro_size is not None else "-"
    return (
        f"{whole.models} models: F1 {whole.f1:.3f} in their stacks, {whole.f1_everywhere:.3f} "
        f"everywhere; depths {whole.depths:.1%} of {whole.stacks} stacks; macro nodes by "
        f"operations {size} (median of {whole.large} models of over 1,000 operations). "
        f"{len(undeclared)} models declare no stack.{refused}"
    )
