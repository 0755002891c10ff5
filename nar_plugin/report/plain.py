"""Text for a terminal or a file whose encoding lacks some of our characters.

Such as `PYTHONIOENCODING=ascii`, or a code page of Windows: a times sign becomes an x, and a
character without a likeness a question mark. Nothing that is printed may raise.
"""

from __future__ import annotations

import codecs
import sys
import unicodedata

PLAIN = "nar_plugin.plain"  # an error handler of codecs: `stream.reconfigure(errors=PLAIN)`

_LIKENESSES = {
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{EM DASH}": "-",
    "\N{EN DASH}": "-",
    "\N{BULLET}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
}


def printable(text: str) -> str:
    """The text in characters that stdout can show.

    Example:
        ```python
        printable("Block \N{MULTIPLICATION SIGN}3")  # "Block x3" where stdout is ASCII
        ```
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        return text.encode(encoding, PLAIN).decode(encoding)
    except (LookupError, UnicodeError):  # an encoding that Python does not know
        return text.encode("ascii", PLAIN).decode("ascii")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What stands for the characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(map(_likeness, lost)), error.end


def _likeness(char: str) -> str:
    if char in _LIKENESSES:
        return _LIKENESSES[char]
    name = unicodedata.name(char, "")
    if name.startswith("BOX DRAWINGS"):
        if " AND " in name:  # a corner or a crossing
            return "+"
        return "-" if "HORIZONTAL" in name else "|"
    bare = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    return bare if bare.isprintable() and bare else "?"


codecs.register_error(PLAIN, _plainly)
