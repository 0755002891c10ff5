"""nn.Module -> ArchitectureGraph: the forward pass followed on the meta device.

Importing it imports no torch: what an index knows is answered without. The functions are looked up
when they are first used.
"""

from typing import TYPE_CHECKING, Any

from nar_plugin.tracing.graph import ArchitectureGraph, Op

if TYPE_CHECKING:
    from nar_plugin.tracing.run.question import Traced, trace, traced
    from nar_plugin.tracing.twin.wrappers import unwrap

__all__ = ["ArchitectureGraph", "Op", "Traced", "trace", "traced", "unwrap"]


def __getattr__(name: str) -> Any:
    """What needs torch (PEP 562)."""
    if name == "unwrap":
        from nar_plugin.tracing.twin.wrappers import unwrap

        return unwrap
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nar_plugin.tracing.run import question

    return getattr(question, name)
