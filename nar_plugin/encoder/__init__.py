"""ArchitectureGraph -> unit vector: its labels, each with a learned vector, summed.

`paper/` does it by motifs, as Neural Architecture Retrieval. An encoder is a folder of
`encoder.json` and `encoder.safetensors`; the config states its kind, and `load_encoder` reads each.

Importing it imports no torch: the names of `checkpoint` and `model` are looked up when they are
first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nar_plugin.encoder.config import encoder_id, encoder_sha256

if TYPE_CHECKING:
    from nar_plugin.encoder.checkpoint import clear_encoders, load_encoder, save_encoder
    from nar_plugin.encoder.graph_encoder import GraphEncoder
    from nar_plugin.encoder.model import ArchitectureEncoder
    from nar_plugin.encoder.paper.model import PaperEncoder

_ROOMS = {
    "ArchitectureEncoder": "model",
    "GraphEncoder": "graph_encoder",
    "PaperEncoder": "paper.model",
}

__all__ = [
    "ArchitectureEncoder",
    "GraphEncoder",
    "PaperEncoder",
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
    room = import_module(f"nar_plugin.encoder.{_ROOMS.get(name, 'checkpoint')}")
    return getattr(room, name)
