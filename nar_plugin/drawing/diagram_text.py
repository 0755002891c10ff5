"""A figure as text for other tools: Mermaid, which GitHub draws, and DOT, which Graphviz draws."""

from __future__ import annotations

from collections.abc import Iterator

from nar_plugin.drawing.figure import Box, Figure, Level
from nar_plugin.drawing.measures import title_of
from nar_plugin.visible_text import clean

_KINDS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")


def mermaid(figure: Figure) -> str:
    """A flowchart of the folded design; its frames are subgraphs."""
    lines = ["flowchart TD", *_mermaid(figure.spine, "n", "  ")]
    used = sorted({box.kind for box in figure.spine.all_boxes() if box.kind is not None})
    for kind in used:
        colour = _KINDS[kind % len(_KINDS)]
        lines.append(f"  classDef k{kind} stroke:{colour},stroke-width:3px")
    return "\n".join(lines) + "\n"


def dot(figure: Figure) -> str:
    """A directed graph of the folded design; its frames are clusters."""
    head = [
        "digraph design {",
        f"  label={_quoted(figure.title)}; labelloc=t; compound=true",
        '  node [shape=box, style=rounded, fontname="sans-serif"]',
    ]
    return "\n".join([*head, *_dot(figure.spine, "n", "  "), "}"]) + "\n"


def _mermaid(level: Level, prefix: str, indent: str) -> Iterator[str]:
    for number, box in enumerate(level.boxes):
        name = f"{prefix}{number}"
        if box.inside is not None:
            yield f'{indent}subgraph {name}["{_escaped(_label(box))}"]'
            yield from _mermaid(box.inside, f"{name}_", f"{indent}  ")
            yield f"{indent}end"
            continue
        shape = ('(("', '"))') if box.mark else ('["', '"]')
        kind = "" if box.kind is None else f":::k{box.kind}"
        yield f"{indent}{name}{shape[0]}{_escaped(box.mark or _label(box))}{shape[1]}{kind}"
    for edge in level.edges:
        told = f'|"{_escaped(edge.shape)}"|' if edge.shape else ""
        yield f"{indent}{prefix}{edge.source} -->{told} {prefix}{edge.target}"


def _dot(level: Level, prefix: str, indent: str) -> Iterator[str]:
    for number, box in enumerate(level.boxes):
        name = f"{prefix}{number}"
        if box.inside is not None:
            yield f"{indent}subgraph cluster_{name} {{ label={_quoted(_label(box))}"
            yield from _dot(box.inside, f"{name}_", f"{indent}  ")
            yield f"{indent}}}"
            continue
        colour = "" if box.kind is None else f', color="{_KINDS[box.kind % len(_KINDS)]}"'
        shape = ", shape=circle" if box.mark else ""
        yield f"{indent}{name} [label={_quoted(box.mark or _label(box))}{colour}{shape}]"
    for edge in level.edges:
        one, other = level.boxes[edge.source], level.boxes[edge.target]
        ends = [f"label={_quoted(edge.shape)}"] if edge.shape else []
        ends += [f"ltail=cluster_{prefix}{edge.source}"] if one.inside else []
        ends += [f"lhead=cluster_{prefix}{edge.target}"] if other.inside else []
        told = f" [{', '.join(ends)}]" if ends else ""
        source = _end(one, f"{prefix}{edge.source}", last=True)
        yield f"{indent}{source} -> {_end(other, f'{prefix}{edge.target}', last=False)}{told}"


def _end(box: Box, name: str, *, last: bool) -> str:
    """A box that is no cluster: of a frame its first or its last box."""
    while box.inside is not None:
        number = len(box.inside.boxes) - 1 if last else 0
        box, name = box.inside.boxes[number], f"{name}_{number}"
    return name


def _label(box: Box) -> str:
    return "\n".join(filter(None, (title_of(box), box.note, box.place)))


def _escaped(text: str) -> str:
    """As Mermaid takes any text: entities for what it would read."""
    lines = [
        "".join(char if char.isalnum() or char in " .,+-_/" else f"#{ord(char)};" for char in line)
        for line in map(clean, text.split("\n"))
    ]
    return "<br>".join(lines)


def _quoted(text: str) -> str:
    """A DOT string: a backslash or a quote of a name stays one."""
    lines = [clean(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
