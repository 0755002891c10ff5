"""What loads the weights of a known design: a class or a line of Python for each library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nar_plugin.index.store.rows import ArchitectureRow

_PRETRAINED = re.compile(r"^([\w.]+)\.from_pretrained\(")
_LINES = {
    "timm": "timm.create_model({name!r})",
    "torchvision": "torchvision.models.get_model({name!r})",
    "open_clip": "open_clip.create_model({name!r})",
    "pytorchcv": "pytorchcv.model_provider.get_model({name!r})",
    "sentence_transformers": "sentence_transformers.SentenceTransformer({name!r})",
}
_CLASS = re.compile(r"[A-Z]\w*")


def loaders(row: ArchitectureRow, root: str) -> list[str]:
    """Such as `timm.create_model('resnet50')` and `transformers.BertForMaskedLM`.

    Args:
        row: Of the design; the first name of each of its libraries answers for it.
        root: The class of the model that was traced.
    """
    found: dict[str, None] = {}
    libraries: set[str] = set()
    for name in row.names:
        library, _, rest = name.partition(":")
        line = _line(library, rest, root if name == row.names[0] else "")
        if line is None and name == row.name and row.build:
            named = _PRETRAINED.match(row.build)
            line = named[1] if named else row.build
        if line is None and library not in libraries:
            line = f"{name} ({root})" if root and name == row.names[0] else name
        if line and (library not in libraries or library == "transformers"):
            found[line] = None
        libraries.add(library)
    return list(found)


def _line(library: str, name: str, root: str) -> str | None:
    if library in ("transformers", "diffusers"):
        plain = name.partition("@")[0]
        word = plain.rpartition("/")[2] if library == "transformers" else plain
        if _CLASS.fullmatch(word):
            return f"{library}.{word}"
        return f"{library}.{root}" if root and _CLASS.fullmatch(root) else None
    form = _LINES.get(library)
    return form.format(name=name) if form else None
