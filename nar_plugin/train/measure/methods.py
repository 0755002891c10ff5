"""The methods that are measured, by name: training-free ones and trained encoders alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from nar_plugin.encoder.labels import LABELS_VERSION
from nar_plugin.likeness import PULL, SCALE
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.corpus.splits import IntArray
from nar_plugin.train.fit.recipe import Settings
from nar_plugin.train.measure import baselines
from nar_plugin.train.measure.likeness_method import LikenessMethod
from nar_plugin.train.measure.metrics import Vectors
from nar_plugin.train.paper.ablations import TUNED, Recipe


class Method(Protocol):
    """What is fitted on the training side of a split and then embeds every graph."""

    parameters: int  # learned numbers, known after `fit`; 0 of a training-free method

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Train.

        Args:
            items: The t graphs to train on, and nothing else of the corpus; in the split of the
                paper a graph comes once for each of its names.
            labels: int64[t], the family of each.
        """

    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """float32[n, d], dense or sparse: rows of length 1, compared by cosine."""


@dataclass(frozen=True)
class Entry:
    """One method of the tables.

    Attributes:
        make: From a seed and a folder for the state of an interrupted training to the method.
        settings: What it was made with; cells of other settings are measured anew.
        seeds: What `nar dev evaluate --all` measures: each seeds the split and the training.
        varies: Whether its rows depend on the seed or on what it was trained on.
        skips: Splits that `nar dev evaluate --all` leaves out, where they would say nothing.
        motifs: Whether it reads motifs; it is measured anew when they are cut otherwise.
    """

    make: Callable[[int, Path], Method]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0, 1, 2)
    varies: bool = True
    skips: tuple[str, ...] = ()
    motifs: bool = False

    @property
    def cuts_at_motifs(self) -> bool:
        """Whether it reads where motifs begin, beside the order of operations."""
        return self.motifs and self.settings["splitting"] == "motifs"


class TrainingFree:
    """Rows from the graphs alone."""

    parameters = 0

    def __init__(self, rows: Callable[[Sequence[ArchitectureGraph]], Vectors]) -> None:
        self._rows = rows

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Do nothing."""

    def embed(self, items: Sequence[CorpusGraph]) -> Vectors:
        """The rows of all graphs at once."""
        return self._rows([item.graph for item in items])


def _free(rows: Callable[..., Vectors], **settings: Any) -> Entry:
    def make(seed: int, folder: Path) -> Method:
        return TrainingFree(partial(rows, **settings))

    return Entry(make, settings, varies=False)


def _whole(convolution: Literal["gcn", "gat"], **settings: Any) -> Entry:
    """A network on whole graphs, with the settings of the paper's second stage."""
    recipe = Recipe(**settings)

    def make(seed: int, folder: Path) -> Method:
        from nar_plugin.train.measure.whole_graph import WholeGraph  # torch_geometric takes seconds

        return WholeGraph(convolution, recipe, seed, folder)

    return Entry(make, {"convolution": convolution, **recipe.told()}, seeds=(0,))


def _paper(of: Recipe, *, skips: tuple[str, ...] = (), **settings: Any) -> Entry:
    """A recipe, or one of its ablations."""
    recipe = replace(of, **settings)

    def make(seed: int, folder: Path) -> Method:
        from nar_plugin.train.paper.method import PaperMethod

        return PaperMethod(recipe, seed, folder)

    return Entry(make, recipe.told(), seeds=(0,), skips=skips, motifs=True)


def _default() -> Entry:
    """The recipe that ships."""
    settings = Settings()
    return Entry(
        lambda seed, folder: LikenessMethod(replace(settings, seed=seed)),
        {**asdict(settings), "labels": LABELS_VERSION, "pull": PULL, "scale": SCALE},
    )


PAPER = Recipe()
# Depths were chosen on the validation sides (docs/decisions). Whoever adds a method adds a
# line: `METHODS["name"] = Entry(...)`.
METHODS: dict[str, Entry] = {
    "random": Entry(lambda seed, folder: TrainingFree(partial(baselines.random_rows, seed=seed))),
    "ops": _free(baselines.op_histogram),
    "widths": _free(baselines.width_histogram),
    "wl": _free(baselines.wl_histogram, depth=1),
    "wl-attributes": _free(baselines.wl_histogram, depth=2, attributes=True),
    "wl-widths": _free(baselines.wl_beside_widths, depth=2),
    "gcn": _whole("gcn"),
    "gat": _whole("gat"),
    "gcn-learned": _whole("gcn", operations="learned"),
    "gat-learned": _whole("gat", operations="learned"),
    "default": _default(),
    "paper": _paper(PAPER),
    "paper-nodes": _paper(PAPER, splitting="nodes"),
    "paper-count": _paper(PAPER, splitting="count"),
    "paper-random": _paper(PAPER, splitting="random"),
    "paper-ce": _paper(PAPER, objective="ce"),
    "paper-cl": _paper(PAPER, objective="cl"),
    "paper-nas": _paper(PAPER, nas=30_000, skips=("nas",)),
    "paper-learned": _paper(PAPER, operations="learned"),
    "paper-sampled": _paper(PAPER, splitting="sequence", longest=TUNED.longest),
    "paper-tuned": _paper(TUNED),
}
