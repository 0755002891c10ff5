"""The architectures that are known: their vectors, what is said of each, and exact search."""

from nar_plugin.index.folder import EMBEDDED
from nar_plugin.index.index import ArchitectureIndex
from nar_plugin.index.rows import ArchitectureRow
from nar_plugin.index.searcher import Match

__all__ = ["EMBEDDED", "ArchitectureIndex", "ArchitectureRow", "Match"]
