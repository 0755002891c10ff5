"""What a person reads: results as objects, terminal tables, HTML, JSON and data frames."""

from nar_plugin.report.asked import IndexInfo, Query
from nar_plugin.report.compare import Comparison
from nar_plugin.report.hit import Hit, SharedMotif
from nar_plugin.report.similar import SimilarArchitectures
from nar_plugin.report.similar_blocks import SimilarBlocks
from nar_plugin.report.weights import SimilarWeights

__all__ = [
    "Comparison",
    "Hit",
    "IndexInfo",
    "Query",
    "SharedMotif",
    "SimilarArchitectures",
    "SimilarBlocks",
    "SimilarWeights",
]
