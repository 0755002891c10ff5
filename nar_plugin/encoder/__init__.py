"""MacroGraph -> 512-dimensional unit vector: its labels, each with a learned vector, summed.

Importing it imports no torch: the names of `checkpoint` and `model` are looked up when they are
first used.
"""

from typing import TYPE_CHECKING, Any

from nar_plugin.encoder.config import encoder_id, encoder_sha256

if TYPE_CHECKING:
    from nar_plugin.encoder.checkpoint import clear_encoders, load_encoder, save_encoder
    from nar_plugin.encoder.model import ArchitectureEncoder

__all__ = [
    "ArchitectureEncoder",
    "clear_encoders",
    "encoder_id",
    "encoder_sha256",
    "load_encoder",
    "save_encoder",
]


def __getattr__(name: str) -> Any:
    """The names that need torch (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nar_plugin.encoder import checkpoint

    return getattr(checkpoint, name)
