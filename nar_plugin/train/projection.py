"""The recipe `default`: what tells families apart and what tells exact designs apart, learned.

What differs inside a family is noise to whoever looks for the family. So the covariance of those
differences is made the unit matrix, which shrinks every direction by how much it varies for no
reason (within-class covariance normalisation: Hatch, Kajarekar & Stolcke, Interspeech 2006). Two
small networks go on from the principal directions of what is left (Eq. 5 and 6 of the paper): one
sees walks and the views that are blind to widths, the other all views but the walks. A third part
of the vector keeps every direction of these a little: a random projection, which holds cosines up
to noise (Johnson & Lindenstrauss, 1984), also those that no family of the training varies in. The
fourth compares numbers of weights and learns nothing.

All three also see some graphs with other heads (`nar_plugin.train.heads`) and some with something
behind their layers (`nar_plugin.train.inserted`) as further members of their families, and the
first network variations of some (`nar_plugin.train.variations`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from nar_plugin.encoder import ArchitectureEncoder, save_encoder
from nar_plugin.encoder.model import Families, fill, widthless
from nar_plugin.encoder.sketch import LABELS, SKETCH_VERSION, WIDTH, frequencies, sketch
from nar_plugin.train.corpus import CorpusGraph, read_corpus
from nar_plugin.train.heads import reheaded
from nar_plugin.train.inserted import inserted
from nar_plugin.train.paper.losses import family_loss
from nar_plugin.train.resuming import keep, taken_up
from nar_plugin.train.splits import IntArray, family_numbers
from nar_plugin.train.variations import varied
from nar_plugin.train.whitening import inside_families, principal, scattered, whitening_factor

_BATCH = 256  # graphs that are sketched at once


@dataclass(frozen=True)
class Settings:
    """The settings, chosen on validation sides (docs/experiments.md).

    Attributes:
        width: Principal directions that either network sees.
        families: Dimensions of the network that is blind to widths and sees walks.
        variants: Dimensions of the network that sees widths.
        designs: Dimensions of the projection that keeps every direction a little.
        sizes: Dimensions that compare numbers of weights.
        shares: Of the cosine, of these four parts.
        shrink: Part of the mean variance in the families' covariance, for the first network
            (Ledoit & Wolf, JMVA 2004).
        shrink_variants: For the second network, which is to keep what families vary in.
        shrink_designs: For the projection.
        emphasis: Of the views in the projection.
        heads: Part of the graphs that are seen with another head too.
        insertions: Part of the graphs that are seen with something behind their layers too.
        variations: Part of the graphs that the first network sees a variation of.
        epochs: Of the networks.
        batch: Graphs in one batch.
        rate: Highest learning rate; that of the linear map is a tenth.
        temperature: Divides the cosines of Eq. 5.
        sharpness: Divides the cosines of Eq. 6.
        seed: Of all random choices.
    """

    width: int = 1024
    families: int = 160
    variants: int = 96
    designs: int = 208
    sizes: int = 48
    shares: tuple[float, float, float, float] = (0.25, 0.35, 0.33, 0.07)
    shrink: float = 0.1
    shrink_variants: float = 0.8
    shrink_designs: float = 0.3
    emphasis: tuple[float, float, float, float] = (1.0, 1.0, 0.5, 0.5)
    heads: float = 0.25
    insertions: float = 0.2
    variations: float = 0.25
    epochs: int = 40
    batch: int = 512
    rate: float = 2e-3
    temperature: float = 0.1
    sharpness: float = 0.07
    seed: int = 0


def train_encoder(corpus: Path, folder: Path, *, device: str | None = None) -> None:
    """Fit the encoder to every graph of a corpus that is searched, and write it.

    What was interrupted goes on behind the last part that was fitted, to the same encoder.

    Args:
        corpus: Folder of a corpus.
        folder: Receives the encoder.
        device: `cpu`, `cuda` or None for CUDA where there is one.
    """
    items = [item for item in read_corpus(corpus) if item.is_searched]
    kept = folder / "unfinished"
    encoder = fit_encoder(items, family_numbers(items), Settings(), device=device, kept=kept)
    facts = {"settings": asdict(Settings()), "graphs": len(items)}
    save_encoder(encoder, folder, recipe="default", training=facts)
    shutil.rmtree(kept)


def fit_encoder(
    items: Sequence[CorpusGraph],
    labels: IntArray,
    settings: Settings,
    *,
    device: str | None = None,
    kept: Path | None = None,
) -> ArchitectureEncoder:
    """Fit the encoder to graphs and their families.

    Args:
        items: The t graphs.
        labels: int64[t], the family of each.
        settings: The settings.
        device: `cpu`, `cuda` or None for CUDA where there is one.
        kept: Receives each part that is fitted, and is read when the same is fitted again.
    """
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.manual_seed(settings.seed)
    graphs = [item.graph for item in items]
    known = frequencies(graphs)
    random = np.random.default_rng(settings.seed)
    varied_ones = np.flatnonzero(random.random(len(graphs)) < settings.variations)
    headed_ones = np.flatnonzero(random.random(len(graphs)) < settings.heads)
    inserted_ones = np.flatnonzero(random.random(len(graphs)) < settings.insertions)
    more = [reheaded(graphs[place], random) for place in headed_ones]
    more += [inserted(graphs[place], random) for place in inserted_ones]
    graphs += more + [varied(graphs[place], random) for place in varied_ones]
    starts = range(0, len(graphs), _BATCH)
    batches = [
        sketch(graphs[start : start + _BATCH], known)
        for start in tqdm(starts, desc="sketches", unit="batch", leave=False)
    ]
    rows = torch.from_numpy(np.concatenate(batches)).to(where)  # [t + more + varied, SKETCH]
    numbers = np.unique(labels, return_inverse=True)[1]
    owners = np.concatenate([np.arange(len(labels)), headed_ones, inserted_ones, varied_ones])
    families = torch.from_numpy(numbers[owners]).to(where)
    encoder = ArchitectureEncoder(
        len(known.labels),
        settings.width,
        settings.families,
        settings.variants,
        settings.designs,
        settings.sizes,
    ).to(where)
    encoder.know(known, settings.shares)
    seen = len(items) + len(more)  # the variations come last
    blind, told = widthless(rows), rows[:seen, :LABELS].contiguous()

    def fit_designs() -> None:
        scale = torch.tensor(settings.emphasis).repeat_interleave(WIDTH).to(where)
        factor = whitening_factor(
            inside_families(told * scale, families[:seen]), settings.shrink_designs
        )
        projection = scale[:, None] * scattered(factor, settings.designs)
        fill(encoder.designs, projection, told.mean(dim=0))

    parts: dict[str, Callable[[], None]] = {
        "families": lambda: _fit_network(
            encoder.widthless, encoder.families, blind, families, settings.shrink, settings
        ),
        "variants": lambda: _fit_network(
            encoder.whole,
            encoder.variants,
            told,
            families[:seen],
            settings.shrink_variants,
            settings,
        ),
        "designs": fit_designs,
    }
    task = _task(items, labels, settings, where)
    for name, fit in parts.items():
        path = kept / f"{name}-{task}.pt" if kept else None
        if path and taken_up(encoder, path):
            continue
        fit()
        if path:
            keep(encoder, path)
    return encoder.cpu().eval()


def _task(
    items: Sequence[CorpusGraph], labels: IntArray, settings: Settings, where: torch.device
) -> str:
    """A hash of all that decides what is fitted."""
    graphs = [item.fingerprint for item in items]
    text = json.dumps([graphs, labels.tolist(), asdict(settings), SKETCH_VERSION, where.type])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _fit_network(
    layer: nn.Linear,
    network: Families,
    rows: Tensor,
    labels: Tensor,
    shrink: float,
    settings: Settings,
) -> None:
    """Fit a projection and the network behind it.

    Shapes:
        rows [t, d], labels [t].
    """
    mean = rows.mean(dim=0)
    factor = whitening_factor(inside_families(rows, labels), shrink)
    fill(layer, principal(rows - mean, factor, settings.width), mean)
    with torch.no_grad():
        projected = layer(rows)
    _train(network, projected, labels, settings)


def _train(network: Families, projected: Tensor, labels: Tensor, settings: Settings) -> None:
    """Contrast and classification by family, Eq. 5 and 6, starting from the linear projection.

    The classes start at the means of their graphs.

    Shapes:
        projected [t, width], labels [t].
    """
    with torch.no_grad():
        network.linear.weight.copy_(torch.eye(*network.linear.weight.shape))
        network.outer.weight.mul_(0.1)
        network.outer.bias.zero_()
        start = network.eval()(projected)
    means = start.new_zeros(int(labels.max()) + 1, start.shape[1]).index_add_(0, labels, start)
    classes = nn.Parameter(functional.normalize(means, dim=1))
    fresh = [*network.inner.parameters(), *network.outer.parameters()]
    rates = [settings.rate, settings.rate / 10, settings.rate]
    optimiser = torch.optim.AdamW(
        [
            {"params": fresh, "weight_decay": 0.05},
            {"params": network.linear.parameters(), "weight_decay": 0.05},
            {"params": [classes], "weight_decay": 0.0},
        ],
        lr=settings.rate,
    )
    steps = settings.epochs * -(-len(labels) // settings.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rates, steps)
    network.train()
    for _ in tqdm(range(settings.epochs), desc="families", unit="epoch", leave=False):
        order = torch.randperm(len(labels)).to(labels.device)
        for first in range(0, len(order), settings.batch):
            chosen = order[first : first + settings.batch]
            vectors, families = network(projected[chosen]), labels[chosen]
            cosines = vectors @ functional.normalize(classes, dim=1).T
            loss = family_loss(vectors, families, settings.temperature)
            loss = loss + functional.cross_entropy(cosines / settings.sharpness, families)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    network.eval()


class DefaultMethod:
    """The recipe `default` among the methods that are measured."""

    def __init__(self, settings: Settings) -> None:
        self.parameters = 0
        self._settings = settings

    def fit(self, items: Sequence[CorpusGraph], labels: IntArray) -> None:
        """Fit; a graph that comes once for each of its names counts once."""
        _, first = np.unique([item.fingerprint for item in items], return_index=True)
        places = np.sort(first)
        self._encoder = fit_encoder(
            [items[place] for place in places], labels[places], self._settings
        )
        self.parameters = sum(part.numel() for part in self._encoder.parameters())

    def embed(self, items: Sequence[CorpusGraph]) -> NDArray[np.float32]:
        """float32[n, 512]."""
        vectors: NDArray[np.float32] = self._encoder.encode_graphs(
            [item.graph for item in items]
        ).numpy()
        return vectors
