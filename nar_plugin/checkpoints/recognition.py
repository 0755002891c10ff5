"""Whether a question is about a checkpoint; cheap to ask of what is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nar_plugin.checkpoints.tensors import Checkpoint

_HUB = "hub:"


def checkpoint_of(candidate: Any) -> Checkpoint | None:
    """The checkpoint that a person means, or None.

    Args:
        candidate: The path of a file or folder, `hub:owner/name`, a state_dict, or anything else.

    Raises:
        NarError: It is a checkpoint that cannot be read.
    """
    if issubclass(type(candidate), str) and candidate.startswith(_HUB):
        from nar_plugin.checkpoints.on_the_hub import from_hub

        return from_hub(candidate.removeprefix(_HUB))
    from nar_plugin.checkpoints.reading import read_checkpoint

    return read_checkpoint(candidate)
