"""`nar dev evaluate`: how well each method finds graphs of a family, unseen families, and twins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json
from nar_plugin.errors import NarError

WORK = Path("runs/evaluate")
PAGES = Path("docs/benchmarks")


@only_results_on_stdout()
def evaluate(
    everything: Annotated[
        bool, typer.Option("--all", help="Every method on every split, with all its seeds.")
    ] = False,
    method: Annotated[
        list[str] | None, typer.Option(metavar="M", help="A method; may be repeated.")
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S", help="paper, unique, unseen, twins, edits, kin, triples; all but nas."
        ),
    ] = None,
    seed: Annotated[list[int] | None, typer.Option(metavar="N", help="Seeds; 0.")] = None,
    validation: Annotated[
        bool, typer.Option("--validation", help="On the validation sides, which choose settings.")
    ] = False,
    figure: Annotated[
        bool, typer.Option("--figure", help="Draw the embeddings by t-SNE: PNG and HTML.")
    ] = False,
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    work: Annotated[Path, typer.Option(help="Finished cells, for going on later.")] = WORK,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Receives quality.md and quality.json; docs/benchmarks, of another --corpus WORK.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure retrieval, cell by cell (extra: train); resumes.

    Cells of the page that were measured on this corpus with these settings count as measured.

    Prints the tables of the measured splits, or their cells as JSON; without --validation the page
    is written as well, from all cells of this corpus that are finished.
    """
    with needs_train():
        from nar_plugin.train.measure import evaluate as measuring
        from nar_plugin.train.measure.figures import draw
        from nar_plugin.train.measure.quality import table, write_page
    folder = folder or (PAGES if corpus == CORPUS else work)  # its page is not overwritten
    cells = measuring.all_cells() if everything else []
    cells += [
        measuring.Cell(name, part, number, validation)
        for name in method or ()
        for part in split or measuring.USUAL
        for number in seed or (0,)
    ]
    measuring.adopt(folder / "quality.json", corpus, work)
    measuring.evaluate(corpus, cells, work)
    finished = list(measuring.read_cells(corpus, work))
    shown = {
        part: [
            cell
            for cell in finished
            if cell["cell"]["split"] == part and cell["cell"]["validation"] == validation
        ]
        for part in measuring.SPLITS
        if not split or part in split
    }
    if as_json:
        show_json([cell for part in shown.values() for cell in part])
    else:
        for part in shown:
            if shown[part]:
                say(f"{part}\n{table(shown[part])}")
    if figure:
        drawn = measuring.panels(corpus, cells, work)
        if not drawn:
            raise NarError("None of these cells has vectors to draw. Name a trained --method.")
        draw(drawn, folder)
    if not validation:
        write_page(finished, folder, measuring.corpus_sha256(corpus))
