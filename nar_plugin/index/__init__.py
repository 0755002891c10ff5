"""The architectures that are known: their vectors, what is said of each, and exact search."""

from nar_plugin.index.folder import EMBEDDED
from nar_plugin.index.index import ArchitectureIndex, Match
from nar_plugin.index.rows import ArchitectureRow

__all__ = ["EMBEDDED", "ArchitectureIndex", "ArchitectureRow", "Match"]
