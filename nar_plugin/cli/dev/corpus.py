"""`nar dev corpus`: every named architecture of the installed libraries, traced."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json

app = typer.Typer(help="Build the corpus of architectures (extra: train).", no_args_is_help=True)

WORK = Path("runs/corpus")
CORPUS = Path("nar_plugin/data/corpus")

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="The same as --corpus.", show_default=False),
]
Corpus = Annotated[Path, typer.Option(help="Folder of the corpus.")]


class Engine(StrEnum):
    """Where a build traces models."""

    PROCESSES = "processes"
    RAY = "ray"


@app.callback()
def corpus() -> None:
    """Build the corpus of architectures (extra: train)."""


@app.command()
@only_results_on_stdout()
def build(
    folder: Folder = None,
    corpus: Corpus = CORPUS,
    work: Annotated[Path, typer.Option(help="Finished records, for going on later.")] = WORK,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many names.")] = None,
    library: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="Only names of this distribution, such as timm."),
    ] = None,
    isolated: Annotated[
        bool, typer.Option("--isolated", help="Also libraries that need an environment each.")
    ] = False,
    engine: Annotated[Engine, typer.Option(help="Where models are traced.")] = Engine.PROCESSES,
    as_json: Json = False,
) -> None:
    """Construct and trace every named architecture; resumes.

    Only names that are new, or whose library has another version, are traced.
    """
    with needs_train():
        from nar_plugin.train.corpus.build import build_corpus
        from nar_plugin.train.corpus.corpus import read_names
    corpus = folder or corpus
    build_corpus(
        corpus,
        work,
        workers=workers,
        limit=limit,
        libraries=library,
        isolated=isolated,
        engine=engine.value,
    )
    names = read_names(corpus)
    traced = [name for name in names if name["fingerprint"]]
    graphs = len({name["fingerprint"] for name in traced})
    if as_json:
        show_json({"names": len(names), "traced": len(traced), "graphs": graphs})
    else:
        say(f"{len(traced):,} of {len(names):,} names traced, {graphs:,} distinct graphs")


@app.command()
@only_results_on_stdout()
def move(
    folder: Folder = None,
    corpus: Corpus = CORPUS,
    work: Annotated[Path, typer.Option(help="Finished records, for going on later.")] = WORK,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    isolated: Annotated[
        bool, typer.Option("--isolated", help="Also libraries that need an environment each.")
    ] = False,
    touched: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only such operations can have changed."),
    ] = None,
) -> None:
    """Keep what a changed tracer traces as before (before a build).

    Some names of each kind are traced; where their graphs are what they were, all are kept.
    """
    with needs_train():
        from nar_plugin.train.corpus.moving import move_corpus
    left = move_corpus(
        folder or corpus, work, workers=workers, isolated=isolated, touched=touched or ()
    )
    say(f"{left:,} names are left for `nar dev corpus build`")


@app.command()
@only_results_on_stdout()
def failures(
    folder: Folder = None,
    corpus: Corpus = CORPUS,
    as_json: Json = False,
) -> None:
    """List every name that was not traced, with its cause."""
    with needs_train():
        from nar_plugin.train.corpus.corpus import read_names
    found = {
        name["name"]: name["failure"] for name in read_names(folder or corpus) if name["failure"]
    }
    if as_json:
        show_json(found)
        return
    for name, cause in found.items():
        say(f"{name}: {cause.splitlines()[0]}")


@app.command()
@only_results_on_stdout()
def diff(
    old: Annotated[Path, typer.Argument(help="Folder of a corpus.")],
    new: Annotated[Path, typer.Argument(help="Folder of another.")] = CORPUS,
    as_json: Json = False,
) -> None:
    """List the names that another corpus has otherwise."""
    with needs_train():
        from nar_plugin.train.corpus.diff import diff as compare
    found = asdict(compare(old, new))
    if as_json:
        show_json(found)
        return
    for word, names in found.items():
        say(f"{word}: {len(names):,}")
        for name in names:
            say(f"  {name}" + (f": {names[name]}" if isinstance(names, dict) else ""))


@app.command()
@only_results_on_stdout()
def card(
    folder: Folder = None,
    corpus: Corpus = CORPUS,
) -> None:
    """Write the data card, README.md and card.png, beside the data."""
    with needs_train():
        from nar_plugin.train.corpus.card import write_card
    corpus = folder or corpus
    write_card(corpus)
    say(f"{corpus / 'README.md'} and {corpus / 'card.png'}")
