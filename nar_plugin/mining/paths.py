"""Paths of modules."""

from __future__ import annotations

from collections.abc import Sequence


def common_path(paths: Sequence[str]) -> str:
    """The innermost module that holds all of these; empty for the model.

    Example:
        ```python
        common_path(["layer1.0.conv1", "layer1.0.bn1"])  # 'layer1.0'
        ```
    """
    common = paths[0].split(".")
    for path in paths[1:]:
        parts = path.split(".")
        same = 0
        while same < min(len(common), len(parts)) and common[same] == parts[same]:
            same += 1
        common = common[:same]
    return ".".join(common)
