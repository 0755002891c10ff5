"""What `nar doctor` looks at. Each part survives the failure of the others."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

PACKAGES = ("nar-plugin", "torch", "torchvision", "timm", "transformers", "huggingface_hub")


def diagnose(reference: str | None) -> dict[str, dict[str, Any]]:
    """All parts, and the trace of one model when it is named."""
    found = {"versions": versions(), "faiss": _guarded(faiss), "index": _guarded(index)}
    if reference:
        found["trace"] = _guarded(lambda: tracing(reference))
    # Last: a plugin that failed while it was asked is part of what there is to report.
    return found | {"plugins": _guarded(plugins)}


def versions() -> dict[str, Any]:
    """Python and every package that matters; None for one that is not installed."""
    return {
        "python": f"{platform.python_version()} on {platform.platform()}",
        **{name: _version(name) for name in PACKAGES},
    }


def faiss() -> dict[str, Any]:
    """Which distributions own the `faiss` folder, and whether it works.

    `faiss-cpu` and `faiss-gpu` install the same folder, so with both of them the one installed
    last wins file by file.
    """
    owners = sorted(set(metadata.packages_distributions().get("faiss", [])))
    found: dict[str, Any] = {"installed": [f"{owner} {_version(owner)}" for owner in owners]}
    if len(owners) > 1:
        keep = _faiss_of_this_platform()
        others = " ".join(owner for owner in owners if owner != keep)
        found["remedy"] = (
            f"{' and '.join(owners)} overwrite each other's files: pip uninstall {others}, then "
            f"pip install --force-reinstall --no-deps {keep}"
        )
    if not owners:
        return {"installed": "no: numpy searches; for 100,000 rows and more nar-plugin[faiss]"}
    return found | _guarded(_faiss_import)


def index() -> dict[str, Any]:
    """The index that answers when none is named, and the encoder that reads it."""
    from nar_plugin import api

    facts = api.load_index().info()
    return {
        key: facts.get(key) for key in ("source", "revision", "age", "encoder", "names", "graphs")
    }


def plugins() -> dict[str, Any]:
    """The plugins by status, those whose library is missing apart; the error of a failed one."""
    from nar_plugin import manager

    found: dict[str, Any] = {}
    for plugin in manager.list_plugins():
        if plugin.error:
            found[plugin.name] = f"{plugin.status}: {plugin.error}"
        else:
            known = plugin.installed or plugin.status != "active"
            found.setdefault(plugin.status if known else "index only", []).append(plugin.name)
    return found


def tracing(reference: str) -> dict[str, Any]:
    """How one model is traced."""
    from nar_plugin import api

    start = time.perf_counter()
    graph = api.trace(reference)
    return {
        "name": reference,
        "method": graph.method,
        "reason": graph.reason,
        "inputs": graph.inputs,
        "parameters not reached": graph.unread,
        "ops": len(graph),
        "fingerprint": graph.fingerprint,
        "seconds": round(time.perf_counter() - start, 3),
    }


def _guarded(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a look finds, or the error that it ends in."""
    try:
        return look()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _faiss_of_this_platform() -> str:
    """The one that pyproject.toml asks for."""
    linux = sys.platform == "linux" and platform.machine() == "x86_64"
    return "faiss-gpu" if linux else "faiss-cpu"


def _faiss_import() -> dict[str, Any]:
    """Import it as a search does: after torch, or both bring their own OpenMP (macOS)."""
    import torch  # noqa: F401
    from faiss import __version__, get_num_gpus

    return {"version": __version__, "gpus": get_num_gpus()}


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
