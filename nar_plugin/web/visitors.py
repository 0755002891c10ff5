"""What a visitor may ask about: a name of a built-in library, an upload, a Hub id if allowed.

`references.resolve` trusts the person at the keyboard: it imports `module:callable` and opens
paths. A visitor is not that person. So only these forms get through, and no other text.
"""

from __future__ import annotations

import re
from pathlib import Path

from nar_plugin import manager
from nar_plugin.errors import NarError
from nar_plugin.index import ArchitectureIndex
from nar_plugin.references.suggestions import did_you_mean
from nar_plugin.visible_text import clean
from nar_plugin.web.uploads import PREFIX, Uploads

LONGEST = 300  # characters of a reference
_NEAR = 60  # characters up to which known names are searched for one that comes near
_NAME = re.compile(r"(?P<library>[A-Za-z]\w*):(?P<name>[\w.+@/=,-]+)")
_HUB = re.compile(r"(?:hub:)?(?P<id>[\w-][\w.-]*/[\w-][\w.-]*(?:@\w[\w./-]*)?)")
_FORMS = "timm:resnet50 or transformers:bert, a pasted config.json, or an uploaded file"
_CLOSED = "This page does not ask the Hugging Face Hub. Paste the model's config.json instead."


def asked(text: str, index: ArchitectureIndex, uploads: Uploads, *, hub: bool) -> str | Path:
    """What `find_similar` may be asked for a visitor's text.

    Args:
        text: What was typed, or what an address names.
        index: Its names are suggested.
        uploads: Of this server.
        hub: Whether the operator lets visitors ask the Hub.

    Returns:
        A name of a built-in library, `hub:owner/name`, or the path of an upload.

    Raises:
        NarError: It is something else; the text says what is understood.
    """
    text = text.strip()
    if text.startswith(PREFIX):
        return uploads.find(text)
    if len(text) > LONGEST:
        raise NarError(f"A reference has at most {LONGEST} characters: {_FORMS}.")
    named = _NAME.fullmatch(text)
    if named and _is_plain(named["name"]) and _is_built_in(named["library"], text, index):
        return text
    if (repository := _HUB.fullmatch(text)) and ".." not in text:
        if not hub:
            raise NarError(_CLOSED)
        return f"hub:{repository['id']}"
    shown = clean(text)[:80]
    near = did_you_mean(text, index.contents.names) if len(text) <= _NEAR else ""
    raise NarError(f"{shown!r} is not understood here{near or f': expected {_FORMS}'}")


def is_config(text: str) -> bool:
    """Whether a text is a pasted config and no reference."""
    return text.lstrip().startswith("{")


def _is_built_in(library: str, reference: str, index: ArchitectureIndex) -> bool:
    """Whether a plugin that comes with nar-plugin answers for it, and nothing else can.

    `resolve` takes a library that has no `nar_library` for a module to import. Of these only names
    of the index get through.
    """
    own = {each.name for each in manager.list_plugins() if each.distribution == "nar-plugin"}
    if library in {each for name, each in manager.call_each("nar_library") if name in own}:
        return True
    return library in own and index.by_name(reference) is not None


def _is_plain(name: str) -> bool:
    """Whether no part of it leads up or to a hidden name."""
    return not any(part.startswith((".", "__")) for part in re.split(r"[/:]", name))
