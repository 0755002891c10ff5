"""Rewrites that make equal designs equal: one node for attention, RMSNorm and hand-written gates.

Each rule looks for one node that starts a pattern, walks over its neighbours, and either leaves
the graph as it is or replaces the pattern's last node and drops the others. Nodes are visited
in topological order; a pattern's size is bounded, so the time is linear in the number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import permutations, product

from nar_plugin.tracing.canon.node import Node, Read
from nar_plugin.tracing.canon.order import places

# Tries to match at one node; changes the graph or leaves it alone.
FusionRule = Callable[["Rewriter", int], None]


class Rewriter:
    """The nodes with their readers, and the rewrites on them.

    Args:
        nodes: Canonical nodes in topological order; they are changed in place.
        unread: Those that no result depends on. They are dropped before any rule looks: the mean
            of weights that nobody asked for is no reader of them.
    """

    def __init__(self, nodes: list[Node], unread: Set[int] = frozenset()) -> None:
        self.nodes = nodes
        self.dropped: set[int] = set(unread)
        self._instead: dict[int, int] = {}
        self._readers: list[dict[int, None]] = [{} for _ in nodes]
        for index, node in enumerate(nodes):
            if index not in unread:
                for source in node.inputs:
                    self._readers[source][index] = None

    def apply(
        self, rules: Mapping[str, Sequence[FusionRule]], places: Iterable[int] | None = None
    ) -> None:
        """Apply some rules, by the kind of node that they start at, to all nodes or to some."""
        for index in range(len(self.nodes)) if places is None else places:
            tried = self.nodes[index].kind
            for rule in rules.get(tried, ()):
                if index in self.dropped or self.nodes[index].kind != tried:
                    break
                rule(self, index)

    def readers(self, index: int) -> Iterable[int]:
        """The nodes that read `index`, each once."""
        return self._readers[index]

    def add_nodes(self, count: int) -> None:
        """Note that nodes were added at the end, which nothing reads."""
        self._readers.extend({} for _ in range(count))

    def link(self, index: int, source: int) -> None:
        """Note that a node reads another one."""
        self._readers[source][index] = None

    def drop_last(self, count: int) -> None:
        """Take the last nodes away, which nothing reads any more."""
        del self.nodes[-count:], self._readers[-count:]

    def only_consumer(self, index: int) -> int | None:
        """The one node that reads `index`, or None when there are several or none."""
        readers = self._readers[index]
        return next(iter(readers)) if len(readers) == 1 else None

    def serves_only(self, inside: list[int], last: int) -> bool:
        """Whether nothing outside a pattern reads its nodes but through its last one."""
        members = {*inside, last}
        return all(members.issuperset(self._readers[index]) for index in inside)

    def same_values(self, first: int, second: int, source: int) -> bool:
        """Whether two nodes read the same values of `source` in the same order.

        Not different slices of it, nor one of them turned.
        """
        reads = [self.reads(node, source) for node in (first, second)]
        whole = all(read.size == self.nodes[source].size for read in reads[0] | reads[1])
        orders = {read.order for read in reads[0] | reads[1]}
        alike = bool(reads[0] and reads[1]) and whole and len(orders) == 1
        return bool(reads[0] & reads[1]) or alike

    def other_values(self, first: int, second: int, source: int) -> bool:
        """Whether two nodes, or one of them twice, are known to read other slices or orders."""
        reads = [self.reads(node, source) for node in (first, second)]
        pairs = permutations(reads[0], 2) if first == second else product(*reads)
        apart = [
            one.order != other.order
            or (one.place[0] == other.place[0] and one.place != other.place)
            for one, other in pairs
        ]
        return bool(apart) and all(apart)

    def reads(self, index: int, source: int) -> set[Read]:
        """What a node reads of another one, where it is known."""
        node = self.nodes[index]
        pairs = zip(node.inputs, node.reads, strict=False)
        return {read for item, read in pairs if item == source}

    def read(self, index: int, source: int) -> Read | None:
        """What a node reads of another one, where it is known and one."""
        reads = self.reads(index, source)
        return next(iter(reads)) if len(reads) == 1 else None

    def is_straight(self, index: int, source: int) -> bool:
        """Whether a node reads the values of another one as they follow one another there."""
        return all(not read.order for read in self.reads(index, source))

    def shift(self, index: int, source: int) -> float:
        """The largest number that a node adds to what it reads of another one, as of x + 1."""
        return max(
            (abs(read.scaled.shift()) for read in self._all_reads(index, source)), default=0.0
        )

    def _all_reads(self, index: int, source: int) -> list[Read]:
        node = self.nodes[index]
        if len(node.inputs) != len(node.reads):
            return []
        return [read for item, read in zip(node.inputs, node.reads, strict=True) if item == source]

    def meets(self, index: int, x: int, reduced: int, reduction: int) -> bool:
        """Whether a node reads a reduction of x beside x so that each value meets its own.

        Not where what is left of other dimensions is spread along these.

        Args:
            index: The node.
            x: What it reads, that or an elementwise function of it.
            reduced: What else it reads, an elementwise function of the reduction.
            reduction: The reduction of x.
        """
        one, other = self.read(index, x), self.read(index, reduced)
        notes = self.nodes[reduction].notes
        if one is None or other is None or "spread" not in notes:
            return True
        shape = (*[1] * (len(one.shape) - len(other.shape)), *other.shape)
        sizes = zip(shape, one.shape, strict=False)
        if other.order or len(shape) > len(one.shape) or any(a not in (1, b) for a, b in sizes):
            return False
        kept = [dim for dim, size in enumerate(shape) if size > 1]
        return bool(places(one.shape, kept) == notes["spread"])

    def replace(self, index: int, node: Node, dropped: list[int]) -> None:
        """Put `node` at `index`; nodes in `dropped` vanish."""
        for old in (index, *dropped):
            for source in self.nodes[old].inputs:
                self._readers[source].pop(old, None)
        self.dropped.update(dropped)
        self.nodes[index] = node
        for source in node.inputs:
            self._readers[source][index] = None

    def merge(self, members: list[int], node: Node) -> None:
        """Put `node` in the place of the first member; what read the others reads it."""
        first, *others = members
        self.replace(first, node, others)
        for other in others:
            for reader in self._readers[other]:
                inputs = self.nodes[reader].inputs
                self.nodes[reader].inputs = [first if item == other else item for item in inputs]
                self._readers[first][reader] = None
            self._readers[other].clear()

    def splice(self, index: int, place: int) -> None:
        """Let a node read what one of its inputs reads in the place of that input."""
        node = self.nodes[index]
        inner = node.inputs[place]
        source = self.nodes[inner]
        shapes = node.notes.get("shapes")
        if shapes is not None and len(shapes) == len(node.inputs):
            more = source.notes.get("shapes", [None] * len(source.inputs))
            node.notes["shapes"] = [*shapes[:place], *more, *shapes[place + 1 :]]
        node.inputs = [*node.inputs[:place], *source.inputs, *node.inputs[place + 1 :]]
        node.reads = []
        for item in source.inputs:
            self._readers[item][index] = None
        if inner not in node.inputs:
            self._readers[inner].pop(index, None)
        self.forsake([inner])

    def forget(self, index: int) -> None:
        """Drop a node that is as good as a parameter to the one sum that reads it."""
        self.dropped.add(index)
        (reader,) = self._readers[index]
        self._readers[index].clear()
        node = self.nodes[reader]
        node.inputs = [item for item in node.inputs if item != index]
        node.reads = []
        node.attributes = {"operand": "param"}
        if not node.inputs:
            self.forget(reader)

    def bypass(self, index: int) -> None:
        """Drop a node of one input; what reads it reads that."""
        (source,) = self.nodes[index].inputs
        for reader in list(self._readers[index]):
            for place, item in enumerate(self.nodes[reader].inputs):
                if item == index:
                    self.redirect(reader, place, source)
        self._readers[source].pop(index, None)
        self.dropped.add(index)

    def stand_in(self, index: int, source: int) -> None:
        """Drop a node that computes what one before it did; what reads it reads that one."""
        for reader in list(self._readers[index]):
            for place, item in enumerate(self.nodes[reader].inputs):
                if item == index:
                    self.redirect(reader, place, source)
        inputs, notes = self.nodes[index].inputs, self.nodes[source].notes
        for item in inputs:
            self._readers[item].pop(index, None)
        self.dropped.add(index)
        self._instead[index] = source
        notes["returned"] = notes.get("returned") or self.nodes[index].notes.get("returned")
        self.forsake(item for item in inputs if item != source)

    def now(self, index: int) -> int:
        """The node that stands for one that was there before."""
        while index in self._instead:
            index = self._instead[index]
        return index

    def unlink(self, index: int, source: int) -> None:
        """Let a node read one of its inputs no more."""
        inputs = self.nodes[index].inputs
        inputs[:] = [item for item in inputs if item != source]
        self._readers[source].pop(index, None)

    def forsake(self, indices: Iterable[int]) -> None:
        """Drop those nodes that nothing reads any more, and then what only they read."""
        waiting = list(indices)
        while waiting:
            index = waiting.pop()
            returned = self.nodes[index].notes.get("returned")
            if index not in self.dropped and not self._readers[index] and not returned:
                self.dropped.add(index)
                for source in self.nodes[index].inputs:
                    self._readers[source].pop(index, None)
                waiting += self.nodes[index].inputs

    def redirect(self, index: int, place: int, source: int) -> None:
        """Let a node read another one at one place of its inputs."""
        inputs = self.nodes[index].inputs
        old = inputs[place]
        inputs[place] = source
        if old not in inputs:
            self._readers[old].pop(index, None)
        self._readers[source][index] = None
