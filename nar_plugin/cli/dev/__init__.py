"""`nar dev`: what the maintainers of the embedded default use: corpus, encoder, index, figures."""

from __future__ import annotations

import typer

from nar_plugin.cli.dev import bench, calibrate, corpus, crawl, evaluate, nge, train, vae
from nar_plugin.cli.dev.index_reencode import reencode
from nar_plugin.cli.dev.index_write import write

app = typer.Typer(help="Make and measure the embedded default.", no_args_is_help=True)
index = typer.Typer(help="Write an index, or its vectors anew.", no_args_is_help=True)


@app.callback()
def dev() -> None:
    """Make and measure the embedded default: corpus, encoder, index (extra: train)."""


@index.callback()
def _index() -> None:
    """Write an index, or its vectors anew."""


corpus.app.command("crawl")(crawl.crawl)
index.command("write")(write)
index.command("reencode")(reencode)
app.add_typer(corpus.app, name="corpus")
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("calibrate")(calibrate.calibrate)
app.add_typer(index, name="index")
app.add_typer(nge.app, name="nge")
app.add_typer(bench.app, name="bench")
app.add_typer(vae.app, name="vae")
