"""The process that `environments.Environment.trace` starts in another environment."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from nar_plugin.train.corpus.build import listed_apart, trace_news


def main(task: str) -> None:
    """Trace the new names of some libraries.

    Args:
        task: JSON object with `libraries`, `before` (folder of a corpus), `records`, `listing`
            (files to write) and `workers`.
    """
    asked = json.loads(task)
    wanted = listed_apart(asked["libraries"])
    Path(asked["listing"]).parent.mkdir(parents=True, exist_ok=True)
    Path(asked["listing"]).write_text(json.dumps([asdict(item) for item in wanted]))
    trace_news(wanted, Path(asked["before"]), Path(asked["records"]), workers=asked["workers"])


if __name__ == "__main__":
    main(sys.argv[1])
