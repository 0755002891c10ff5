"""The `nar` command: one file for each command, all put together here.

Results go to stdout and everything else to stderr. Exit code 0: found; 1: a NarError, which says
what mends it; 2: wrong usage. torch is imported inside the commands, so that `nar --help` is fast.
"""

from __future__ import annotations

import errno
import sys
import traceback
from typing import Annotated

import typer

from nar_plugin.cli import (
    compare,
    dedupe,
    dev,
    doctor,
    draw,
    find,
    hub,
    index,
    map,
    motifs,
    novelty,
    plugins,
    serve,
    trace,
)
from nar_plugin.cli.moved import moved
from nar_plugin.cli.output import fail
from nar_plugin.cli.streams import stdout_for_results
from nar_plugin.errors import NarError
from nar_plugin.version import VERSION

__all__ = ["app", "main"]

app = typer.Typer(
    name="nar",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("find")(find.find)
app.command("trace")(trace.trace)
app.command("motifs")(motifs.motifs)
app.command("compare")(compare.compare)
app.command("draw")(draw.draw)
app.command("map")(map.map)
app.command("dedupe")(dedupe.dedupe)
app.command("novelty")(novelty.novelty)
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)
index.app.command("update")(hub.update)
index.app.command("use")(hub.use)
index.app.command("publish")(hub.publish)
app.add_typer(plugins.app, name="plugins")
app.add_typer(index.app, name="index")
app.add_typer(dev.app, name="dev")
for name in ("corpus", "train", "evaluate", "bench"):
    moved(app, name, f"nar dev {name}")
for name in ("write", "reencode"):
    moved(index.app, name, f"nar dev index {name}")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(VERSION)
        raise typer.Exit


@app.callback()
def nar(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Which known architectures does this PyTorch model resemble?"""


def main() -> None:
    """Run the command line of this process and exit."""
    with stdout_for_results():
        try:
            app()
        except NarError as error:
            fail(str(error))
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                fail("There is no space left where the result or a file goes.")
            else:
                traceback.print_exc()
                fail(
                    "This is a bug in nar-plugin or in a plugin: try again with "
                    "NAR_DISABLE_PLUGINS=*"
                )
    sys.exit(1)
