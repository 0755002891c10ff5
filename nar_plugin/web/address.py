"""What is asked of the page, as the query of its address: `?model=timm:resnet50&k=10`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from nar_plugin.errors import NarError

FILTERS = ("task", "family", "library", "params", "year")
K, MOST = 10, 50
_LONGEST = 200  # characters of a filter


@dataclass(frozen=True)
class State:
    """A question to the page. Every value is a visitor's text.

    Attributes:
        model: What is asked about.
        against: What it is compared with; empty for the hits alone.
        k: How many hits.
        task: A condition on the hits, as are the others; empty for none.
        family: As `task`.
        library: As `task`.
        params: As `task`, such as `<10M`.
        year: As `task`, such as `>=2023`.
        map: Whether the map of all designs is shown, with the models on it.
    """

    model: str = ""
    against: str = ""
    k: int = K
    task: str = ""
    family: str = ""
    library: str = ""
    params: str = ""
    year: str = ""
    map: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> State:
        """The state that an address or a form describes; unknown keys are left out."""
        texts = {key: str(values.get(key) or "").strip() for key in ("model", "against", *FILTERS)}
        shown = str(values.get("map") or "").lower() in ("1", "true")
        return cls(k=_number(values.get("k")), map=shown, **texts)

    def where(self) -> dict[str, str]:
        """The conditions on the hits.

        Raises:
            NarError: One of them is too long.
        """
        wanted = {key: text for key in FILTERS if (text := getattr(self, key))}
        for key, text in wanted.items():
            if len(text) > _LONGEST:
                raise NarError(f"{key} has at most {_LONGEST} characters.")
        return wanted

    def query(self) -> str:
        """What stands after the address of the page; its link."""
        values = {key: value for key, value in asdict(self).items() if value not in ("", None)}
        if self.k == K:
            del values["k"]
        values["map"] = "1"
        if not self.map:
            del values["map"]
        return "?" + urlencode(values, safe=":/")


def _number(value: Any) -> int:
    try:
        return min(max(int(value), 1), MOST)
    except (TypeError, ValueError, OverflowError):
        return K
