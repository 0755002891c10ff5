"""Rewrites that make equal designs equal: one node for attention, RMSNorm and hand-written gates.

Each rule looks for one node that starts a pattern, walks over its neighbours, and either leaves
the graph as it is or replaces the pattern's last node and drops the others.
"""

from __future__ import annotations

from collections import defaultdict

from nar_plugin.tracing.canonical import Node
from nar_plugin.tracing.graph import Attribute

_BETWEEN_SCORES_AND_SOFTMAX = frozenset("add sub mul div where masked_fill clamp".split())


class Rewriter:
    """The nodes with their consumers, and the rewrites on them.

    Args:
        nodes: Canonical nodes in topological order; they are changed in place.
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.dropped: set[int] = set()
        self.consumers: dict[int, list[int]] = defaultdict(list)
        for index, node in enumerate(nodes):
            for source in node.inputs:
                self.consumers[source].append(index)

    def run(self) -> None:
        """Apply every rule at every node where it can start."""
        for index, node in enumerate(self.nodes):
            rule = _RULES.get(node.kind)
            if rule is not None and index not in self.dropped:
                rule(self, index)
        for index, node in enumerate(self.nodes):
            if node.kind == "attention" and index not in self.dropped:
                _unmasked_bias(self, index)

    def only_consumer(self, index: int) -> int | None:
        """The one node that reads `index`, or None when there are several or none."""
        readers = self.consumers[index]
        return readers[0] if len(set(readers)) == 1 else None

    def replace(self, index: int, node: Node, dropped: list[int]) -> None:
        """Put `node` at `index`; nodes in `dropped` vanish."""
        for old in (index, *dropped):
            for source in self.nodes[old].inputs:
                self.consumers[source] = [c for c in self.consumers[source] if c != old]
        self.dropped.update(dropped)
        self.nodes[index] = node
        for source in node.inputs:
            self.consumers[source].append(index)


def _attention(graph: Rewriter, softmax: int) -> None:
    """matmul, masks and biases, softmax, matmul: scaled dot-product attention, however written."""
    nodes = graph.nodes
    bias: list[int] = []
    learned = False
    walked: list[int] = []
    current = nodes[softmax].inputs[0] if nodes[softmax].inputs else -1
    while current >= 0 and nodes[current].kind in _BETWEEN_SCORES_AND_SOFTMAX:
        if len(graph.consumers[current]) != 1 or len(walked) > 4:
            return
        walked.append(current)
        learned = learned or nodes[current].attributes.get("operand") == "param"
        scores, *others = sorted(
            nodes[current].inputs, key=lambda i: not _leads_to_matmul(nodes, i)
        )
        bias.extend(others)
        current = scores
    if current < 0 or nodes[current].kind != "matmul" or len(graph.consumers[current]) != 1:
        return
    scores = current
    output = graph.only_consumer(softmax)
    if output is None or nodes[output].kind != "matmul" or len(nodes[output].inputs) != 2:
        return
    left, right = nodes[output].inputs
    value, notes = (right, nodes[output].notes["outer"]) if left == softmax else (left, 0)
    product = nodes[scores].notes
    node = Node(
        "attention",
        {
            "heads": max(product["heads"], nodes[output].notes["heads"]),
            "width": product["inner"],
            "value_width": notes or product["inner"],
            "bias": bool(bias) or learned,
        },
        [*nodes[scores].inputs, value, *bias],
        nodes[softmax].path,
    )
    graph.replace(output, node, [scores, *walked, softmax])


def _unmasked_bias(graph: Rewriter, attention: int) -> None:
    """A mask that was added to a learned bias beforehand, once for all layers, is still a mask."""
    nodes = graph.nodes
    for place, bias in enumerate(nodes[attention].inputs[3:], start=3):
        masked = nodes[bias].kind == "add" and nodes[bias].attributes.get("operand") == "const"
        only_here = all(nodes[reader].kind == "attention" for reader in graph.consumers[bias])
        if masked and only_here:
            nodes[attention].inputs[place] = nodes[bias].inputs[0]


def _leads_to_matmul(nodes: list[Node], index: int) -> bool:
    for _ in range(6):
        if nodes[index].kind == "matmul":
            return True
        if nodes[index].kind not in _BETWEEN_SCORES_AND_SOFTMAX or not nodes[index].inputs:
            return False
        index = nodes[index].inputs[0]
    return False


def _rms_norm(graph: Rewriter, rsqrt: int) -> None:
    """X * rsqrt(mean(x^2)) * weight: Zhang & Sennrich 2019, arXiv 1910.07467, Eq. 4."""
    nodes = graph.nodes
    mean = nodes[rsqrt].inputs[0] if nodes[rsqrt].inputs else -1
    if mean < 0 or nodes[mean].kind != "mean" or not nodes[mean].inputs:
        return
    square = nodes[mean].inputs[0]
    squared = nodes[square].kind == "pow" and nodes[square].attributes.get("exponent") == 2.0
    product = nodes[square].kind == "mul" and len(set(nodes[square].inputs)) == 1
    scaled = graph.only_consumer(rsqrt)
    if not (squared or product) or scaled is None or nodes[scaled].kind != "mul":
        return
    if graph.only_consumer(mean) != rsqrt or graph.only_consumer(square) != mean:
        return
    inputs = list(dict.fromkeys(nodes[square].inputs))
    gained = graph.only_consumer(scaled)
    affine = False
    last = scaled
    if gained is not None and nodes[gained].kind == "mul":
        affine = nodes[gained].attributes.get("operand") == "param"
        last = gained if affine else scaled
    width = nodes[mean].notes["width"]
    dropped = [square, mean, rsqrt, *([scaled] if last != scaled else [])]
    attributes: dict[str, Attribute] = {"width": width, "affine": affine}
    graph.replace(last, Node("rms_norm", attributes, inputs, nodes[rsqrt].path), dropped)


def _gate(graph: Rewriter, index: int) -> None:
    """X * f(x) with one known f is one activation: SiLU, quick GELU, hard swish, Mish, GELU."""
    nodes = graph.nodes
    kind = nodes[index].kind
    product = graph.only_consumer(index)
    if product is None or nodes[product].kind != "mul" or not nodes[index].inputs:
        return
    gate, dropped = nodes[index].inputs[0], [index]
    name = {"sigmoid": "silu", "relu6": "hardswish", "erf": "gelu"}.get(kind, "")
    attributes: dict[str, Attribute] = {}
    if kind == "clamp":
        name = "hardswish" if nodes[index].attributes.get("limits") == "0..6" else ""
    if kind == "erf":
        attributes = {"approximate": "none"}
    if kind == "sigmoid" and "factor" in nodes[gate].attributes and nodes[gate].inputs:
        name, dropped, gate = "quick_gelu", [index, gate], nodes[gate].inputs[0]
    if kind == "tanh":
        name, attributes, gate, extra = _tanh_gate(graph, gate)
        dropped += extra
    others = [source for source in nodes[product].inputs if source != index]
    if not name or others != [gate]:
        return
    if any(graph.only_consumer(item) is None for item in dropped):
        return
    graph.replace(product, Node(name, attributes, [gate], nodes[index].path), dropped)


def _tanh_gate(graph: Rewriter, inner: int) -> tuple[str, dict[str, Attribute], int, list[int]]:
    """X * tanh(softplus(x)) is Mish; x * (1 + tanh(x + x^3)), factors aside, is tanh's GELU."""
    nodes = graph.nodes
    if nodes[inner].kind == "softplus" and nodes[inner].inputs:
        return "mish", {}, nodes[inner].inputs[0], [inner]
    if nodes[inner].kind == "add" and len(nodes[inner].inputs) == 2:
        for x, cube in (nodes[inner].inputs, nodes[inner].inputs[::-1]):
            if nodes[cube].kind == "pow" and nodes[cube].inputs == [x]:
                return "gelu", {"approximate": "tanh"}, x, [inner, cube]
    return "", {}, inner, []


def _rotary(graph: Rewriter, add: int) -> None:
    """X * cos + rotated(x) * sin: rotary positions, Su et al. 2021, arXiv 2104.09864, Eq. 34."""
    nodes = graph.nodes
    products = nodes[add].inputs
    if len(products) != 2 or products[0] == products[1]:
        return
    for product in products:
        constant = nodes[product].attributes.get("operand") == "const"
        if nodes[product].kind != "mul" or not constant or graph.only_consumer(product) != add:
            return
    if nodes[products[0]].inputs != nodes[products[1]].inputs:
        return
    node = Node("rotary", {}, list(nodes[products[0]].inputs), nodes[add].path)
    graph.replace(add, node, list(products))


_RULES = {
    "add": _rotary,
    "softmax": _attention,
    "rsqrt": _rms_norm,
    "sigmoid": _gate,
    "relu6": _gate,
    "clamp": _gate,
    "erf": _gate,
    "tanh": _gate,
}
