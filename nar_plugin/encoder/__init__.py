"""MacroGraph -> 512-dimensional unit vector: the two-level GCN of Eq. 3 and 8."""

from nar_plugin.encoder.checkpoint import (
    clear_encoders,
    encoder_sha256,
    load_encoder,
    save_encoder,
)
from nar_plugin.encoder.model import DIMENSIONS, ArchitectureEncoder

__all__ = [
    "DIMENSIONS",
    "ArchitectureEncoder",
    "clear_encoders",
    "encoder_sha256",
    "load_encoder",
    "save_encoder",
]
