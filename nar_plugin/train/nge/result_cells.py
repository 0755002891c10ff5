"""Finished measurements, a JSON file each, so that an interrupted comparison goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nar_plugin.train.fit.checkpoints import write_json


def cell(path: Path, settings: dict[str, Any], measure: Callable[[], dict[str, Any]]) -> Any:
    """What was measured with these settings; it is measured where no file says so.

    Args:
        path: Of the file.
        settings: All that the result depends on.
        measure: Gives the result.

    Returns:
        The settings and the result, in one dict.
    """
    settings = json.loads(json.dumps(settings))  # tuples as lists, as they are read back
    if path.is_file():
        known = json.loads(path.read_text(encoding="utf-8"))
        if {key: known.get(key) for key in settings} == settings:
            return known
    found = settings | measure()
    write_json(found, path)
    return found
