"""Traces architectures in worker processes, a JSON line for each finished name.

A model that hangs or kills its worker costs only itself, and a run that was interrupted goes on
where it stopped.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tqdm import tqdm

from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION

TIME_LIMIT = 240  # seconds for one name


Engine: TypeAlias = Literal["processes", "ray"]


class TimeUp(BaseException):
    """A name took too long. No Exception: the tracer takes those for refusals, and tries on."""


def trace_all(
    wanted: list[NamedArchitecture], records: Path, *, workers: int, engine: Engine = "processes"
) -> None:
    """Construct and trace what is wanted and not yet recorded, one JSON line for each name.

    A graph that a record of a name earlier in the alphabet holds already is not written again.

    Args:
        wanted: The names, with their labels.
        records: Is appended to; delete it to start afresh.
        workers: Number of processes.
        engine: Processes of this machine, or those of a Ray cluster, however many it has.
    """
    records.parent.mkdir(parents=True, exist_ok=True)
    done: set[str] = set()
    holders: dict[str, str] = {}
    for record in read_records(records):
        if is_current(record):
            done.add(record["name"])
            _is_news(record, holders)
    todo = [item for item in wanted if item.name not in done]
    with records.open("a") as out, tqdm(total=len(todo), disable=not todo, unit="model") as bar:
        if done and not _ends_with_a_line(records):
            out.write("\n")
        for record in _on(engine, todo, workers):
            if not _is_news(record, holders):
                record.pop("graph", None)
            out.write(json.dumps(record) + "\n")
            out.flush()
            bar.update()


def _on(engine: Engine, todo: list[NamedArchitecture], workers: int) -> Iterator[dict[str, Any]]:
    if engine == "processes":
        return _traced(todo, workers)
    from nar_plugin.train.corpus.cluster import traced_on_ray

    return traced_on_ray(todo)


def is_current(record: dict[str, Any]) -> bool:
    """Whether a record was made by this tracer with the installed version of its library."""
    if record.get("tracer") != VOCABULARY_VERSION:
        return False
    return bool(record["version"] == version_of(record["library"]))


def _is_news(record: dict[str, Any], holders: dict[str, str]) -> bool:
    """Whether the graph of a record is to be kept: nobody earlier in the alphabet has it."""
    if "graph" not in record:
        return False
    fingerprint, name = str(record["fingerprint"]), str(record["name"])
    if holders.setdefault(fingerprint, name) < name:
        return False
    holders[fingerprint] = name
    return True


def _ends_with_a_line(records: Path) -> bool:
    """Whether the last line is whole: a kill may have cut it short."""
    with records.open("rb") as lines:
        if not records.stat().st_size:
            return True
        lines.seek(-1, os.SEEK_END)
        return lines.read() == b"\n"


def trace_named(item: NamedArchitecture) -> dict[str, Any]:
    """Construct and trace one architecture; a failure is recorded, not raised."""
    from nar_plugin.references import resolve
    from nar_plugin.tracing import trace

    started = time.perf_counter()
    record = _blank(item)
    try:
        with _deadline(TIME_LIMIT):
            model = resolve(item.name)
            record["constructed"] = True
            graph = trace(model)
            record |= {"fingerprint": graph.fingerprint, "params": graph.params}
            record |= {"flops": graph.flops, "work": dict(graph.work), "method": graph.method}
            record["reason"] = graph.reason[:1000]
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
    except (Exception, TimeUp) as error:
        record["failure"] = f"{type(error).__name__}: {error}"[:1000]
    record["seconds"] = round(time.perf_counter() - started, 3)
    return record


def died(item: NamedArchitecture) -> dict[str, Any]:
    """The record of a name whose tracing ended its process."""
    return {**_blank(item), "failure": "the process died"}


def _blank(item: NamedArchitecture) -> dict[str, Any]:
    return {
        **asdict(item),
        "version": version_of(item.library),
        "failure": None,
        "tracer": VOCABULARY_VERSION,
        "fingerprint": None,
        "constructed": False,
        "method": None,
    }


@functools.cache
def version_of(library: str) -> str | None:
    """The installed version of a distribution, or None for models that are of no distribution."""
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
                yield died(item)


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, _start_worker, max_tasks_per_child=200)


def _start_worker() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    start_worker()


def start_worker() -> None:
    """Make a process that traces models quiet, offline and of one thread, in a folder of its own.

    What libraries print goes to stderr: on stdout are results. Some models write files where they
    are, such as mmaction's long-term feature banks when they are deleted.
    """
    sys.stdout = sys.stderr
    os.chdir(_own_folder())
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    import torch

    from nar_plugin import isolation

    torch.set_num_threads(1)
    isolation.stay()  # a name that never ends, or kills its process, costs this worker alone


@functools.cache
def _own_folder() -> str:
    return tempfile.mkdtemp(prefix="nar-")


def _end_with(parent: int) -> None:
    """End this worker when its parent was killed: nobody would read its answers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextlib.contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeUp(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    # Code that hangs outside Python hears no signal: the worker ends, and the name with it.
    faulthandler.dump_traceback_later(2 * seconds, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read_records(records: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of the record file; a line cut short by a kill is left out."""
    if records.is_file():
        with records.open() as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)
