"""Words and numbers that a person reads, from values that nobody has vouched for.

Names, labels and urls come from other people's models and indexes. They may hold terminal
escapes (which move the cursor or recolour the screen) and characters that reverse the reading
direction; `clean` removes both. Markup is the renderers' business.
"""

from __future__ import annotations

import re
import unicodedata

# CSI sequences, OSC strings up to their terminator, then any other two-character escape (ECMA-48).
_ESCAPE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def clean(text: object) -> str:
    """One line of visible text, without terminal escapes, control or direction characters."""
    bare = " ".join(_ESCAPE.sub("", str(text)).split())
    return "".join(char for char in bare if unicodedata.category(char) not in _UNSEEN)


def params_text(number: int) -> str:
    """Such as `25.6M` for 25,557,032 parameters."""
    return _scaled(number, ("K", "M", "B", "T"))


def flops_text(number: int) -> str:
    """Such as `8.2G` for 8,178,000,000 floating point operations."""
    return _scaled(number, ("K", "M", "G", "T", "P", "E"))


def times(count: int) -> str:
    """A count behind a times sign."""
    return f"\N{MULTIPLICATION SIGN}{count:,}"


def counted(count: int, noun: str) -> str:
    """Such as `1 name`, `1,461 names`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _scaled(number: int, suffixes: tuple[str, ...]) -> str:
    """One decimal and the largest suffix that leaves a value of at least 1."""
    if abs(number) < 1000:
        return str(number)
    value = number / 1000
    for suffix in suffixes:
        if abs(value) < 999.95 or suffix == suffixes[-1]:
            break
        value /= 1000
    return f"{value:.1f}{suffix}"
