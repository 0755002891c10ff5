"""The published index: found, downloaded, verified, made the one that answers, and published."""

from nar_plugin.hub.encoder import publish_encoder
from nar_plugin.hub.opening import open_index
from nar_plugin.hub.pretrained import ArchitectureIndex
from nar_plugin.hub.publish import Published, publish
from nar_plugin.hub.repository import DEFAULT_REPOSITORY
from nar_plugin.hub.update import Update, update

__all__ = [
    "DEFAULT_REPOSITORY",
    "ArchitectureIndex",
    "Published",
    "Update",
    "open_index",
    "publish",
    "publish_encoder",
    "update",
]
