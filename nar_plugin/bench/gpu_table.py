"""The GPU table of docs/benchmarks.md, from what `nar dev bench gpu` wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_NOT = "not measured"
_BARS = {"1,000,000": "1 ms", "10,000,000": "6 ms, or 70% of the bandwidth"}


def gpu_table(result: Mapping[str, Any]) -> str:
    """A Markdown table; "not measured" wherever no GPU has answered.

    Args:
        result: What `nar_plugin.bench.gpu.measure` returned, or nothing.
    """
    steps = {} if result.get("rehearsal") else result.get("steps", {})

    def cell(name: str, text: Callable[[Mapping[str, Any]], str]) -> str:
        end = steps.get(name, {})
        if "figures" in end:
            return text(end["figures"])
        reason = end.get("skipped") or end.get("failed")
        return f"{_NOT}: {_plain(reason)}" if reason else _NOT

    lines = ["| asked | bar | found |", "|---|---|---|"]
    lines.append(f"| machine | | {cell('machine', _machine)} |")
    for rows in ("15,000", "1,000,000", "10,000,000"):
        for kind in ("torch", "faiss", "cagra"):
            found = cell(f"search {rows} {kind}", _search)
            lines.append(f"| {rows} rows, {kind} | {_BARS.get(rows, '')} | {found} |")
    lines.append(f"| graphs a second | 2,000 | {cell('encoding', _encoding)} |")
    for name in ("default", "paper"):
        lines.append(f"| training, `{name}` | equal figures | {cell(f'training {name}', _train)} |")
    lines.append(f"| memory | released | {cell('memory', _memory)} |")
    lines.append(f"| a query from the GPU | no trace of it | {cell('query', _query)} |")
    lines.append(f"| tests of `gpu` | pass | {cell('tests', _tests)} |")
    measured = "figures" in steps.get("machine", {})
    when = f"Measured on {result.get('date')}." if measured else "Not measured yet."
    return "\n".join([when, "", *lines])


def _plain(text: object) -> str:
    return " ".join(str(text).replace("|", "/").split())[:120]


def _machine(found: Mapping[str, Any]) -> str:
    return (
        f"{_plain(found['gpu'])}, {found['memory_gb']:.0f} GB, torch {_plain(found['torch'])}, "
        f"a copy {found['bandwidth_gb_s']:,.0f} GB/s"
    )


def _search(found: Mapping[str, Any]) -> str:
    return (
        f"{found['p50_ms']:.2f} ms, {found['of_bandwidth']:.0%} of the bandwidth; a thousand "
        f"{found['batch_ms']:.0f} ms, {found['times_cheaper']:.0f} times cheaper; "
        f"recall {found['recall']:.3f}"
    )


def _encoding(found: Mapping[str, Any]) -> str:
    def told(each: Mapping[str, Any]) -> str:
        if "gpu" not in each:
            return f"CPU {each['cpu']:,.0f}, GPU {_NOT}"
        pays = "" if each["gpu_pays"] else " (does not pay)"
        return f"CPU {each['cpu']:,.0f}, GPU {each['gpu']:,.0f}{pays}"

    return "; ".join(f"{_plain(name)}: {told(each)}" for name, each in found.items())


def _train(found: Mapping[str, Any]) -> str:
    return (
        f"CPU {found['cpu_s']:.1f} s, GPU {found['gpu_s']:.1f} s; nearest of the same family "
        f"{found['cpu_top1']:.3f} and {found['gpu_top1']:.3f}"
    )


def _memory(found: Mapping[str, Any]) -> str:
    return (
        f"encoder {found['encoder_mb']:.0f} MB, {found['index_rows']:,} rows "
        f"{found['index_mb']:.0f} MB, left {found['left_mb']:.0f} MB"
    )


def _query(found: Mapping[str, Any]) -> str:
    busy = {True: "still busy", False: "**waited for**", None: "not there"}
    return (
        f"{found['ms']:.0f} ms, the user's stream {busy[found['stream_still_busy']]}, "
        f"{found['allocated_bytes_left']} bytes left"
    )


def _tests(found: Mapping[str, Any]) -> str:
    passed = found["tests"] - found["failures"] - found["errors"] - found["skipped"]
    names = ", ".join(map(_plain, found["not_passed"]))
    return f"{passed} of {found['tests']} passed" + (f"; not {names}" if names else "")
