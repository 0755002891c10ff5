"""Measures methods on splits, cell by cell: each is kept as JSON and never measured twice."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from tqdm import tqdm

from nar_plugin.errors import NarError
from nar_plugin.mining import MINING_VERSION
from nar_plugin.train.corpus import splits
from nar_plugin.train.corpus.corpus import CorpusGraph, read_corpus, read_names
from nar_plugin.train.corpus.splits import Split, near_duplicates, split_corpus
from nar_plugin.train.fit.checkpoints import write_json
from nar_plugin.train.measure.figures import SAMPLE, Panel, panel, save_sample
from nar_plugin.train.measure.methods import METHODS, Method
from nar_plugin.train.measure.metrics import NothingToAsk, Vectors, retrieval_quality
from nar_plugin.train.measure.twin_pairs import Twin, twin_quality, twin_split, twins_table
from nar_plugin.train.measure.unseen import cells as likeness
from nar_plugin.train.measure.unseen.scoring import Asked, Comparer, OfNames, asked
from nar_plugin.train.paper.nas import NAS_VERSION, darts_corpus

# Version of the mining from which on the cells of recipes that read motifs stand; each says by
# which it was measured. Raise it to measure them anew: mining 7 cuts 6% of the graphs otherwise.
MINING = "6"
SPLITS = (*get_args(splits.Name), "twins", "nas", *likeness.SPLITS)
USUAL = tuple(name for name in SPLITS if name != "nas")  # it makes 30,000 graphs: by name alone
NAS_COUNT = 30_000  # section 4.1
_FACTS = ("name", "fingerprint", "family", "parent", "composed", "params", "method")  # of a name
_LABELLING = "a family for a design"  # how `splits.families` labels graphs by their names
_logger = logging.getLogger("nar_plugin")


@dataclass(frozen=True)
class Cell:
    """One measurement: a method, trained on one split with one seed."""

    method: str
    split: str
    seed: int
    validation: bool = False

    def __str__(self) -> str:
        """Such as `wl unseen 0`."""
        side = " validation" if self.validation else ""
        return f"{self.method} {self.split} {self.seed}{side}"


def all_cells() -> list[Cell]:
    """Every method on every split, with the seeds of the method."""
    return [
        Cell(name, split, seed)
        for name, entry in METHODS.items()
        for split in SPLITS
        if split not in entry.skips
        for seed in entry.seeds
    ]


def evaluate(corpus: Path, cells: Sequence[Cell], work: Path) -> None:
    """Measure the cells that the work folder does not hold.

    Args:
        corpus: Folder of a corpus.
        cells: What to measure.
        work: Receives a JSON file for each cell, and the state of trainings.

    Raises:
        NarError: A cell names no method or split, or the corpus is too small for all of them. If
            it is too small for some, these are left out, with a warning.
    """
    data = _Data(corpus)
    for cell in cells:
        for word, name, known in (
            ("method", cell.method, METHODS),
            ("split", cell.split, SPLITS),
        ):
            if name not in known:
                raise NarError(f"There is no {word} {name!r} to evaluate: {', '.join(known)}.")
    wanted = dict.fromkeys(cells)
    missing = [cell for cell in wanted if not _path(cell, data, work).is_file()]
    refused: NarError | None = None
    for cell in tqdm(missing, unit="cell", disable=not missing):
        _logger.info("measuring %s", cell)
        try:
            found = _measured(cell, data, work)
        except NothingToAsk as error:
            refused = error
            _logger.warning("%s is left out: %s", cell, error)
        else:
            write_json(found, _path(cell, data, work))
    if refused and not any(_path(cell, data, work).is_file() for cell in wanted):
        raise NarError(f"There is nothing to evaluate: {refused}")


def adopt(published: Path, corpus: Path, work: Path) -> None:
    """Take over the cells of a page, so that a clone goes on where the page stands.

    Cells of another corpus or of other settings are left alone.

    Args:
        published: The `quality.json` beside the page; may be missing.
        corpus: Folder of a corpus.
        work: Receives the cells that it does not hold.
    """
    data = _Data(corpus)
    for found in json.loads(published.read_text()) if published.is_file() else ():
        cell = Cell(**found["cell"])
        if cell.method not in METHODS or found["key"] != _key(cell, data):
            continue
        if not _path(cell, data, work).is_file():
            write_json(found, _path(cell, data, work))


def read_cells(corpus: Path, work: Path) -> Iterator[dict[str, Any]]:
    """The finished cells of this corpus and of the settings that the methods have now."""
    data = _Data(corpus)
    for path in sorted(work.glob("*/*.json")):
        found: dict[str, Any] = json.loads(path.read_text())
        cell = Cell(**found["cell"])
        if cell.method in METHODS and path == _path(cell, data, work):
            yield found


def panels(corpus: Path, cells: Sequence[Cell], work: Path) -> list[Panel]:
    """The panels of Figure 5 for those of the cells that were measured and have dense vectors."""
    data = _Data(corpus)
    folders = {cell: _path(cell, data, work).with_suffix("") for cell in dict.fromkeys(cells)}
    return [
        panel(folder / SAMPLE, cell.method, cell.split)
        for cell, folder in folders.items()
        if (folder / SAMPLE).is_file()
    ]


def corpus_sha256(corpus: Path) -> str:
    """The hash of what measurements depend on: names, labels, and fingerprints for the graphs.

    Motifs are not in it: methods that read them say so (`Entry.motifs`).
    """
    rows = [[name[fact] for fact in _FACTS] for name in read_names(corpus)]
    return hashlib.sha256(json.dumps([_LABELLING, *sorted(rows)]).encode()).hexdigest()


class _Data:
    """The corpus and the NAS data, read when a cell wants them."""

    def __init__(self, corpus: Path) -> None:
        self._corpus = corpus
        self._nas: list[CorpusGraph] | None = None
        self._nas_mined = False
        self._embedded: dict[tuple[str, bool], tuple[Vectors, float]] = {}

    @cached_property
    def sha256(self) -> str:
        return corpus_sha256(self._corpus)

    @cached_property
    def real(self) -> list[CorpusGraph]:
        return [item for item in read_corpus(self._corpus) if item.is_searched]

    def nas(self, method: str) -> list[CorpusGraph]:
        """The search space, with motifs from the first method on that reads them."""
        mined = METHODS[method].cuts_at_motifs
        if self._nas is None or (mined and not self._nas_mined):
            self._nas, self._nas_mined = darts_corpus(NAS_COUNT, seed=0, mined=mined), mined
        return self._nas

    def split(self, cell: Cell) -> tuple[list[CorpusGraph], Split, list[Twin]]:
        """The graphs, their split, and the pairs that ask in the split of the twins."""
        if cell.split == "twins":
            return self.real, *twin_split(self.real, cell.seed, validation=cell.validation)
        if cell.split == "nas":
            items = self.nas(cell.method)
            return items, split_corpus(items, "unique", cell.seed, validation=cell.validation), []
        name = cast(splits.Name, cell.split)
        split = split_corpus(self.real, name, cell.seed, validation=cell.validation)
        return self.real, split, []

    def embedded(
        self, cell: Cell, method: Method, items: Sequence[CorpusGraph]
    ) -> tuple[Vectors, float]:
        """The rows and the seconds they took.

        Those of the last training-free method are kept: they are the same on all splits.
        """
        key = (cell.method, cell.split == "nas")
        if key not in self._embedded:
            started = time.perf_counter()
            vectors = method.embed(items)
            self._embedded = {key: (vectors, time.perf_counter() - started)}
        found = self._embedded[key]
        if METHODS[cell.method].varies:
            self._embedded = {}
        return found


def _measured(cell: Cell, data: _Data, work: Path) -> dict[str, Any]:
    if cell.split in likeness.SPLITS:
        return _compared(cell, data, work)
    items, split, twins = data.split(cell)
    if cell.split == "twins" and not twins:
        raise NothingToAsk("the corpus has no pair of twins.tsv.")
    folder = _path(cell, data, work).with_suffix("")
    method = METHODS[cell.method].make(cell.seed, folder)
    started = time.perf_counter()
    method.fit([items[graph] for graph in split.graphs[split.train]], split.labels[split.train])
    fitted = time.perf_counter()
    earlier = getattr(method, "earlier", 0.0)  # seconds of a training that was interrupted
    vectors, seconds = data.embedded(cell, method, items)
    save_sample(folder, vectors, items, split.graphs[split.queries], real=cell.split != "nas")
    scores: Vectors | Asked = vectors
    if isinstance(method, Comparer):
        compared = asked(method, items)
        scores = OfNames(compared, split.graphs) if cell.split == "paper" else compared
    elif cell.split == "paper":
        scores = vectors[split.graphs]
    if cell.split == "twins":
        quality: dict[str, Any] = asdict(twin_quality(scores, items, twins))
    else:
        found = retrieval_quality(scores, split.labels, split.queries, split.candidates)
        if not found.queries:
            raise NothingToAsk("no query has another graph of its family in the corpus.")
        quality = found.to_dict()
    taken = {"fit": earlier + fitted - started, "embed": seconds}
    return _record(cell, data, method, quality, _facts(items, split, twins), taken)


def _compared(cell: Cell, data: _Data, work: Path) -> dict[str, Any]:
    """A cell of `edits`, `kin` or `triples`."""
    path, entry = _path(cell, data, work), METHODS[cell.method]
    method = entry.make(cell.seed, path.with_suffix(""))
    side = "-validation" if cell.validation else ""
    of = hashlib.sha256(f"{data.sha256} {likeness.version(cell.split)}".encode()).hexdigest()[:12]
    found = likeness.measure(
        *(cell.split, data.real, method, cell.seed, path.parent / f"made-{cell.seed}{side}-{of}"),
        validation=cell.validation,
    )
    return _record(cell, data, method, found.quality, found.facts, found.seconds)


def _record(
    cell: Cell,
    data: _Data,
    method: Method,
    quality: dict[str, Any],
    facts: dict[str, int],
    seconds: dict[str, float],
) -> dict[str, Any]:
    """What is kept of a cell."""
    return {
        "cell": asdict(cell),
        "key": _key(cell, data),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "quality": quality,
        "split": facts,
        "settings": dict(METHODS[cell.method].settings),
        "mining": MINING_VERSION if METHODS[cell.method].motifs else None,
        "parameters": method.parameters,
        "machine": _machine(),
        "seconds": seconds,
    }


def _machine() -> str:
    """What a method that can use a GPU ran on: its name, or `CPU`."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def _facts(items: Sequence[CorpusGraph], split: Split, twins: Sequence[Twin]) -> dict[str, int]:
    return {
        "train": len(split.train),
        "queries": len(split.queries),
        "candidates": len(split.candidates),
        "families": len(np.unique(split.labels[split.queries])),
        "near_duplicates": near_duplicates(items, split),
        "pairs": len(twins),
    }


def _path(cell: Cell, data: _Data, work: Path) -> Path:
    """Where a cell is kept."""
    return work / cell.split / f"{cell.method}-{cell.seed}-{_key(cell, data)}.json"


def _key(cell: Cell, data: _Data) -> str:
    """A hash of the data, the settings and the cell."""
    entry = METHODS[cell.method]
    of = f"nas {NAS_COUNT}" if cell.split == "nas" else data.sha256
    if cell.split == "twins":
        of += twins_table()
    if cell.split in likeness.SPLITS:
        of += likeness.version(cell.split)
    if cell.split == "nas" or entry.settings.get("nas"):
        of += f" data {NAS_VERSION}"
    if entry.motifs:
        of += f" motifs {MINING}"
    text = json.dumps([of, dict(entry.settings), asdict(cell)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
