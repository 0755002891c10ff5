"""`nar dev nge`: neural graph embedding beside what its paper compares it with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json

app = typer.Typer(help="Neural graph embedding for architecture search.", no_args_is_help=True)
Data = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the tables and images.")]
Work = Annotated[Path, typer.Option(help="Finished cells, for going on later.")]
Images = Annotated[int, typer.Option(metavar="N", help="Of each half.")]
Side = Annotated[int, typer.Option(metavar="N", help="Pixels of an image: 32, 16 or 8.")]
Width = Annotated[int, typer.Option(metavar="N", help="Channels at first.")]
Cells = Annotated[int, typer.Option(metavar="N", help="Of the supernet, or of each stage.")]
Epochs = Annotated[int, typer.Option(metavar="N", help="Of weights and architecture each.")]
WORK = Path("runs/nge")


@app.callback()
def nge() -> None:
    """Neural graph embedding for architecture search (extra: train)."""


@app.command()
@only_results_on_stdout()
def compare(
    data: Data,
    work: Work = WORK,
    reward: Annotated[
        str,
        typer.Option(metavar="R", help="What searches see: test (200 epochs), validation (12)."),
    ] = "test",
    seeds: Annotated[int, typer.Option(metavar="N", help="Searches of each method.")] = 40,
    queries: Annotated[int, typer.Option(metavar="N", help="Cells that a search asks for.")] = 300,
    as_json: Json = False,
) -> None:
    """Search the table of NAS-Bench-201 by policy gradient, with each method; resumes."""
    with needs_train():
        from nar_plugin.train.nge import comparison
    if reward not in comparison.REWARDS:
        raise typer.BadParameter(f"--reward is one of {', '.join(comparison.REWARDS)}.")
    rows = comparison.compare(data, work, reward, seeds, queries)
    if as_json:
        show_json(rows)
    else:
        say(comparison.table_text(rows))


@app.command()
@only_results_on_stdout()
def supernet(
    data: Data,
    work: Work = WORK,
    seeds: Annotated[int, typer.Option(metavar="N", help="Searches of each method.")] = 3,
    images: Images = 1024,
    side: Side = 16,
    width: Width = 8,
    cells: Cells = 1,
    epochs: Epochs = 6,
    as_json: Json = False,
) -> None:
    """Search NAS-Bench-201 by a small supernet, with each method; resumes.

    The accuracy is that of the table. CUDA is used where there is one.
    """
    with needs_train():
        from nar_plugin.train.nge import supernet_runs
    size = supernet_runs.Size(images, side, width, cells, epochs)
    rows = supernet_runs.compare_supernets(data, work, size, seeds)
    if as_json:
        show_json(rows)
    else:
        say(supernet_runs.supernet_table(rows))


@app.command()
@only_results_on_stdout()
def search(
    data: Data,
    work: Work = WORK,
    method: Annotated[
        str, typer.Option(metavar="M", help="nge, nge-mean, baseline, plain or rnn.")
    ] = "nge",
    seed: Annotated[int, typer.Option(metavar="N", help="Of weights and images.")] = 0,
    images: Images = 512,
    side: Side = 16,
    width: Width = 4,
    cells: Cells = 5,
    epochs: Epochs = 5,
    as_json: Json = False,
) -> None:
    """Search the DARTS space on a few images and print the genotype; resumes.

    The size of the paper: --images 25000 --side 32 --width 16 --cells 8 --epochs 25 (the images
    at hand are 20,000, two halves of 10,000). CUDA is used where there is one.
    """
    with needs_train():
        from nar_plugin.train.nge import alternatives, supernet_runs
    if method not in alternatives.METHODS:
        raise typer.BadParameter(f"--method is one of {', '.join(alternatives.METHODS)}.")
    size = supernet_runs.Size(images, side, width, cells, epochs)
    found = supernet_runs.search_darts(data, work, size, method, seed)
    if as_json:
        show_json(found)
    else:
        say(f"darts:{found['genotype']}")


@app.command()
@only_results_on_stdout()
def distinct(data: Data, work: Work = WORK, as_json: Json = False) -> None:
    """Count the designs among NAS-Bench-201's 15,625 strings; resumes."""
    with needs_train():
        from nar_plugin.train.nge import distinct_cells
    counts = distinct_cells.count_designs(data, work)
    if as_json:
        show_json(counts)
    else:
        say("\n".join(f"{count:>6,} {name}" for name, count in counts.items()))
