"""`nar dev vae`: operation embeddings in variational autoencoders of two search spaces."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json

if TYPE_CHECKING:
    from nar_plugin.train.vae.measure.cells import Cells

WORK = Path("runs/vae")

app = typer.Typer(help="Operation embeddings in autoencoders (ICCVW 2021).", no_args_is_help=True)

Data = Annotated[Path, typer.Option(help="Folder of the space's file.")]
SpaceName = Annotated[
    str,
    typer.Option(
        "--space",
        help="enas (enas_final_structures6.txt) or nas201 (nas_bench_201_200_epochs.csv.gz).",
    ),
]
Work = Annotated[Path, typer.Option(help="Trainings and figures, for going on later.")]
Model = Annotated[
    list[str] | None,
    typer.Option(
        metavar="M",
        help="D-VAE, GCN, S-VAE, GraphRNN, DVAE-EMB, GCN-EMB; may be repeated. All.",
        show_default=False,
    ),
]
ProtocolName = Annotated[
    str,
    typer.Option("--protocol", help="reduced, for a processor; or paper, for a GPU."),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Of weights, order and noise.")]

Page = Annotated[
    Path | None,
    typer.Option(help="Write the tables of this page; its figures stand beside it, as JSON."),
]


@app.callback()
def vae() -> None:
    """Train and measure the autoencoders of docs/operation-embeddings.md (extra: train)."""


@app.command()
@only_results_on_stdout()
def train(
    data: Data,
    space: SpaceName = "enas",
    model: Model = None,
    protocol: ProtocolName = "reduced",
    seed: Seed = 0,
    work: Work = WORK,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train autoencoders, one after the other; resumes after the last whole epoch."""
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        import torch

        from nar_plugin.train.vae.fit import protocol as protocols
        from nar_plugin.train.vae.fit.runs import Run
        from nar_plugin.train.vae.fit.training import train as train_model
        from nar_plugin.train.vae.models import by_name
        from nar_plugin.train.vae.models.operations import write_operations
        from nar_plugin.train.vae.spaces import networks
        from nar_plugin.train.vae.spaces import space as spaces
    settings, chosen = protocols.protocol(protocol), by_name.known(model or by_name.MODELS)
    known = spaces.space(space)
    side, _ = networks.split(known.read(data))
    for name in chosen:
        run = Run(work, space, name, settings, seed)
        network = train_model(run, side.graphs, torch.device(device))
        write_operations(network, known.operations, run.folder)
        say(f"trained {run.folder}")


@app.command()
@only_results_on_stdout()
def measure(
    data: Data,
    space: SpaceName = "enas",
    model: Model = None,
    protocol: ProtocolName = "reduced",
    seed: Seed = 0,
    fits: Annotated[int, typer.Option(metavar="N", help="Gaussian processes a row.")] = 10,
    work: Work = WORK,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Measure Tables 1 and 2, and of ENAS section 4.4; what is measured already counts.

    Without --model, of every model whose training has ended.
    """
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.vae.fit import protocol as protocols
        from nar_plugin.train.vae.fit.runs import Run
        from nar_plugin.train.vae.measure import measurements, tables
        from nar_plugin.train.vae.measure.cells import Cells
        from nar_plugin.train.vae.models import by_name
        from nar_plugin.train.vae.spaces import space as spaces
    settings, chosen = protocols.protocol(protocol), by_name.known(model or by_name.MODELS)
    known = spaces.space(space)
    networks, cells = known.read(data), Cells(_cells_file(page, work))
    measurements.measure_data(known, networks, cells, fits)
    for name in chosen:
        run = Run(work, space, name, settings, seed)
        if model or run.has_ended:
            measurements.measure_model(known, networks, run, cells, fits)
    _tell(tables, cells, page, as_json)


@app.command()
@only_results_on_stdout()
def search(
    data: Data,
    space: SpaceName = "enas",
    model: Model = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Searches in each way.")] = 10,
    protocol: ProtocolName = "reduced",
    seed: Seed = 0,
    work: Work = WORK,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Search the latent space by expected improvement and at random; resumes after each search.

    Accuracies of ENAS are of shared weights. Where the file lacks a wiring, a surrogate answers;
    the best network is looked for among those that the file knows.
    """
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.vae.fit import protocol as protocols
        from nar_plugin.train.vae.fit.runs import Run
        from nar_plugin.train.vae.measure import tables
        from nar_plugin.train.vae.measure.cells import Cells
        from nar_plugin.train.vae.models import by_name
        from nar_plugin.train.vae.search import searches
        from nar_plugin.train.vae.spaces import space as spaces
    settings, chosen = protocols.protocol(protocol), by_name.known(model or ("DVAE-EMB", "D-VAE"))
    known = spaces.space(space)
    networks, cells = known.read(data), Cells(_cells_file(page, work))
    for name in chosen:
        run = Run(work, space, name, settings, seed)
        searches.measure_search(known, networks, run, cells, seeds)
    _tell(tables, cells, page, as_json)


@app.command()
@only_results_on_stdout()
def figures(
    folder: Annotated[Path, typer.Argument(help="Receives the PNG files.", show_default=False)],
    data: Data,
    protocol: ProtocolName = "reduced",
    seed: Seed = 0,
    work: Work = WORK,
) -> None:
    """Draw Figures 7 and 8; 3, 4, 9 and 10 of D-VAE and DVAE-EMB where trained."""
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.vae.fit import protocol as protocols
        from nar_plugin.train.vae.measure import drawing
        from nar_plugin.train.vae.spaces import enas
    for path in drawing.draw(enas.read(data), protocols.protocol(protocol), seed, work, folder):
        say(str(path))


@app.command()
@only_results_on_stdout()
def decode(
    data: Data,
    space: SpaceName = "enas",
    model: Annotated[str, typer.Option(metavar="M", help="A model that was trained.")] = "DVAE-EMB",
    count: Annotated[int, typer.Option("-n", metavar="N", help="Cells at most.")] = 10,
    protocol: ProtocolName = "reduced",
    seed: Seed = 0,
    work: Work = WORK,
) -> None:
    """Draw new cells from the latent space, one reference a line, for `nar find` and the like."""
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.vae.fit import protocol as protocols
        from nar_plugin.train.vae.fit.runs import Run
        from nar_plugin.train.vae.fit.training import trained
        from nar_plugin.train.vae.models import by_name
        from nar_plugin.train.vae.search import decoded_cells
        from nar_plugin.train.vae.spaces import networks
        from nar_plugin.train.vae.spaces import space as spaces
    (name,), known = by_name.known([model]), spaces.space(space)
    side, _ = networks.split(known.read(data))
    run = Run(work, space, name, protocols.protocol(protocol), seed)
    network, _ = trained(run, side.graphs)
    for reference in decoded_cells.decoded(network, known, count, seed):
        say(reference)


def _cells_file(page: Path | None, work: Path) -> Path:
    """Where the figures of a page are, or those of a folder of trainings."""
    return page.with_suffix(".json") if page else work / "cells.json"


def _tell(tables: ModuleType, cells: Cells, page: Path | None, as_json: bool) -> None:
    """Print the tables, and put them into the page."""
    if page:
        tables.write(page, cells.all)
    if as_json:
        show_json(cells.all)
    else:
        say(tables.text(cells.all))
