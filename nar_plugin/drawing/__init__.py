"""Pictures of designs: folded to blocks with counts, laid out in Python (docs/drawing.md)."""

from nar_plugin.drawing.picture import Picture

__all__ = ["Picture"]
