"""`nar dev bench shards`: sharded search on a local cluster, beside one index."""

from __future__ import annotations

from typing import Annotated

import typer

from nar_plugin.cli.output import only_results_on_stdout, show_json


@only_results_on_stdout()
def shards(
    rows: Annotated[int, typer.Argument(min=100, help="Synthetic rows.")] = 1_000_000,
    shards: Annotated[int, typer.Option(min=1, help="Ranges of them.")] = 4,
    replicas: Annotated[int, typer.Option(min=1, help="From 2 on a node is killed too.")] = 1,
    nodes: Annotated[int, typer.Option(min=1, help="Of the cluster, all here.")] = 2,
    queries: Annotated[int, typer.Option(min=2, help="One by one.")] = 50,
) -> None:
    """Compare one index with shards of it on a Ray cluster of this machine (extra: ray)."""
    from nar_plugin.bench.sharded import measure_sharded

    show_json(measure_sharded(rows, shards=shards, replicas=replicas, nodes=nodes, queries=queries))
