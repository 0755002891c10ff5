"""nn.Module -> ArchitectureGraph: the forward pass followed on the meta device.

Importing it imports no torch: what an index knows is answered without. `trace` and `unwrap` are
looked up when they are first used.
"""

from typing import TYPE_CHECKING, Any

from nar_plugin.tracing.graph import ArchitectureGraph, Op

if TYPE_CHECKING:
    from nar_plugin.tracing.ways import trace
    from nar_plugin.tracing.wrappers import unwrap

__all__ = ["ArchitectureGraph", "Op", "trace", "unwrap"]


def __getattr__(name: str) -> Any:
    """The functions that need torch (PEP 562)."""
    if name not in ("trace", "unwrap"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nar_plugin.tracing import ways

    return getattr(ways, name)
