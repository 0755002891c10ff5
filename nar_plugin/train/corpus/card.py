"""The card of a corpus: what it holds, as a page and a picture beside the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from nar_plugin.train.corpus.corpus import read_corpus, read_names
from nar_plugin.train.corpus.facts import COLUMNS, facts_of

_HEAD = """---
license: apache-2.0
tags: [neural-architecture-retrieval]
configs:
- config_name: names
  default: true
  data_files: names.parquet
- config_name: graphs
  data_files: graphs.parquet
- config_name: ops
  data_files: ops.parquet
---
# Architectures of {libraries} model libraries: {names:,} names, {graphs:,} distinct graphs

Every name was constructed without weights and traced on meta tensors by `nar dev corpus build`.
`names` has a row for each name, `graphs` one for each distinct fingerprint (`ops` are row numbers
of the table `ops`; of each edge `steps` has how far its target is from the one before, `reaches`
how far its source is from its target; `starts` where each motif begins, `paths` the module path of
each operation, a line each), `ops` one for each distinct operation.

Distinct graphs that are not composed: {published:,}. A name is composed when it is a cell of a
cross product that was enumerated here, such as any encoder in any decoder. Names that differ in
head or vocabulary alone: the {graphs:,} graphs have {designs:,} distinct designs. Without any width
there are {topologies:,} distinct topologies (`topology` in `graphs`): the near-duplicates.

![Sizes and libraries](card.png)
"""
_TAIL = """
## Known holes
- The licence is that of the code, as the library states it; checkpoints may have another.
- A trace shows one path through a model: of routed experts those that the stand-in values choose,
  of a loop over time as many steps as the example input has.
- {modules:,} names are known by their module tree alone and carry no edges between branches; the
  embedded index leaves them out.
- {failed:,} names have no graph; `nar dev corpus failures` lists each with its cause:

{causes}
"""


def write_card(folder: Path) -> None:
    """Write `README.md` and `card.png` into the folder of a corpus.

    Args:
        folder: Of the corpus.

    Raises:
        ImportError: matplotlib is not installed; the extra `corpus` has it.
    """
    names, graphs = read_names(folder), read_corpus(folder)
    traced = [name for name in names if name["fingerprint"]]
    published = {name["fingerprint"] for name in traced if not name["composed"]}
    parts = [
        _HEAD.format(
            libraries=len({name["library"] for name in traced}),
            names=len(traced),
            graphs=len(graphs),
            published=len(published),
            designs=len({graph.design for graph in graphs}),
            topologies=len({graph.topology for graph in graphs}),
        ),
        _libraries(names),
        _counts("Families", traced, "family", 40),
        _counts("Wider families", traced, "parent", 40),
        _counts("Blocks that carry most FLOPs", traced, "coarse", 3),
        _counts("Tasks", traced, "task", 100),
        _counts("Licences of the code", traced, "licence", 40),
        *_facts(traced),
        _TAIL.format(
            modules=sum(name["method"] == "modules" for name in traced),
            failed=len(names) - len(traced),
            causes=_causes(name["failure"] for name in names if not name["fingerprint"]),
        ),
    ]
    (folder / "README.md").write_text("\n".join(parts), encoding="utf-8")
    _draw(folder / "card.png", traced, [len(graph.graph) for graph in graphs])


def _libraries(names: list[dict[str, Any]]) -> str:
    """A row for each library: listed, constructed, traced, distinct graphs, seconds."""
    rows = ["## Libraries", "", "| library | version | names | constructed | traced | graphs |"]
    rows.append("|---|---|---|---|---|---|")
    by_library: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        by_library.setdefault(name["library"], []).append(name)
    for library, mine in sorted(by_library.items(), key=lambda item: -len(item[1])):
        traced = [name for name in mine if name["fingerprint"]]
        graphs = len({name["fingerprint"] for name in traced})
        built = sum(bool(name["constructed"]) for name in mine)
        version = mine[0]["version"] or ""
        rows.append(
            f"| {library} | {version} | {len(mine):,} | {built:,} | {len(traced):,} | {graphs:,} |"
        )
    return "\n".join(rows) + "\n"


def _counts(title: str, names: list[dict[str, Any]], key: str, most: int) -> str:
    """A table of the commonest values of one label, with names and distinct graphs."""
    counts: Counter[str] = Counter()
    graphs: dict[str, set[str]] = {}
    for name in names:
        value = name[key] or "none"
        counts[value] += 1
        graphs.setdefault(value, set()).add(name["fingerprint"])
    told = len(counts) - ("none" in counts)
    rows = [f"## {title}", "", f"{told:,} in all.", "", f"| {key} | names | graphs |"]
    rows.append("|---|---|---|")
    rows += [f"| {word} | {n:,} | {len(graphs[word]):,} |" for word, n in counts.most_common(most)]
    return "\n".join(rows) + "\n"


def _facts(names: list[dict[str, Any]]) -> list[str]:
    """For how many names each fact is known; nothing of a corpus of before there were facts."""
    if not any(name.get("build") for name in names):
        return []
    facts = list(map(facts_of, names))
    known = {key: sum(fact[key] is not None for fact in facts) for key in COLUMNS}
    rows = ["## Facts", "", "| column | names | share |", "|---|---|---|"]
    rows += [f"| {key} | {n:,} | {n / len(names):.0%} |" for key, n in known.items()]
    return ["\n".join(rows) + "\n"]


def _causes(failures: Iterable[str | None]) -> str:
    """The commonest causes of failure, by the sort of error."""
    counts = Counter((failure or "unknown").partition(":")[0] for failure in failures)
    return "\n".join(f"- {cause}: {count:,}" for cause, count in counts.most_common(12))


def _draw(path: Path, names: list[dict[str, Any]], sizes: list[int]) -> None:
    """Three histograms: parameters, operations, distinct graphs by library."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    parameters = np.log10([max(1, name["params"] or 1) for name in names])
    first.hist(parameters, bins=48, color="#4477aa")
    first.set(xlabel="parameters (log10)", ylabel="names")
    second.hist(np.log10(np.maximum(1, sizes)), bins=48, color="#4477aa")
    second.set(xlabel="operations (log10)", ylabel="distinct graphs")
    graphs = {(name["library"], name["fingerprint"]) for name in names}
    largest = Counter(library for library, _ in graphs).most_common(16)[::-1]
    third.barh([library for library, _ in largest], [n for _, n in largest], color="#4477aa")
    third.set(xlabel="distinct graphs")
    figure.savefig(path, dpi=90)
