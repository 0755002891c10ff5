"""Whether learned operation embeddings help the block encoder (first-vectors-of-operations.md).

`python docs/benchmarks/operation_vectors.py` takes six operations in a row from the graphs that
the recipe `default` is trained on, learns a vector of each operation in DVAE-EMB, which is to
decode them, and lets the vectors of the encoder's labels begin with it. `WORK` keeps what is
finished. With names of splits and of arms, as in `... unseen usual "learned, all labels"`, these
alone.
"""

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, load_npz, save_npz

from nar_plugin.encoder import ArchitectureEncoder, labels, words
from nar_plugin.encoder.labels import LABELS_VERSION
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.fit.recipe import Settings
from nar_plugin.train.measure.evaluate import Cell, evaluate, read_cells
from nar_plugin.train.measure.likeness_method import LikenessMethod
from nar_plugin.train.measure.methods import METHODS, Entry
from nar_plugin.train.measure.quality import table
from nar_plugin.train.vae.fit.protocol import BETA, REDUCED
from nar_plugin.train.vae.models.autoencoder import LATENT, Autoencoder
from nar_plugin.train.vae.models.dag_decoder import DagDecoder
from nar_plugin.train.vae.models.dag_encoder import DagEncoder
from nar_plugin.train.vae.models.operations import Operations
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs

CORPUS, WORK = Path("nar_plugin/data/corpus"), Path("runs/operation-vectors")
LENGTH = 6  # operations of a window, as ENAS has layers
WINDOWS = 20_000  # those of most graphs
SELDOM = 20  # operations of fewer graphs are one, the type 2
WIDTH = 16  # d_op; the paper has 3 for six operations
SMALL = replace(REDUCED, hidden=64, batch=128)
_BATCH = 256  # graphs that are labelled at once
_log = logging.getLogger(__name__)


def vocabulary(graphs: Sequence[ArchitectureGraph]) -> dict[str, int]:
    """The type of each operation that is told, such as a 3x3 convolution that widens nothing."""
    often = Counter(name for graph in graphs for name in {word(op) for op in set(graph.ops)})
    return {name: 3 + i for i, name in enumerate(sorted(w for w in often if often[w] >= SELDOM))}


def word(op: object) -> str:
    """What is told of an operation: all but widths."""
    return words.shape(words.pointwise(op))  # type: ignore[arg-type]


def windows(graphs: Sequence[ArchitectureGraph], known: dict[str, int]) -> Graphs:
    """The commonest stretches of operations, with their edges, a first and a last vertex.

    The first vertex is read by what reads an operation before the stretch, or none. The last
    reads what is read by an operation after the stretch, or by none.
    """
    often: Counter[bytes] = Counter()
    for graph in graphs:
        made = _windows(graph, np.array([known.get(word(op), 2) for op in graph.ops]))
        often.update({row.tobytes() for row in made})
    rows = [np.frombuffer(key, np.uint16) for key, _ in often.most_common(WINDOWS)]
    chosen = np.stack(rows).astype(np.int64)
    size = LENGTH + 2
    types, edges = chosen[:, :size], chosen[:, size:].reshape(-1, size, size)
    return Graphs(torch.tensor(types), torch.tensor(edges, dtype=torch.bool), 3 + len(known))


def _windows(graph: ArchitectureGraph, types: NDArray[np.int64]) -> NDArray[np.uint16]:
    """uint16[m, 8 + 64]: types, and the table of edges, of each stretch of a graph."""
    size, count = LENGTH + 2, len(types) - LENGTH + 1
    if count < 1:
        return np.zeros((0, size + size**2), np.uint16)
    starts, ends = graph.edges.T
    first = np.full(len(types), -1)  # of what an operation reads
    first[ends[::-1]] = len(types)
    np.minimum.at(first, ends, starts)
    last = np.full(len(types), -1)  # of what reads it
    np.maximum.at(last, starts, ends)
    last[last < 0] = len(types)
    places = np.arange(count)[:, None] + np.arange(LENGTH)  # [m, 6]
    near = np.zeros((len(types), LENGTH), bool)  # whether an operation reads the one so far before
    close = ends - starts < LENGTH
    near[ends[close], (ends - starts)[close]] = True
    edges = np.zeros((count, size, size), np.uint16)
    edges[:, 0, 1:-1] = first[places] < places[:, :1]
    edges[:, 1:-1, -1] = last[places] > places[:, -1:]
    for end in range(1, LENGTH):
        for start in range(end):
            edges[:, 1 + start, 1 + end] = near[places[:, end], end - start]
    told = np.full((count, size), END, np.uint16)
    told[:, 0], told[:, 1:-1] = START, types[places]
    return np.concatenate([told, edges.reshape(count, -1)], axis=1)


def learn(graphs: Graphs) -> NDArray[np.float32]:
    """float32[kinds, WIDTH]: the vectors of operations of DVAE-EMB, by `SMALL`."""
    torch.manual_seed(0)
    operations = Operations(graphs.kinds, WIDTH)
    sizes = (graphs.vertices, SMALL.hidden)
    decoder = DagDecoder(operations, graphs.kinds, *sizes, LATENT, numbered=True)
    network = Autoencoder(DagEncoder(operations, *sizes), decoder, SMALL.hidden, LATENT)
    optimiser = torch.optim.Adam(network.parameters(), lr=SMALL.rate)
    epochs = SMALL.epochs_of("DVAE-EMB")
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    for epoch in range(epochs):
        sums = np.zeros(2)
        for chosen in torch.randperm(len(graphs)).split(SMALL.batch):
            parts = [part.mean() for part in network.losses(graphs[chosen])]
            optimiser.zero_grad()
            (parts[0] + BETA * parts[1]).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), SMALL.clip)
            optimiser.step()
            sums += [len(chosen) * float(part.detach()) for part in parts]
        falling.step()
        _log.info("epoch %d: reconstruction %.2f, divergence %.1f", epoch + 1, *sums / len(graphs))
    return operations.table.detach().numpy()


def occurrences(
    graphs: Sequence[ArchitectureGraph], known: NDArray[np.uint64], types: dict[str, int]
) -> tuple[csr_array, NDArray[np.bool_]]:
    """[labels, kinds]: how often each label is of an operation of each type.

    And bool[labels]: which are labels of single operations.
    """
    shape = (len(known), 3 + len(types))
    total, single = csr_array(shape, dtype=np.int64), np.zeros(len(known), bool)
    for start in range(0, len(graphs), _BATCH):
        batch = graphs[start : start + _BATCH]
        own = np.array([types.get(word(op), 2) for graph in batch for op in graph.ops])
        for placed in labels.placed_labels(batch):
            numbers = np.searchsorted(known, placed.labels).clip(max=len(known) - 1)
            kept = known[numbers] == placed.labels
            pairs = numbers[kept], own[placed.places[kept]]
            total = total + coo_array((np.ones(len(pairs[0]), np.int64), pairs), shape).tocsr()
            single[pairs[0]] |= labels.VIEWS[placed.view].depth == 0
    return total, single


def prepared(
    encoder: ArchitectureEncoder, graphs: Sequence[ArchitectureGraph]
) -> tuple[NDArray[np.float32], csr_array, NDArray[np.bool_]]:
    """The learned vectors, then `occurrences`; kept for the other arms of a split."""
    known = encoder.labels.numpy().view(np.uint64)
    folder = WORK / f"{len(graphs)}-{len(known)}-{int(known[len(known) // 2])}"
    if not (folder / "learned.npy").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        graphs = [labels.read(graph) for graph in graphs]
        types = vocabulary(graphs)
        counts, single = occurrences(graphs, known, types)
        save_npz(folder / "occurrences.npz", counts)
        np.save(folder / "single.npy", single)
        np.save(folder / "learned.npy", learn(windows(graphs, types)))
    return (
        np.load(folder / "learned.npy"),
        load_npz(folder / "occurrences.npz"),
        np.load(folder / "single.npy"),
    )


def begin(
    encoder: ArchitectureEncoder, graphs: Sequence[ArchitectureGraph], *, of: str, alone: bool
) -> None:
    """Let the vectors of labels begin with those of the operations that they are of.

    Half of a first vector's square length stays as it is drawn, so that labels of one operation
    differ.

    Args:
        encoder: Is changed.
        graphs: What it will be trained on.
        of: `learned` vectors, or `drawn` ones, which say what comes of beginning alike.
        alone: Whether only labels of single operations begin so, not those of neighbourhoods.
    """
    learned, counts, single = prepared(encoder, graphs)
    random = np.random.default_rng(0)
    vectors = learned if of == "learned" else random.normal(size=learned.shape)
    rows = counts @ ((vectors - vectors.mean(0)) / vectors.std(0))
    wide = np.linalg.qr(random.normal(size=(encoder.vectors.embedding_dim, WIDTH)))[0].T
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9) @ wide
    chosen = np.flatnonzero((np.asarray(counts.sum(1)) > 0) & (single | (not alone)))
    _log.info("%d of %d labels, %d types", len(chosen), *counts.shape)
    with torch.no_grad():
        mine = encoder.vectors.weight  # rows of length 1, nearly
        mine[chosen] = (mine[chosen] + torch.tensor(rows[chosen], dtype=mine.dtype)) / 2**0.5


# A third of the epochs and no edited graphs: less than a quarter of the steps of `default`.
SHORT = Settings(epochs=10, edited=0.0)
ARMS = {
    "usual": None,
    "learned, single operations": partial(begin, of="learned", alone=True),
    "learned, all labels": partial(begin, of="learned", alone=False),
    "drawn, all labels": partial(begin, of="drawn", alone=False),
}


def main() -> None:
    """Measure the arms on validation sides and print a table for each split."""
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    for name, first in ARMS.items():
        METHODS[name] = Entry(
            lambda seed, folder, first=first: LikenessMethod(replace(SHORT, seed=seed), first),
            asdict(SHORT) | {"first vectors": name, "labels": LABELS_VERSION},
        )
    told = sys.argv[1:]
    splits = [name for name in told if name not in ARMS] or ["unseen", "kin"]
    arms = [name for name in told if name in ARMS] or list(ARMS)
    evaluate(CORPUS, [Cell(arm, split, 0, True) for split in splits for arm in arms], WORK)
    finished = list(read_cells(CORPUS, WORK))
    for split in splits:
        cells = [cell for cell in finished if cell["cell"]["split"] == split]
        print(f"{split}\n\n{table(cells, arms)}", flush=True)


if __name__ == "__main__":
    main()
