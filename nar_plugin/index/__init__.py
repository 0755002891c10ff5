"""The architectures that are known: their vectors, what is said of each, and exact search."""

from nar_plugin.index.index import ArchitectureIndex
from nar_plugin.index.search.searcher import Match
from nar_plugin.index.store.folder import EMBEDDED
from nar_plugin.index.store.rows import ArchitectureRow

__all__ = ["EMBEDDED", "ArchitectureIndex", "ArchitectureRow", "Match"]
