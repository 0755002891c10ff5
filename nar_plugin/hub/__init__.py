"""The published index: found, downloaded, verified, made the one that answers, and published."""

from typing import TYPE_CHECKING, Any

from nar_plugin.hub.opening import open_index, open_with_graphs
from nar_plugin.hub.pretrained import ArchitectureIndex
from nar_plugin.hub.publish import Published, publish
from nar_plugin.hub.repository import DEFAULT_REPOSITORY
from nar_plugin.hub.update import Update, update

if TYPE_CHECKING:
    from nar_plugin.hub.encoder import ArchitectureEncoder, PaperEncoder, publish_encoder

__all__ = [
    "DEFAULT_REPOSITORY",
    "ArchitectureEncoder",
    "ArchitectureIndex",
    "PaperEncoder",
    "Published",
    "Update",
    "open_index",
    "open_with_graphs",
    "publish",
    "publish_encoder",
    "update",
]


def __getattr__(name: str) -> Any:
    """The names of `nar_plugin.hub.encoder`, which takes 0.3 s that a query does not need."""
    if name not in ("ArchitectureEncoder", "PaperEncoder", "publish_encoder"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nar_plugin.hub import encoder

    return getattr(encoder, name)
