"""Which package brings a model library, for the errors that say what to install."""

from __future__ import annotations

from importlib.util import find_spec

from nar_plugin.errors import NarError

PACKAGES = {
    "huggingface_hub": "nar-plugin[transformers]",
    "timm": "nar-plugin[timm]",
    "torchvision": "torchvision",
    "transformers": "nar-plugin[transformers]",
}


def want(library: str, *, for_what: str) -> None:
    """Do nothing when the library is installed.

    Raises:
        NarError: When it is not; the text names the package to install.
    """
    if find_spec(library) is None:
        raise NarError(
            f"{for_what} wants {library}, which is not installed: pip install '{PACKAGES[library]}'"
        )
