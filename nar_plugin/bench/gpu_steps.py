"""What `nar dev bench gpu` asks besides searches: encoding, training, memory, a query, tests."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree

import numpy as np
import torch
from torch import nn

from nar_plugin import api
from nar_plugin.bench.gpu_place import Place, Skipped
from nar_plugin.bench.gpu_search import bandwidth
from nar_plugin.encoder import ArchitectureEncoder, load_encoder
from nar_plugin.encoder.labels import Counts, counts_of
from nar_plugin.index import EMBEDDED
from nar_plugin.index.store.graphs import bare_graphs

if TYPE_CHECKING:
    from nar_plugin.train.corpus.corpus import CorpusGraph

_SLEEP = 20_000_000_000  # cycles that the GPU is kept busy during a query: some 10 s
_LABELLED = {"batch 1": 1, "batch 64": 64, "batch 1,024": 1024}
_MARK = "pytest.mark." + "gpu"


def machine(place: Place) -> dict[str, Any]:
    """The GPU, its memory, and the bandwidth of a copy from it to itself."""
    device = place.device()
    cuda = device.type == "cuda"
    return {
        "gpu": torch.cuda.get_device_name() if cuda else "none: a rehearsal on the CPU",
        "memory_gb": torch.cuda.get_device_properties(device).total_memory / 1e9 if cuda else 0,
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda if cuda else None,
        "bandwidth_gb_s": bandwidth(place),
    }


def encoding(place: Place) -> dict[str, Any]:
    """Graphs a second by batch, labels included; the labels are always counted on the CPU.

    Without a GPU, those of the CPU alone. `read` is how many stored graphs a second become objects,
    and `processor` counts labels and embeds on one core, both without waiting for other programs.
    """
    devices = {"cpu": "cpu"}
    with suppress(Skipped):
        devices["gpu"] = str(place.device())
    table = api.load_index(EMBEDDED).graphs().slice(0, place.size(2048, 32))
    before = time.process_time()
    graphs = list(bare_graphs(table))
    read = len(graphs) / (time.process_time() - before)
    found: dict[str, Any] = {}
    for name, size in _LABELLED.items():
        some = graphs[: place.size(max(256, 2 * size), 8)]
        batches = [some[start : start + size] for start in range(0, len(some), size)]
        started, before = time.perf_counter(), time.process_time()
        counts = [counts_of(batch) for batch in batches]
        labels = time.perf_counter() - started
        figures = {"read": read, "labels_only": len(some) / labels}
        _embed(_shipped("cpu"), counts, [len(batch) for batch in batches])
        figures["processor"] = len(some) / (time.process_time() - before)
        for key, device in devices.items():
            encoder = _shipped(device)
            embed = partial(_embed, encoder, counts, [len(batch) for batch in batches])
            spent = place.milliseconds(embed, 3) / 1000
            figures[key] = len(some) / (labels + spent)
            figures[f"{key}_without_labels"] = len(some) / spent
        if "gpu" in devices:
            figures["gpu_pays"] = figures["gpu"] > 1.1 * figures["cpu"]
        found[name] = figures
    return found


def _shipped(device: str) -> ArchitectureEncoder:
    return cast(ArchitectureEncoder, load_encoder(EMBEDDED, device))


def _embed(encoder: ArchitectureEncoder, counts: Sequence[Counts], sizes: Sequence[int]) -> None:
    for count, size in zip(counts, sizes, strict=True):
        encoder.encode_counts(count, size)


def memory(place: Place) -> dict[str, Any]:
    """Megabytes that the encoder and an index on the GPU hold, and after `clear_cache()`."""
    device = place.device()
    torch.zeros(1, device=device)  # CUDA's own context is no part of it
    with place.every_index_on_it():
        api.clear_cache()
        gc.collect()
        before = place.held_mb()
        load_encoder(EMBEDDED, str(device))
        encoder = place.held_mb()
        index = api.load_index()
        api.find_similar("timm:resnet50", k=1)
        both = place.held_mb()
        rows = len(index)
        del index
        api.clear_cache()
        gc.collect()
        after = place.held_mb()
    return {
        "encoder_mb": encoder - before,
        "index_rows": rows,
        "index_mb": both - encoder,
        "left_mb": after - before,
    }


def query(place: Place) -> dict[str, Any]:
    """A query from a model on the GPU, while the user's stream is busy.

    Torch raises where a call of the query would synchronise (`set_sync_debug_mode`), and the
    stream's own work must not be over when the answer is there.
    """
    device = place.device()
    model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3))
    model = model.to(device)
    api.find_similar(model, k=3)  # what the first query imports and loads is not asked here
    before, held = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    cuda: Any = torch.cuda  # what follows has no types
    busy = None
    if device.type == "cuda":
        torch.cuda.synchronize()
        cuda._sleep(_SLEEP)
        busy = cuda.Event()
        busy.record()
        torch.cuda.set_sync_debug_mode("error")
    started = time.perf_counter()
    try:
        answer = api.find_similar(model, k=3)
    finally:
        if busy is not None:
            torch.cuda.set_sync_debug_mode("default")
    seconds = time.perf_counter() - started
    return {
        "hits": len(answer),
        "ms": 1000 * seconds,
        "stream_still_busy": None if busy is None else not busy.query(),
        "allocated_bytes_left": torch.cuda.memory_allocated() - before,
        "reserved_bytes_left": torch.cuda.memory_reserved() - held,
    }


def training_default(place: Place) -> dict[str, Any]:
    """Seconds and figure of the recipe `default`, shortened, on CPU and GPU."""
    from nar_plugin.train.corpus.splits import family_numbers
    from nar_plugin.train.fit.recipe import Settings, fit_encoder

    items = _items(place)
    settings = Settings(epochs=place.size(5, 1), edited=0.0, seldom=place.size(6, 2))

    def fit(device: str) -> np.ndarray:
        encoder = fit_encoder(items, family_numbers(items), settings, device=device)
        return encoder.encode_graphs([item.graph for item in items]).numpy()

    return _trained(place, items, fit)


def training_paper(place: Place) -> dict[str, Any]:
    """Seconds and figure of the paper's recipe, shortened, on CPU and GPU."""
    from nar_plugin.train.corpus.splits import family_numbers
    from nar_plugin.train.paper.ablations import Recipe
    from nar_plugin.train.paper.method import PaperMethod

    items = _items(place)
    recipe = Recipe(motif_epochs=1, graph_epochs=place.size(3, 1), width=place.size(512, 32))

    def fit(device: str) -> np.ndarray:
        with TemporaryDirectory() as folder:
            own = Path(folder) / "run"
            own.mkdir()
            method = PaperMethod(recipe, 0, own, device=device)
            method.fit(items, family_numbers(items))
            return method.embed(items)

    return _trained(place, items, fit)


def _items(place: Place) -> list[CorpusGraph]:
    """Some graphs of the corpus, which a wheel does not hold."""
    from nar_plugin.train.corpus.corpus import read_corpus

    folder = EMBEDDED / "corpus"
    if not folder.is_dir():
        raise Skipped(f"no corpus in {folder.name}: run it in a checkout")
    every = [item for item in read_corpus(folder) if item.is_searched]
    return every[:: len(every) // place.size(1000, 40)]


def _trained(
    place: Place, items: Sequence[CorpusGraph], fit: Callable[[str], np.ndarray]
) -> dict[str, Any]:
    """Seconds on both devices, and how often the nearest other graph is of the same family.

    Dropout draws other numbers on a GPU, so vectors differ, and the figure by what chance does.
    """
    from nar_plugin.train.corpus.splits import family_numbers

    families = family_numbers(items)
    found: dict[str, Any] = {"graphs": len(items)}
    for name, device in (("cpu", "cpu"), ("gpu", str(place.device()))):
        started = time.perf_counter()
        vectors = fit(device)
        found[f"{name}_s"] = time.perf_counter() - started
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -2)
        found[f"{name}_top1"] = float((families[cosines.argmax(axis=1)] == families).mean())
    found["difference"] = abs(found["cpu_top1"] - found["gpu_top1"])
    return found


def tests(place: Place) -> dict[str, Any]:
    """The tests of the marker `gpu`; without one they skip, or fail.

    The search of ten million rows is left to the steps that measure it: it makes its rows on the
    CPU, for minutes.
    """
    place.device()
    root = Path(__file__).parents[2] / "tests"
    files = [str(file) for file in root.glob("*/**/test_*.py") if _MARK in file.read_text()]
    if not files:
        raise Skipped("no tests beside the package: run it in a checkout")
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-m", "gpu", "-p", "no:cacheprovider"]
        command += ["-k", "not a_search_on_a_gpu", f"--junitxml={report}", *files]
        done = subprocess.run(command, cwd=root.parent, capture_output=True, text=True)
        if not report.is_file():
            raise Skipped(f"pytest: {(done.stderr or done.stdout)[-200:]}")
        (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
        bad = [f"{case.get('classname')}.{case.get('name')}" for case in suite if len(case)]
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    return counts | {"not_passed": bad}
