"""What the annotation of a forward's argument says about it."""

from __future__ import annotations

import inspect
import re
from typing import Any

from torch import Tensor

_LIST = re.compile(r"(?:typing\.)?(?:[Ll]ist|Sequence)\[int\]")


def annotated(annotation: Any, found: list[Any], main: Tensor) -> list[Any]:
    """What was found for an argument by its name, or numbers where numbers are annotated.

    Args:
        annotation: As `inspect` gives it: a type, a text, or empty.
        found: Guesses by the name; the main input alone where the name says nothing.
        main: The first argument.
    """
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    if _LIST.fullmatch(text):  # the lengths of sequences that lie one behind another
        return [[main.shape[-1] if main.dim() < 3 else main.shape[1]]]
    if text == "int" and len(found) == 1 and found[0] is main:
        return [0, 1]  # such as where a cache begins, and a count
    return found
