"""`nar dev bench`: figures that a reader can repeat."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nar_plugin.cli.dev.bench_checkpoints import checkpoints
from nar_plugin.cli.dev.bench_gpu import gpu
from nar_plugin.cli.dev.bench_index import index, load
from nar_plugin.cli.dev.bench_motifs import motifs
from nar_plugin.cli.dev.bench_shards import shards
from nar_plugin.cli.dev.bench_trace import trace
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import Json, only_results_on_stdout, say, show, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from nar_plugin.bench.coverage import Coverage

WORK = Path("runs/coverage")

app = typer.Typer(help="Measure nar-plugin on this machine.", no_args_is_help=True)

REFERENCES = [
    "timm:resnet50",
    "transformers:bert",
    "timm:vit_base_patch16_224",
    "transformers:gpt2",
    "transformers:llama",
]

_HEADINGS = {"bare_meta_forward": "bare", "trace_to_bare": "ratio", "find_similar": "whole"}


@app.callback()
def bench() -> None:
    """Measure nar-plugin on this machine."""


app.command()(trace)
app.command()(motifs)
app.command()(index)
app.command()(load)
app.command()(checkpoints)

app.command()(gpu)
app.command()(shards)


@app.command()
@only_results_on_stdout()
def query(
    references: Annotated[
        list[str] | None, typer.Argument(metavar="REF...", help="Models to ask about.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="The median of so many runs.")] = 7,
    as_json: Json = False,
) -> None:
    """Time each stage of a warm query, on one core."""
    from rich.table import Table

    from nar_plugin.bench.query import STAGES, time_query

    results = [time_query(reference, repeats) for reference in references or REFERENCES]
    if as_json:
        show_json(results)
        return
    table = Table(
        title=f"milliseconds, median of {repeats}, one core",
        caption="bare: the model's own forward on the meta device; ratio: trace to bare; "
        "whole: find_similar",
    )
    table.add_column("model", no_wrap=True)
    for stage in STAGES:
        table.add_column(_HEADINGS.get(stage, stage), justify="right", no_wrap=True)
    for result in results:
        table.add_row(str(result["model"]), *(_cell(result, stage) for stage in STAGES))
    show(table)


@app.command()
@only_results_on_stdout()
def coverage(
    libraries: Annotated[
        list[str] | None,
        typer.Argument(metavar="LIBRARY...", help="Distributions, such as timm; none for all."),
    ] = None,
    module: Annotated[
        str | None, typer.Option(help="A module whose public functions each build one model.")
    ] = None,
    work: Annotated[Path, typer.Option(help="Finished records, for going on later.")] = WORK,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    as_json: Json = False,
) -> None:
    """Trace every named architecture; list failures with their causes."""
    with needs_train():
        from nar_plugin.bench.coverage import measure_coverage
    rows = measure_coverage(
        work / "records.jsonl", libraries=libraries or (), module=module, workers=workers
    )
    if as_json:
        show_json([asdict(row) for row in rows])
        return
    show(coverage_table(rows))
    for row in rows:
        for name, cause in row.failures.items():
            say(f"{name}: {cause}")


def _cell(result: dict[str, float | str], stage: str) -> str:
    value = result[stage]
    if stage == "trace_to_bare" or not isinstance(value, float):
        return f"{value:.2f}" if isinstance(value, float) else str(value)
    share = value / float(result["find_similar"])
    parts = ("trace", "mine", "encode", "search")
    number = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
    return f"{number} ({share:.0%})" if stage in parts else number


def coverage_table(rows: list[Coverage]) -> Table:
    """One line for each library."""
    from rich.table import Table

    table = Table(caption="constructed of listed; traced on meta tensors of constructed")
    table.add_column("library", no_wrap=True)
    for heading in ("version", "listed", "constructed", "traced", "seconds each"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.library,
            row.version or "",
            f"{row.listed:,}",
            _share(row.constructed, row.listed),
            _share(row.traced, row.constructed),
            f"{row.seconds / max(row.listed, 1):.2f}",
        )
    return table


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else "0"
