"""The recipe `default`: a vector for each label, learned from what the field calls relatives.

Three levels of the reviewed taxonomy are told apart at once, each by contrast with class vectors
(Eq. 6 of the paper, with a temperature): the family of a graph, the family that it descends from,
and the one above. Graphs of one family also attract each other (Eq. 5). So a family lies near its
relatives, and the encoder can say which strangers are near.

In training labels and whole views are left out at random, since a new design has labels that
nobody has seen; and half of the graphs are seen a second time, after up to four edits that a
designer would make (`nar_plugin.train.fit.edits`), as further members of their families.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from nar_plugin.encoder import ArchitectureEncoder, save_encoder
from nar_plugin.encoder.labels import LABELS_VERSION, VIEWS, Counts, counts_of, joined
from nar_plugin.encoder.model import weighed
from nar_plugin.encoder.relabelling import Hashes
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.corpus.corpus import CorpusGraph, read_corpus
from nar_plugin.train.corpus.fact_labels import ancestors
from nar_plugin.train.corpus.splits import IntArray, families, family_numbers
from nar_plugin.train.fit.checkpoints import write_whole
from nar_plugin.train.fit.edits import TRAINED, edited
from nar_plugin.train.paper.losses import family_loss

# Changes the first weights of an encoder, by the graphs that it will be fitted to.
Begin = Callable[[ArchitectureEncoder, Sequence[ArchitectureGraph]], None]
_BATCH = 256  # graphs that are labelled at once
_LARGE = 1500  # operations; edits of larger graphs take long, so that they get one


@dataclass(frozen=True)
class Settings:
    """The settings, chosen on validation sides (docs/decisions/likeness-by-blocks.md).

    Attributes:
        width: Dimensions of the vector of a label.
        hidden: Width of the hidden layer.
        seldom: Labels of fewer graphs have no vector.
        levels: Weight of the loss of families, of parents and of grandparents.
        edited: Part of the graphs that are seen edited too.
        edits: At most so many edits, one after the other; how many is drawn evenly.
        labels_dropped: Part of a graph's labels that is left out in a step.
        views_dropped: How often a view is left out in a step.
        epochs: How often each graph is seen.
        batch: Graphs in one batch.
        rate: Highest learning rate.
        decay: Weight decay.
        temperature: Divides the cosines of Eq. 5.
        sharpness: Divides the cosines of Eq. 6.
        seed: Of all random choices.
    """

    width: int = 128
    hidden: int = 512
    seldom: int = 6
    levels: tuple[float, float, float] = (1.0, 0.5, 0.25)
    edited: float = 0.5
    edits: int = 4
    labels_dropped: float = 0.2
    views_dropped: float = 0.15
    epochs: int = 30
    batch: int = 256
    rate: float = 3e-3
    decay: float = 0.05
    temperature: float = 0.1
    sharpness: float = 0.07
    seed: int = 0


class Read(NamedTuple):
    """What the encoder reads of t graphs.

    Attributes:
        places: int64[T], numbers of labels.
        starts: int64[t + 1].
        weights: float32[T].
        views: uint8[T].
    """

    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    weights: NDArray[np.float32]
    views: NDArray[np.uint8]


def train_encoder(corpus: Path, folder: Path, *, device: str | None = None) -> None:
    """Fit the encoder to every graph of a corpus that is searched, and write it.

    An interrupted training goes on after its last epoch, to the same encoder.

    Args:
        corpus: Folder of a corpus.
        folder: Receives the encoder.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """
    items = [item for item in read_corpus(corpus) if item.is_searched]
    kept = folder / "unfinished.pt"
    encoder = fit_encoder(items, family_numbers(items), Settings(), device=device, kept=kept)
    facts = {"settings": asdict(Settings()), "graphs": len(items)}
    save_encoder(encoder, folder, recipe="default", training=facts)
    kept.unlink(missing_ok=True)


def fit_encoder(
    items: Sequence[CorpusGraph],
    labels: IntArray,
    settings: Settings,
    *,
    device: str | None = None,
    kept: Path | None = None,
    begin: Begin | None = None,
) -> ArchitectureEncoder:
    """Fit the encoder to graphs and their families.

    Args:
        items: The t graphs.
        labels: int64[t], the family of each.
        settings: The settings.
        device: `cpu`, `cuda` or None for CUDA where there is one.
        kept: Receives the state after each epoch, and is read when the same is fitted again.
        begin: Changes the first weights.
    """
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    random = np.random.default_rng(settings.seed)
    graphs = [item.graph for item in items]
    further, owners = _edited(graphs, settings, random)
    counts = _counts([*graphs, *further])
    known, rarity = _known(counts, len(graphs), settings.seldom)
    read = _read(counts, len(graphs) + len(further), known, rarity)
    torch.manual_seed(settings.seed)
    encoder = ArchitectureEncoder(len(known), settings.width, settings.hidden)
    encoder.know(known, rarity)
    if begin is not None:
        begin(encoder, graphs)
    seen = np.concatenate([np.arange(len(graphs)), owners])
    own = np.unique(labels, return_inverse=True)[1]
    levels = [level[seen] for level in (own, *_levels_above(items))]
    _Fit(encoder.to(where), read, levels, settings, random).run(kept, _task(items, settings))
    return encoder.cpu().eval()


def _edited(
    graphs: Sequence[ArchitectureGraph], settings: Settings, random: np.random.Generator
) -> tuple[list[ArchitectureGraph], IntArray]:
    """Some of the graphs after one edit or several of different kinds, and their numbers."""
    further, owners = [], []
    chosen = np.flatnonzero(random.random(len(graphs)) < settings.edited).tolist()
    for number in tqdm(chosen, desc="edits", unit="graph", leave=False):
        graph = graphs[number]
        most = settings.edits if len(graph) <= _LARGE else 1
        left = int(random.integers(1, most + 1))
        for kind in random.permutation(list(TRAINED)).tolist():
            found = edited(graph, kind, random)
            if found is not None and len(found) <= 2 * max(_LARGE, len(graph)):
                graph, left = found, left - 1
            if not left:
                break
        if graph is not graphs[number]:
            further.append(graph)
            owners.append(number)
    return further, np.array(owners, dtype=np.int64)


def _counts(graphs: Sequence[ArchitectureGraph]) -> Counts:
    parts = []
    starts = range(0, len(graphs), _BATCH)
    for start in tqdm(starts, desc="labels", unit="batch", leave=False):
        found = counts_of(graphs[start : start + _BATCH])
        parts.append(found._replace(graphs=found.graphs + start))
    return joined(parts)


def _known(counts: Counts, graphs: int, seldom: int) -> tuple[Hashes, NDArray[np.float32]]:
    """The labels that have a vector, ascending, and how rare each is among the true graphs."""
    labels, often = np.unique(counts.labels[counts.graphs < graphs], return_counts=True)
    kept = often >= seldom
    rarity = np.log((1 + graphs) / (1 + often[kept]))
    return labels[kept], rarity.astype(np.float32)


def _read(counts: Counts, graphs: int, known: Hashes, rarity: NDArray[np.float32]) -> Read:
    places, starts, weights = weighed(counts, graphs, known, rarity)
    kept = np.isin(counts.labels, known)
    return Read(places, np.append(starts, len(places)), weights, counts.views[kept])


def _levels_above(items: Sequence[CorpusGraph]) -> list[IntArray]:
    """Of each graph the number of the family above its own, and of the one above that."""
    lineages = [[family, *ancestors(family)] for family in families(items)]
    names = [[line[min(step, len(line) - 1)] for line in lineages] for step in (1, 2)]
    return [np.unique(level, return_inverse=True)[1] for level in names]


def _task(items: Sequence[CorpusGraph], settings: Settings) -> str:
    """A hash of all that decides what is fitted."""
    text = json.dumps([[item.fingerprint for item in items], asdict(settings), LABELS_VERSION])
    return hashlib.sha256(text.encode()).hexdigest()


class _Fit:
    """One training.

    Args:
        encoder: What is trained.
        read: What it reads of the t graphs.
        levels: int64[t] for each level, the class of each graph.
        settings: The settings.
        random: What draws.
    """

    def __init__(
        self,
        encoder: ArchitectureEncoder,
        read: Read,
        levels: Sequence[IntArray],
        settings: Settings,
        random: np.random.Generator,
    ) -> None:
        self._encoder, self._read, self._settings, self._random = encoder, read, settings, random
        self._where = encoder.rarity.device
        self._levels = [torch.from_numpy(level).to(self._where) for level in levels]
        self._count = len(levels[0])
        self._classes = nn.ParameterList(
            0.05 * torch.randn(int(level.max()) + 1, encoder.dimensions, device=self._where)
            for level in self._levels
        )
        self._optimiser = torch.optim.AdamW(
            [
                {"params": encoder.parameters(), "weight_decay": settings.decay},
                {"params": self._classes.parameters(), "weight_decay": 0.0},
            ],
            lr=settings.rate,
        )
        steps = settings.epochs * -(-self._count // settings.batch)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimiser, settings.rate, max(steps, 2)
        )

    def run(self, kept: Path | None, task: str) -> None:
        """Train, on from what is kept of the same task."""
        first = self._restored(kept, task) if kept else 0
        epochs = range(first, self._settings.epochs)
        for epoch in tqdm(epochs, desc="training", unit="epoch", leave=False):
            self._encoder.train()
            self._epoch()
            if kept:
                write_whole(self._state(epoch + 1, task), kept)
        self._encoder.eval()

    def _epoch(self) -> None:
        order = self._random.permutation(self._count)
        for start in range(0, self._count, self._settings.batch):
            chosen = order[start : start + self._settings.batch]
            loss = self._loss(self._encoder(*self._batch(chosen)), torch.from_numpy(chosen))
            self._optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()
            self._schedule.step()

    def _loss(self, vectors: Tensor, chosen: Tensor) -> Tensor:
        settings = self._settings
        classes = [level[chosen.to(self._where)] for level in self._levels]
        loss = family_loss(vectors, classes[0], settings.temperature)
        for weight, own, means in zip(settings.levels, classes, self._classes, strict=True):
            cosines = vectors @ functional.normalize(means, dim=1).T
            loss = loss + weight * functional.cross_entropy(cosines / settings.sharpness, own)
        return loss

    def _batch(self, chosen: IntArray) -> tuple[Tensor, Tensor, Tensor]:
        """Places, starts and weights of some graphs, without what is left out of this step."""
        read, settings = self._read, self._settings
        sizes = (read.starts[1:] - read.starts[:-1])[chosen]
        owners = np.repeat(np.arange(len(chosen)), sizes)
        before = sizes.cumsum() - sizes
        places = np.repeat(read.starts[:-1][chosen] - before, sizes) + np.arange(int(sizes.sum()))
        kept = self._random.random(len(places)) >= settings.labels_dropped
        dropped = self._random.random((len(chosen), len(VIEWS))) < settings.views_dropped
        dropped[dropped.all(axis=1)] = False
        kept &= ~dropped[owners, read.views[places]]
        places, owners = places[kept], owners[kept]
        starts = np.searchsorted(owners, np.arange(len(chosen)))
        parts = read.places[places], starts, read.weights[places]
        numbers, begins, weights = (torch.from_numpy(part).to(self._where) for part in parts)
        return numbers, begins, weights

    def _state(self, epoch: int, task: str) -> dict[str, object]:
        return {
            "task": task,
            "epoch": epoch,
            "encoder": self._encoder.state_dict(),
            "classes": self._classes.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "schedule": self._schedule.state_dict(),
            "torch": torch.get_rng_state(),
            "random": json.dumps(self._random.bit_generator.state),
        }

    def _restored(self, kept: Path, task: str) -> int:
        """The epoch to go on with."""
        if not kept.is_file():
            return 0
        state = torch.load(kept, map_location=self._where, weights_only=True)
        if state["task"] != task:
            return 0
        self._encoder.load_state_dict(state["encoder"])
        self._classes.load_state_dict(state["classes"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["torch"].cpu())
        self._random.bit_generator.state = json.loads(state["random"])
        return int(state["epoch"])
