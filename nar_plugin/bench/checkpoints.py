"""How often a checkpoint is found to be what it was saved from, by its shapes alone.

Models of the installed libraries are built on the meta device and leave a list of shapes each. The
lists are changed as files in the wild are, and asked about. Names are numbers.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from nar_plugin.checkpoints.loaders import loaders
from nar_plugin.checkpoints.packing import unpacked
from nar_plugin.checkpoints.ranking import Explained, most_alike_weights, table_of
from nar_plugin.checkpoints.tensors import Checkpoint, Tensor
from nar_plugin.errors import NarError
from nar_plugin.index.store.prefixes import prefix_of

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex

SEED = 7
EACH = 25  # models of a library
_PACKED = 4  # bits
_WIDE = 64  # numbers that share a scale
_OF_HEAD = 2  # tensors with a side of so many classes: a weight and a bias
_WORDS, _LONG = 5000, 4  # rows of a table of words, and how many times its width they are
_OF_WORDS = 4  # tensors with a side of so many words: tables, an output layer and its bias


@dataclass(frozen=True)
class Saved:
    """What a model would save.

    Attributes:
        name: Of the model.
        fingerprint: Of its row.
        design: Of its row: the same with other classes or another vocabulary.
        family: Of its row.
        root: Its class.
        tensors: Names are numbers.
    """

    name: str
    fingerprint: str
    design: str
    family: str
    root: str
    tensors: tuple[Tensor, ...]


@dataclass
class Score:
    """How a list of questions went.

    Attributes:
        asked: How many.
        own: How often the first hit was the model's own design, or one of the same shapes.
        strictly: How often it stood there by its own name.
        named: How often the first hit named what loads the model.
        seconds: Of processor time, of each question, reading aside.
        missed: The models that were not found, each with the first hit.
    """

    asked: int
    own: int
    strictly: int
    named: int
    seconds: list[float]
    missed: dict[str, str]

    @property
    def middle(self) -> float:
        """Milliseconds of processor time of the median question."""
        return 1000 * median(self.seconds)

    @property
    def slow(self) -> float:
        """Milliseconds of processor time that 95% of the questions take at most."""
        return 1000 * quantiles(self.seconds, n=20)[-1]


def names_to_build(index: ArchitectureIndex, each: int = EACH) -> list[str]:
    """Names of the libraries that are installed, at most so many of each, in a fixed order.

    What is drawn of a library does not depend on what else is installed.
    """
    from nar_plugin.manager import list_plugins

    installed = {plugin.name for plugin in list_plugins() if plugin.installed}
    by_library: dict[str, list[str]] = {}
    for names in index.contents.table["names"].to_pylist():
        for library in installed.intersection(map(prefix_of, names)):
            own = [name for name in names if prefix_of(name) == library and "@" not in name]
            by_library.setdefault(library, []).extend(own[:1])
    chosen = []
    for library, names in sorted(by_library.items()):
        random.Random(f"{SEED} {library}").shuffle(names)
        chosen += names[:each]
    random.Random(SEED).shuffle(chosen)
    return chosen


def save_shapes(index: ArchitectureIndex, file: Path, names: list[str]) -> None:
    """Build each model that the file lacks and append its shapes, or why it was not built."""
    from tqdm import tqdm

    from nar_plugin.references import as_model

    file.parent.mkdir(parents=True, exist_ok=True)
    done = {record["name"] for record in _records(file)}
    with file.open("a") as out:
        for name in tqdm([name for name in names if name not in done], delay=1):
            record: dict[str, Any] = {"name": name}
            try:
                model = as_model(name)
                record |= {"root": type(model).__name__, "tensors": _shapes(model)}
            except NarError as error:
                record["error"] = str(error)[:200]
            out.write(json.dumps(record) + "\n")
            out.flush()


def _shapes(model: Any) -> list[tuple[list[int], str, bool]]:
    """Sides, type and whether another name has the same tensor, in the order of the state_dict."""
    import torch

    seen: set[int] = set()
    shapes = []
    for value in model.state_dict(keep_vars=True).values():
        if torch.is_tensor(value):
            kind = str(value.dtype).removeprefix("torch.")
            shapes.append((list(value.shape), kind, id(value) in seen))
            seen.add(id(value))
    return shapes


def _records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def saved_models(index: ArchitectureIndex, file: Path) -> Iterator[Saved]:
    """The models whose shapes a file has, as far as they have some."""
    for record in _records(file):
        row = index.by_name(record["name"])
        if row is None or not any(len(sides) > 1 for sides, *_ in record.get("tensors", ())):
            continue
        tensors = (
            Tensor(str(place), tuple(sides), dtype, tied)
            for place, (sides, dtype, tied) in enumerate(record["tensors"])
        )
        facts = row[0].fingerprint, row[0].design, row[0].family
        yield Saved(record["name"], *facts, record["root"], tuple(tensors))


@cache
def looked_at() -> frozenset[str]:
    """The families that were looked at while the method was made; all others are held out."""
    text = files("nar_plugin.bench").joinpath("checkpoint_families.txt").read_text()
    return frozenset(text.split())


def as_saved(tensors: tuple[Tensor, ...], _: random.Random) -> list[Tensor]:
    """As `state_dict()` gives them."""
    return list(tensors)


def half_in_shards(tensors: tuple[Tensor, ...], draw: random.Random) -> list[Tensor]:
    """float16, without tied tensors, and in the order of two shards, as safetensors are saved."""
    kept = [
        replace(each, dtype="float16" if each.dtype == "float32" else each.dtype)
        for each in tensors
        if not each.tied
    ]
    draw.shuffle(kept)
    return kept


def packed(tensors: tuple[Tensor, ...], _: random.Random) -> list[Tensor]:
    """Every layer but the first and the last packed as GPTQ does, with four bits."""
    layers = [each for each in tensors if len(each.shape) == 2 and not each.tied]
    chosen = {
        each.name for each in layers[1:-1] if each.shape[0] % 8 == 0 and each.shape[1] % _WIDE == 0
    }
    result = []
    for each in tensors:
        if each.tied:
            continue
        if each.name not in chosen:
            result.append(each)
            continue
        out, entering = each.shape
        groups = entering // _WIDE
        result += [
            Tensor(f"{each.name}.qweight", (entering * _PACKED // 32, out), "int32"),
            Tensor(f"{each.name}.qzeros", (groups, out * _PACKED // 32), "int32"),
            Tensor(f"{each.name}.scales", (groups, out), "float16"),
            Tensor(f"{each.name}.g_idx", (entering,), "int32"),
        ]
    return result


def other_head(tensors: tuple[Tensor, ...], draw: random.Random) -> list[Tensor]:
    """Other classes in the head and its bias, another vocabulary in the largest table.

    The head is the last matrix, if no tensor but its bias has a side of so many classes. A model
    without one keeps its layers.
    """
    result = [each for each in tensors if not each.tied]
    matrices = [place for place, each in enumerate(result) if len(each.shape) == 2]
    if not matrices:
        return result
    classes = result[matrices[-1]].shape[0]
    places = [place for place, each in enumerate(result) if classes in each.shape]
    if len(places) <= _OF_HEAD:
        new = draw.choice((2, 7, 10, 37, 100, 365))
        for place in places:
            result[place] = _resized(result[place], classes, new)
    table = max(matrices, key=lambda place: result[place].shape[0])
    words = result[table].shape[0]
    of_words = [each for each in result if words in each.shape]
    if words >= _WORDS and words > _LONG * result[table].shape[1] and len(of_words) <= _OF_WORDS:
        extra = draw.choice((64, 1000, 8192))
        result = [_resized(each, words, words + extra) for each in result]
    return result


def _resized(tensor: Tensor, old: int, new: int) -> Tensor:
    sides = (new if place == 0 and side == old else side for place, side in enumerate(tensor.shape))
    return replace(tensor, shape=tuple(sides))


def some_missing(tensors: tuple[Tensor, ...], draw: random.Random) -> list[Tensor]:
    """A tenth of the tensors lost."""
    kept = [each for each in tensors if not each.tied]
    gone = set(draw.sample(range(len(kept)), len(kept) // 10))
    return [each for place, each in enumerate(kept) if place not in gone]


def some_extra(tensors: tuple[Tensor, ...], draw: random.Random) -> list[Tensor]:
    """A tenth more tensors, of sides drawn from 2 to 1,024; a part of another model, say."""
    kept = [each for each in tensors if not each.tied]
    added = [
        Tensor(f"x{place}", (draw.randint(2, 1024), draw.randint(2, 1024)))
        for place in range(max(len(kept) // 10, 1))
    ]
    return kept + added


CHANGES: dict[str, Callable[[tuple[Tensor, ...], random.Random], list[Tensor]]] = {
    "as saved": as_saved,
    "float16, shards, ties dropped": half_in_shards,
    "packed as GPTQ": packed,
    "other classes and vocabulary": other_head,
    "a tenth missing": some_missing,
    "a tenth extra": some_extra,
}


def measure(index: ArchitectureIndex, saved: list[Saved], change: str) -> Score:
    """Ask about every model after one change."""
    table_of(index)
    score = Score(0, 0, 0, 0, [], {})
    for model in saved:
        draw = random.Random(f"{SEED} {model.name}")
        tensors = CHANGES[change](model.tensors, draw)
        asked = unpacked(Checkpoint(model.name, "state_dict", tuple(tensors)))
        start = time.process_time()
        hits = most_alike_weights(index, asked, 10)
        score.seconds.append(time.process_time() - start)
        score.asked += 1
        first = hits[0] if hits else None
        if first is None or not _is_own(model, first):
            score.missed[model.name] = first.row.name if first else ""
        score.own += first is not None and _is_own(model, first)
        score.strictly += first is not None and first.row.design == model.design
        score.named += first is not None and _names(index, model, first)
    return score


def _is_own(model: Saved, hit: Explained) -> bool:
    return model.design in {row.design for row in (hit.row, *hit.others)}


def _names(index: ArchitectureIndex, model: Saved, hit: Explained) -> bool:
    """Whether a hit tells the model's own class or line, or its class in another library."""
    row = index.by_name(model.name)
    wanted = (
        loaders(replace(row[0], name=model.name, names=(model.name,)), model.root) if row else []
    )
    words = {line.partition("(")[0].rpartition(".")[2] for line in hit.loads}
    return any(line in hit.loads for line in wanted) or model.root in words
