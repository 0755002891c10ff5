"""`nar dev bench index` and `load`: what a search costs, and what loading an index does."""

from __future__ import annotations

from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show, show_json


@only_results_on_stdout()
def index(
    rows: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="ROWS...",
            help="Sizes; 10,000 to 1,000,000.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[int, typer.Option(min=1, help="Searches for each size.")] = 200,
    as_json: Json = False,
) -> None:
    """Time searches of indexes of synthetic vectors."""
    from rich.table import Table

    from nar_plugin.bench.index import SIZES, measure_index

    results = [measure_index(size, queries=queries) for size in sorted(rows or SIZES)]
    if as_json:
        show_json(results)
        return
    table = Table(
        caption="vectors in half precision with the mean and covariance of the index that answers; "
        "one thread, warm; CPU: p50 without waiting for other programs; batch: a thousand searches "
        "at once; memory: the process's most while building and searching, without the vectors, "
        "which are mapped"
    )
    names = "rows kind build_s disk_MB memory_MB p50_ms CPU_ms p95_ms batch_ms recall@10"
    headings = [name.replace("_", " ") for name in names.split()]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            f"{result['rows']:,}",
            result["kind"],
            f"{result['build_s']:.1f}",
            f"{result['disk_mb']:,.0f}",
            f"{result['memory_mb']:,.0f}",
            f"{result['p50_ms']:.2f}",
            f"{result['cpu_ms']:.2f}",
            f"{result['p95_ms']:.2f}",
            f"{result['batch_ms']:,.0f}",
            f"{result['recall']:.3f}",
        )
    show(table)


@only_results_on_stdout()
def load(as_json: Json = False) -> None:
    """Time the loading of the index that ships."""
    from nar_plugin.bench.index import measure_load

    found = measure_load()
    if as_json:
        show_json(found)
        return
    say(
        f"{found['rows']:,} rows loaded in {found['p50_ms']:.0f} ms in the median, "
        f"{found['cpu_ms']:.0f} ms of it CPU; {found['least_ms']:.0f} ms at best"
    )
