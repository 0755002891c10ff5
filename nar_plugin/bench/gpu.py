"""Every open question about a GPU, step by step: each bounded in time, and kept when it ends.

A step runs in a forked child, so that a crash or a hang of one leaves the others. This process
never touches CUDA itself: a child that is forked after that could not.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nar_plugin.bench import gpu_search, gpu_steps
from nar_plugin.bench.gpu_place import Place, Skipped
from nar_plugin.isolation import ChildEnded, OutOfTime, isolated

SECONDS = 480  # for all steps together
Step = tuple[float, Callable[[Place], dict[str, Any]]]  # seconds at most, and what is done
_ANY = (ImportError, OSError, RuntimeError, ValueError, TypeError, AttributeError, LookupError)


def steps() -> dict[str, Step]:
    """The steps by name, what is asked first being first."""
    found: dict[str, Step] = {"machine": (30, gpu_steps.machine)}
    for rows, seconds in gpu_search.SIZES.items():
        for kind in gpu_search.KINDS:
            found[f"search {rows:,} {kind}"] = seconds, gpu_search.step(kind, rows)
    found["encoding"] = 60, gpu_steps.encoding
    found["query"] = 40, gpu_steps.query
    found["memory"] = 40, gpu_steps.memory
    found["training default"] = 60, gpu_steps.training_default
    found["training paper"] = 60, gpu_steps.training_paper
    found["tests"] = 90, gpu_steps.tests
    return found


def measure(
    file: Path,
    todo: Mapping[str, Step] | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """Run the steps that have no figures yet, and write the file after each.

    With `NAR_GPU_REHEARSAL=1` every step runs on the CPU, with tiny sizes.

    Args:
        file: Receives the figures; those that it holds of this machine and version are kept.
        todo: The steps; all by default.
        tell: Receives a line before and after each step.
        seconds: For all steps together.

    Returns:
        What the file holds: `machine`, `rehearsal`, `date`, and for each of the `steps` its
        `seconds` and `figures`, or why it was `skipped` or `failed`.
    """
    todo = steps() if todo is None else todo
    place = Place.of_environment()
    result = _begun(file, place)
    started = time.perf_counter()
    for number, (name, (most, run)) in enumerate(todo.items(), start=1):
        if "figures" in result["steps"].get(name, {}):
            tell(f"{number}/{len(todo)} {name}: measured before")
            continue
        left = seconds - (time.perf_counter() - started)
        tell(f"{number}/{len(todo)} {name}, at most {max(0, min(most, left)):.0f} s")
        result["steps"][name] = _ended(run, place, min(most, left))
        result["date"] = datetime.now(UTC).strftime("%Y-%m-%d")
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = file.with_suffix(".part")
        whole.write_text(json.dumps(result, indent=1) + "\n")
        whole.replace(file)
        tell(f"  {json.dumps(result['steps'][name])}")
    return result


def _begun(file: Path, place: Place) -> dict[str, Any]:
    """What an earlier run left in the file, where it was on this machine."""
    fresh = {"host": platform.node(), "rehearsal": place.rehearsal, "steps": {}}
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return fresh
    same = all(found.get(key) == fresh[key] for key in ("host", "rehearsal"))
    return found if same and isinstance(found.get("steps"), dict) else fresh


def _ended(run: Callable[[Place], dict[str, Any]], place: Place, seconds: float) -> dict[str, Any]:
    """How a step ended."""
    if seconds <= 0:
        return {"skipped": f"the {SECONDS} s of all steps were over; the same command goes on"}
    started = time.perf_counter()
    end: dict[str, Any]
    try:
        end = {"figures": isolated(lambda: run(place), seconds, parts=True)}
    except Skipped as error:
        end = {"skipped": str(error)}
    except (OutOfTime, ChildEnded) as error:
        end = {"failed": str(error)[:300]}
    except _ANY as error:
        end = {"failed": f"{type(error).__name__}: {error}"[:300]}
    return end | {"seconds": round(time.perf_counter() - started, 1)}
