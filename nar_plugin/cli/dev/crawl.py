"""`nar dev corpus crawl`: the architectures of models on the Hub, from their configs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import Corpus, Folder
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import only_results_on_stdout, say

WORK = Path("runs/crawl")


@only_results_on_stdout()
def crawl(
    folder: Folder = None,
    corpus: Corpus = WORK / "corpus",
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ids of models, one owner/name a line.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="T", help="Only of this task, such as fill-mask.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="So many of the most downloaded.")] = 1000,
    work: Annotated[Path, typer.Option(help="What was read, for going on later.")] = WORK,
    pace: Annotated[float, typer.Option(min=0, help="Seconds between two models.")] = 0.5,
    workers: Annotated[int, typer.Option(min=1, help="Processes that trace.")] = 2,
) -> None:
    """Read the configs of models on the Hub and trace them; resumes.

    The most downloaded ones, of one task or of all, or those that a file lists. No weights and no
    code are fetched.
    """
    with needs_train():
        from nar_plugin.train.corpus import crawl as crawling
        from nar_plugin.train.corpus.hub_configs import most_downloaded, read_ids
    if file is not None and task is not None:
        raise typer.BadParameter("--task goes with the most downloaded, not with --file")
    ids = read_ids(file) if file else most_downloaded(task, limit)
    rows = crawling.crawl(folder or corpus, work, ids, pace=pace, workers=workers)
    traced = [row for row in rows if row.get("fingerprint")]
    graphs = len({row["fingerprint"] for row in traced})
    say(f"{len(traced):,} of {len(rows):,} models traced, {graphs:,} distinct graphs")
