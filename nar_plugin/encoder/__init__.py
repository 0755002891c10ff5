"""MacroGraph -> 512-dimensional unit vector: a sketch of its labels, projected."""

from nar_plugin.encoder.checkpoint import (
    clear_encoders,
    encoder_id,
    encoder_sha256,
    load_encoder,
    save_encoder,
)
from nar_plugin.encoder.model import ArchitectureEncoder

__all__ = [
    "ArchitectureEncoder",
    "clear_encoders",
    "encoder_id",
    "encoder_sha256",
    "load_encoder",
    "save_encoder",
]
