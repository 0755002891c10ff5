"""The process that `environments.Environment.trace` starts in another environment."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from nar_plugin.train.build import list_architectures, trace_news


def main(task: str) -> None:
    """Trace the new names of some libraries.

    Args:
        task: JSON object with `libraries`, `before` (folder of a corpus), `records`, `listing`
            (files to write) and `workers`.
    """
    asked = json.loads(task)
    # In a process of its own: the libraries that it imports are not held while workers trace.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        wanted = pool.submit(list_architectures, asked["libraries"]).result()
    Path(asked["listing"]).parent.mkdir(parents=True, exist_ok=True)
    Path(asked["listing"]).write_text(json.dumps([asdict(item) for item in wanted]))
    trace_news(wanted, Path(asked["before"]), Path(asked["records"]), workers=asked["workers"])


if __name__ == "__main__":
    main(sys.argv[1])
