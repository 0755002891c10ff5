"""Exports known models to each format, asks the files, and writes docs/benchmarks/files.md.

    python docs/benchmarks/files.py measure FOLDER [--seconds N] [--only TEXT] [--again FORMATS]
    python docs/benchmarks/files.py write FOLDER

`measure` can be stopped and goes on where it was: FOLDER/exports.jsonl and FOLDER/answers.jsonl say
what was done. `--again` asks the files of these formats once more, such as `dynamo.onnx,pt`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from file_models import LARGEST, Exports, inputs_of, model_of, references, train
from torch import nn

import nar_plugin

HERE = Path(__file__).parent
MOST_SECONDS = 60  # of an export
FORMATS = ("pt2", "core.pt2", "dynamo.onnx", "script.onnx", "pt")
SAID = {
    "pt2": ".pt2",
    "core.pt2": ".pt2 after run_decompositions()",
    "dynamo.onnx": "ONNX, dynamo exporter",
    "script.onnx": "ONNX, TorchScript exporter",
    "pt": "TorchScript, traced",
}


class Log:
    """Lines of JSON that are added one by one, so that a run goes on where it was stopped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        rows = [json.loads(line) for line in lines]
        self.rows = {(row["model"], row["kind"]): row for row in rows}  # the last counts

    def add(self, **row: Any) -> None:
        """Keep a row."""
        self.rows[row["model"], row["kind"]] = row
        with self._file.open("a") as out:
            out.write(json.dumps(row) + "\n")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError where the block takes more processor time."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _problem(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"[:300]


class Measured:
    """One model: its files and their answers.

    Args:
        folder: Where the files and what is known of them are.
        reference: Of the model.
        exports: What was exported.
        answers: What was asked.
    """

    def __init__(self, folder: Path, reference: str, exports: Log, answers: Log) -> None:
        self._folder, self._reference = folder, reference
        self._exports, self._answers = exports, answers

    def run(self, again: set[str]) -> None:
        """Export and ask what was not, and ask the formats of `again`."""
        reference, made = self._reference, self._exports.rows
        unmade = [kind for kind in FORMATS if (reference, kind) not in made]
        unasked = [kind for kind in FORMATS if self._is_unasked(kind, again)]
        if not unmade and not unasked:
            return
        try:
            model = model_of(reference)
            if (size := sum(item.numel() for item in model.parameters())) > LARGEST:
                raise ValueError(f"left out for its {size / 1e6:.0f}M parameters")
            args, kwargs = inputs_of(model)
            train(model)
        except Exception as error:
            for kind in unmade:
                problem = "not built: " + _problem(error)
                self._exports.add(model=reference, kind=kind, problem=problem)
            return
        exports = Exports(model, args, kwargs)
        for kind in unmade:
            self._export(exports, kind)
        self._ask(model, kwargs or args, again)

    def _is_unasked(self, kind: str, again: set[str]) -> bool:
        key = self._reference, kind
        is_file = key in self._exports.rows and not self._exports.rows[key]["problem"]
        return is_file and (kind in again or key not in self._answers.rows)

    def _export(self, exports: Exports, kind: str) -> None:
        start = time.process_time()
        file = self._folder / f"{re.sub('[:/]', '.', self._reference)}.{kind}"
        problem = ""
        try:
            with at_most(MOST_SECONDS), torch.no_grad():
                exports.write(kind, file)
        except Exception as error:
            problem = _problem(error)
            file.unlink(missing_ok=True)
        took = round(time.process_time() - start, 1)
        self._exports.add(
            model=self._reference, kind=kind, file=file.name, problem=problem, seconds=took
        )
        print(self._reference, kind, took, problem[:100], flush=True)

    def _ask(self, model: nn.Module, inputs: Any, again: set[str]) -> None:
        kinds = [kind for kind in FORMATS if self._is_unasked(kind, again)]
        try:
            own = nar_plugin.trace(model, example_inputs=inputs)
        except Exception as error:
            print(self._reference, "the module itself:", _problem(error), flush=True)
            return
        first = None
        for kind in kinds:
            path = self._folder / self._exports.rows[self._reference, kind]["file"]
            answer: dict[str, Any] = {"equal": False, "own": False, "problem": ""}
            try:
                graph = nar_plugin.trace(path)
                answer["ops"] = [len(own), len(graph)]
                answer["equal"] = answer["own"] = graph.fingerprint == own.fingerprint
                if not answer["equal"]:  # an equal graph has the module's answer
                    first = first or nar_plugin.find_similar(model, 1, example_inputs=inputs)[0]
                    hit = nar_plugin.find_similar(path, 1)[0]
                    answer["own"] = hit.name in {first.name, *first.names, *first.variants}
                    answer |= {"hit": hit.name, "score": round(hit.score, 3), "first": first.name}
            except Exception as error:
                answer["problem"] = _problem(error)
            self._answers.add(model=self._reference, kind=kind, **answer)
            print(self._reference, kind, answer, flush=True)


def measure(folder: Path, seconds: float, only: str, again: set[str]) -> None:
    """Export each model to each format and ask the files, where that was not done."""
    end = time.monotonic() + seconds
    exports, answers = Log(folder / "exports.jsonl"), Log(folder / "answers.jsonl")
    for reference in references():
        if only in reference and time.monotonic() < end:
            Measured(folder, reference, exports, answers).run(again)
            gc.collect()


def write_page(folder: Path, page: Path) -> None:
    """Put the tables between the marks of the page."""
    exports, answers = Log(folder / "exports.jsonl").rows, Log(folder / "answers.jsonl").rows
    lines = [
        "| format | exported | asked | fingerprint equal | first hit as the module's |",
        "|---|---|---|---|---|",
    ]
    causes: list[str] = []
    for kind in FORMATS:
        made = [key for key, row in exports.items() if key[1] == kind and not row["problem"]]
        rows = [answers[key] for key in made if key in answers]
        if not rows:
            continue
        equal, own = (sum(row[name] for row in rows) for name in ("equal", "own"))
        lines.append(
            f"| {SAID[kind]} | {len(made)} | {len(rows)} | {equal} ({equal / len(rows):.0%}) | "
            f"{own} ({own / len(rows):.0%}) |"
        )
        causes += [_cause(row) for row in rows if not row["equal"]]
    lines += [
        "",
        "| model | format | operations, module and file | first hit |",
        "|---|---|---|---|",
    ]
    text = page.read_text()
    start, end = "<!-- tables -->", "<!-- end of tables -->"
    before, _, rest = text.partition(start)
    made_text = "\n".join([start, *lines, *causes, end])
    page.write_text(before + made_text + rest.partition(end)[2])


def _cause(row: dict[str, Any]) -> str:
    found = row["problem"].replace("|", "/").replace("\n", " ")
    found = re.sub(r"/\S+/", "", found)[:160]  # no path of this machine
    ops = " / ".join(map(str, row.get("ops", ()))) or "-"
    hit = found or f"{row['hit']}, {row['score']}{'' if row['own'] else ' (another)'}"
    return f"| {row['model']} | {SAID[row['kind']]} | {ops} | {hit} |"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.environ.setdefault("NAR_TRACE_SECONDS", "120")  # however busy the machine is
    if given.what == "measure":
        measure(given.folder, given.seconds, given.only, set(given.again.split(",")))
    else:
        write_page(given.folder, HERE / "files.md")


if __name__ == "__main__":
    main()
