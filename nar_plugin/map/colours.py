"""Colours of the points: by task, by size, by year. Each is a legend of a few entries.

Tasks have the colours that Paul Tol calls bright (https://personal.sron.nl/~pault/), which people
who see few colours can tell apart; sizes and years go from dark to light, as viridis does.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypeVar

INK = "ink"  # as the text: black on white, white on black
TASKS = ("#4477AA", "#228833", "#CCBB44", "#EE6677", INK, "#66CCEE", "#AA3377")
SCALE = ("#5B4BA8", "#3B6FA8", "#2A8F8F", "#27AD80", "#6CC857", "#D0CF2B")
UNKNOWN = "#A8A8A8"
T = TypeVar("T")
_SIZES = (10**6, 10**7, 10**8, 10**9, 10**10)
_YEARS = (2015, 2017, 2019, 2021, 2023)
_SIZE_TEXTS = ("below 1M", "1M to 10M", "10M to 100M", "100M to 1B", "1B to 10B", "from 10B")
_YEAR_TEXTS = ("until 2014", "2015, 2016", "2017, 2018", "2019, 2020", "2021, 2022", "from 2023")


@dataclass(frozen=True)
class Legend:
    """One way to colour the points.

    Attributes:
        title: Such as `task`.
        entries: Text and colour of each class; the last one is for points that nothing is known of.
        codes: Of each point the number of its class.
    """

    title: str
    entries: tuple[tuple[str, str], ...]
    codes: tuple[int, ...]


def legends(
    tasks: Sequence[str], sizes: Sequence[int], years: Sequence[int | None]
) -> tuple[Legend, ...]:
    """The legends of points by task, parameters and year."""
    groups = task_groups()
    names = tuple(dict.fromkeys(groups.values()))
    number = {name: place for place, name in enumerate(names)}
    return (
        _legend(
            "task", names, TASKS, "other", tasks, lambda task: number.get(groups.get(task, ""))
        ),
        _legend("size", _SIZE_TEXTS, SCALE, "unknown", sizes, lambda n: bisect_right(_SIZES, n)),
        _legend("year", _YEAR_TEXTS, SCALE, "unknown", years, _year),
    )


@lru_cache(maxsize=1)
def task_groups() -> dict[str, str]:
    """The group of each task, such as `language` of `fill-mask`."""
    text = files("nar_plugin.map").joinpath("tasks.toml").read_text("utf-8")
    return {task: group for group, tasks in tomllib.loads(text).items() for task in tasks}


def _year(year: int | None) -> int | None:
    return None if year is None else bisect_right(_YEARS, year)


def _legend(
    title: str,
    texts: Sequence[str],
    colours: Sequence[str],
    rest: str,
    values: Sequence[T],
    number: Callable[[T], int | None],
) -> Legend:
    entries = (*zip(texts, colours, strict=True), (rest, UNKNOWN))
    numbers = (number(value) for value in values)
    return Legend(title, entries, tuple(len(texts) if n is None else n for n in numbers))
