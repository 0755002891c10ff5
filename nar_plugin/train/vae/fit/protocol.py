"""The settings of a training: those of the paper, and smaller ones for a processor."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nar_plugin.errors import NarError

BETA = 0.005  # weight of the divergence (D-VAE's code)


@dataclass(frozen=True)
class Protocol:
    """How a model is trained.

    Attributes:
        name: Labels the figures.
        hidden: Width of all hidden states.
        batch: Graphs in a step.
        epochs: By the name of the model, and "" for the others.
        repeats: T of section 3.3, by the name of the model; 1 where it is not named. Each repeat
            trains all from the start, but the operation embeddings.
        rate: Of Adam, at first.
        falls: `plateau`: by .1 after 10 epochs without a lower loss; `cosine`: to 0 at the end.
        clip: The largest norm of a gradient; None for no limit.
    """

    name: str
    hidden: int
    batch: int
    epochs: dict[str, int]
    repeats: dict[str, int]
    rate: float
    falls: str
    clip: float | None

    def epochs_of(self, model: str) -> int:
        """Epochs of one repeat."""
        return self.epochs.get(model, self.epochs[""])

    def repeats_of(self, model: str) -> int:
        """T."""
        return self.repeats.get(model, 1)

    def settings_of(self, model: str) -> dict[str, object]:
        """All that decides what one model learns."""
        own = {"epochs": self.epochs_of(model), "repeats": self.repeats_of(model)}
        return asdict(self) | own


# Sections 3.3 and 4; hidden 501, batch, rate and plateau from D-VAE's code.
PAPER = Protocol("paper", 501, 32, {"": 300}, {"DVAE-EMB": 4}, 1e-4, "plateau", None)
# A few minutes of one core for each model.
REDUCED = Protocol(
    "reduced", 128, 64, {"": 12, "S-VAE": 20, "GCN": 40, "GCN-EMB": 40}, {}, 3e-3, "cosine", 1.0
)


def protocol(name: str) -> Protocol:
    """The protocol of this name.

    Raises:
        NarError: There is no such protocol.
    """
    known = {item.name: item for item in (PAPER, REDUCED)}
    if name not in known:
        raise NarError(f"No protocol {name!r}. Give --protocol {' or '.join(known)}.")
    return known[name]
