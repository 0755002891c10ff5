"""Builds the corpus: every named architecture of the installed libraries, traced once.

Worker processes construct and trace; the parent appends one JSON line for each finished name, so a
build that was interrupted goes on where it stopped. A model that hangs or kills its worker costs
only itself.
"""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nar_plugin import manager
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.mining import mine
from nar_plugin.train.corpus import graph_of, write_corpus

TIME_LIMIT = 240  # seconds for one name
_RECORDS = "records.jsonl"


def build_corpus(folder: Path, work: Path, *, workers: int, limit: int | None = None) -> None:
    """Trace every named architecture and write the corpus.

    Args:
        folder: Receives the Parquet files.
        work: Holds the finished records between runs; delete it to start afresh.
        workers: Number of processes.
        limit: Only so many names, evenly spread over the list; None for all.
    """
    wanted = list_architectures()
    if limit is not None:
        wanted = wanted[:: max(1, len(wanted) // limit)][:limit]
    records = work / _RECORDS
    trace_all(wanted, records, workers=workers)
    names: list[dict[str, Any]] = []
    graphs: dict[str, dict[str, Any]] = {}
    listed = {item.name for item in wanted}
    for record in read_records(records):
        if record["name"] in listed:
            graph = record.pop("graph", None)
            names.append(record)
            if graph is not None:
                graphs.setdefault(graph["fingerprint"], graph)
    for graph in tqdm(graphs.values(), unit="graph", desc="mining"):
        graph["motifs"] = _motifs(graph)
    write_corpus(folder, names, list(graphs.values()))


def _motifs(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The motif table of a recorded graph."""
    paths = tuple(record["paths"])
    graph = graph_of(record["ops"], record["edges"], paths=paths, classes=record["classes"])
    return [asdict(row) for row in mine(graph).table()]


def trace_all(wanted: list[NamedArchitecture], records: Path, *, workers: int) -> None:
    """Construct and trace what is wanted and not yet recorded, one JSON line for each name.

    Args:
        wanted: The names, with their labels.
        records: Is appended to; delete it to start afresh.
        workers: Number of processes.
    """
    records.parent.mkdir(parents=True, exist_ok=True)
    done = {record["name"] for record in read_records(records)}
    todo = [item for item in wanted if item.name not in done]
    with records.open("a") as out, tqdm(total=len(todo), disable=not todo, unit="model") as bar:
        for record in _traced(todo, workers):
            out.write(json.dumps(record) + "\n")
            out.flush()
            bar.update()


def list_architectures() -> list[NamedArchitecture]:
    """Every name that the plugins list, once."""
    found: dict[str, NamedArchitecture] = {}
    for _, architectures in manager.call_each("nar_architectures"):
        for item in architectures:
            found.setdefault(item.name, item)
    return list(found.values())


def trace_named(item: NamedArchitecture) -> dict[str, Any]:
    """Construct and trace one architecture; a failure is recorded, not raised."""
    from nar_plugin.references import resolve
    from nar_plugin.tracing import trace

    started = time.perf_counter()
    record: dict[str, Any] = {**asdict(item), "version": _version(item.library), "failure": None}
    record |= {"fingerprint": None, "constructed": False, "method": None}
    try:
        with _deadline(TIME_LIMIT):
            model = resolve(item.name)
            record["constructed"] = True
            graph = trace(model)
            record |= {"fingerprint": graph.fingerprint, "params": graph.params}
            record |= {"flops": graph.flops, "method": graph.method, "reason": graph.reason[:1000]}
            record["graph"] = {
                "fingerprint": graph.fingerprint,
                "design": graph.design,
                "method": graph.method,
                "inputs": graph.inputs,
                "ops": [(op.kind, json.dumps(op.attributes)) for op in graph.ops],
                "edges": graph.edges.ravel().tolist(),
                "paths": graph.paths,
                "classes": dict(graph.classes),
            }
    except Exception as error:
        record["failure"] = f"{type(error).__name__}: {error}"[:1000]
    record["seconds"] = round(time.perf_counter() - started, 3)
    return record


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:  # models of a file, not of a distribution
        return None


def _traced(todo: list[NamedArchitecture], workers: int) -> Iterator[dict[str, Any]]:
    """Records in order of completion. After a crash its suspects run alone, one by one."""
    suspects: list[NamedArchitecture] = []
    queue = list(reversed(todo))
    while queue:
        with _pool(workers) as pool:
            running: dict[Future[dict[str, Any]], NamedArchitecture] = {}
            while queue or running:
                try:
                    while queue and len(running) < 2 * workers:
                        item = queue.pop()
                        running[pool.submit(trace_named, item)] = item
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        record = future.result()
                        del running[future]
                        yield record
                except BrokenProcessPool:
                    suspects += running.values()
                    break
    for item in suspects:
        with _pool(1) as pool:
            try:
                yield pool.submit(trace_named, item).result()
            except BrokenProcessPool:
                yield {
                    **asdict(item),
                    "failure": "the process died",
                    "fingerprint": None,
                    "constructed": False,
                    "method": None,
                }


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, _start_worker, max_tasks_per_child=200)


def _start_worker() -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    import torch

    torch.set_num_threads(1)


def _end_with(parent: int) -> None:
    """End this worker when its parent was killed: nobody would read its answers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextlib.contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read_records(records: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of the record file; a line cut short by a kill is left out."""
    if records.is_file():
        with records.open() as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)
