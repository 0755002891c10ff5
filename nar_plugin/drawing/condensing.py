"""Contracts a directed acyclic graph: groups of its nodes become nodes, and it stays acyclic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

Group = list[int]  # nodes, ascending
Pairs = set[tuple[int, int]]


def in_forward_order(groups: Sequence[Group], edges: Iterable[tuple[int, int]]) -> list[Group]:
    """Groups in topological order; those that close a cycle are split.

    A group whose nodes stand on both sides of another one that it feeds and reads is cut where
    that one stands.

    Args:
        groups: Disjoint; they cover all nodes.
        edges: Between nodes, source before target.
    """
    edges = list(edges)
    found = [list(group) for group in groups]
    while True:
        knots = [knot for knot in _knots(len(found), condensed(found, edges)) if len(knot) > 1]
        if not knots:
            break
        tied = {number for knot in knots for number in knot}
        kept = [group for number, group in enumerate(found) if number not in tied]
        for knot in knots:
            kept += _untied([found[number] for number in knot])
        found = kept
    pairs = condensed(found, edges)
    return [found[number] for number in _sorted(found, pairs)]


def acyclic(count: int, edges: Iterable[tuple[int, int]]) -> list[Group]:
    """Nodes in topological order; those of one cycle are one group.

    Args:
        count: Of the nodes.
        edges: Between them, in any direction.
    """
    pairs = {(source, target) for source, target in edges if source != target}
    groups = [sorted(knot) for knot in _knots(count, pairs)]
    return [groups[number] for number in _sorted(groups, condensed(groups, pairs))]


def condensed(groups: Sequence[Group], edges: Iterable[tuple[int, int]]) -> Pairs:
    """The edges between groups, numbered as they stand."""
    owner = {node: number for number, group in enumerate(groups) for node in group}
    pairs = {(owner[source], owner[target]) for source, target in edges}
    return {(source, target) for source, target in pairs if source != target}


def coarsened(names: Sequence[str], edges: Iterable[tuple[int, int]], most: int) -> list[Group]:
    """Nodes in at most so many groups: by the modules that hold them, else by their order.

    Args:
        names: The module path of each node, in topological order.
        edges: Between nodes.
        most: Groups.
    """
    edges = list(edges)
    nodes: list[Group] = [[number] for number in range(len(names))]
    deepest = max((name.count(".") + 1 for name in names), default=0)
    for depth in range(deepest, 0, -1):
        if len(nodes) <= most:
            return nodes
        inside: dict[str, Group] = {}
        for number, name in enumerate(names):
            inside.setdefault(".".join(name.split(".")[:depth]) or f"#{number}", []).append(number)
        nodes = in_forward_order(list(inside.values()), edges)
    if len(nodes) <= most:
        return nodes
    each = -(-len(nodes) // most)
    windows = (nodes[start : start + each] for start in range(0, len(nodes), each))
    return [sorted(node for group in window for node in group) for window in windows]


def _untied(groups: list[Group]) -> list[Group]:
    """Groups of one cycle, each cut where others stand between its nodes."""
    owner = {node: number for number, group in enumerate(groups) for node in group}
    runs: list[Group] = []
    last = -1
    for node in sorted(owner):
        if owner[node] != last:
            runs.append([])
        runs[-1].append(node)
        last = owner[node]
    return runs


def _knots(count: int, pairs: Pairs) -> list[list[int]]:
    """The strongly connected components (Tarjan, Depth-first search, 1972), without recursion."""
    reads: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        reads[source].append(target)
    order, low = [-1] * count, [0] * count
    stack: list[int] = []
    waiting = [False] * count
    found: list[list[int]] = []
    clock = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        path = [(root, iter(reads[root]))]
        order[root] = low[root] = clock
        clock += 1
        stack.append(root)
        waiting[root] = True
        while path:
            node, rest = path[-1]
            further = next(rest, None)
            if further is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    found.append(stack[at:])
                    for member in stack[at:]:
                        waiting[member] = False
                    del stack[at:]
            elif order[further] < 0:
                order[further] = low[further] = clock
                clock += 1
                stack.append(further)
                waiting[further] = True
                path.append((further, iter(reads[further])))
            elif waiting[further]:
                low[node] = min(low[node], order[further])
    return found


def _sorted(groups: Sequence[Group], pairs: Pairs) -> list[int]:
    """Numbers of groups in topological order, of free ones that with the earliest node first."""
    missing = [0] * len(groups)
    reads: list[list[int]] = [[] for _ in groups]
    for source, target in pairs:
        missing[target] += 1
        reads[source].append(target)
    free = [(group[0], number) for number, group in enumerate(groups) if not missing[number]]
    heapify(free)
    order = []
    while free:
        _, number = heappop(free)
        order.append(number)
        for target in reads[number]:
            missing[target] -= 1
            if not missing[target]:
                heappush(free, (groups[target][0], target))
    return order
