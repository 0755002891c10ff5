"""Activations of the form x * f(x), and others that are written in several operations."""

from __future__ import annotations

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at
from nar_plugin.tracing.graph import Attribute

# Kinds that begin or end a pattern x * f(x): what they read of x decides whether it is one.
_WITHOUT, _PLUS_ONE = (0.0, -1.0), (1.0, -1.0)  # 1 - sigmoid(x) is sigmoid(-x), -erf(x) erf(-x)
_ROUNDING = 1e-2
SELF_GATED = frozenset({"sigmoid", "hardsigmoid", "erf", "pow", "exp", "softplus", "mul", "div"})


def _self_gated(
    graph: Rewriter,
    start: int,
    inner: list[int],
    kind: str,
    offset: tuple[float, float] = _WITHOUT,
    **attributes: Attribute,
) -> None:
    """X * f(x) becomes one node, if f's nodes serve nothing else.

    Args:
        graph: The graph.
        start: The last node of f.
        inner: All nodes of f, the first of them last.
        kind: What x * f(x) is called.
        offset: The numbers that may be added to f(x).
        **attributes: Attributes of the new node.
    """
    product = graph.only_consumer(start)
    first = graph.nodes[inner[-1]]
    if product is None or graph.nodes[product].kind != "mul" or not first.inputs:
        return
    x = first.inputs[0]
    others = [source for source in graph.nodes[product].inputs if source != start]
    if others != [x] or not graph.same_values(inner[-1], product, x):
        return
    if not graph.serves_only([start, *inner], product):
        return
    if not _is_elementwise(graph, {start, *inner}, product):
        return
    added = [read.scaled.shift() for read in graph.reads(product, start)]
    if any(min(abs(each - number) for number in offset) > _ROUNDING for each in added):
        return
    if graph.shift(product, x) > _ROUNDING:
        return
    node = Node(kind, attributes, [x], first.path, graph.nodes[product].out, first.reads[:1])
    graph.replace(product, node, [start, *inner])


def _is_elementwise(graph: Rewriter, inner: set[int], product: int) -> bool:
    """Whether a pattern's values meet one by one: none is turned or spread between."""
    size = graph.nodes[product].size
    for index in (*inner, product):
        for source in inner.intersection(graph.nodes[index].inputs):
            if not graph.is_straight(index, source) or graph.nodes[source].size != size:
                return False
    return True


@starts_at(
    Rule(
        name="SiLU and quick GELU by hand",
        effect="fused",
        pattern="x * sigmoid(x), x * sigmoid(1.702 x)",
        result="silu, quick_gelu",
        reason="x must be the whole tensor or the same slice on both sides: a * sigmoid(b) is a "
        "gated linear unit.",
        source="Ramachandran et al. 2017, arXiv 1710.05941; Hendrycks & Gimpel, arXiv 1606.08415",
    ),
    "sigmoid",
)
def _sigmoid(graph: Rewriter, index: int) -> None:
    quick = graph.nodes[index].notes.get("quick")
    _self_gated(graph, index, [index], "quick_gelu" if quick else "silu")


@starts_at(
    Rule(
        name="hard swish by hand",
        effect="fused",
        pattern="x * hardsigmoid(x), the hard sigmoid by name or by hand",
        result="hardswish",
        reason="Older than F.hardswish.",
        source="Howard et al. 2019, arXiv 1905.02244, section 5.2",
    ),
    "hardsigmoid",
)
def _hard(graph: Rewriter, index: int) -> None:
    _self_gated(graph, index, [index], "hardswish")


@starts_at(
    Rule(
        name="GELU by hand",
        effect="fused",
        pattern="x * (1 + erf(x / sqrt(2))) / 2",
        result="gelu(approximate=none)",
        reason="BERT is older than F.gelu.",
        source="Hendrycks & Gimpel 2016, arXiv 1606.08415, section 2",
    ),
    "erf",
)
def _gelu(graph: Rewriter, index: int) -> None:
    _self_gated(graph, index, [index], "gelu", _PLUS_ONE, approximate="none")


@starts_at(
    Rule(
        name="tanh GELU by hand",
        effect="fused",
        pattern="x * (1 + tanh(c (x + 0.044715 x^3))) / 2 in any arrangement",
        result="gelu(approximate=tanh)",
        reason="GPT-2's own, older than F.gelu(approximate='tanh').",
        source="Hendrycks & Gimpel 2016, arXiv 1606.08415, section 2",
    ),
    "tanh",
)
def _tanh_gelu(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    inner = next(iter(nodes[index].inputs), index)
    if len(nodes[inner].inputs) != 2:
        return
    for x, other in (nodes[inner].inputs, nodes[inner].inputs[::-1]):
        cubed = _cube(graph, x, other) if nodes[inner].kind == "add" else _square(graph, x, other)
        if nodes[inner].kind in ("add", "mul") and cubed:
            # The first node reads x itself, as every node of the polynomial does.
            _self_gated(graph, index, [inner, *cubed], "gelu", _PLUS_ONE, approximate="tanh")
            return


def _square(graph: Rewriter, x: int, index: int) -> list[int]:
    node = graph.nodes[index]
    return [index] if set(node.inputs) == {x} and node.attributes.get("exponent") == 2.0 else []


def _cube(graph: Rewriter, x: int, index: int) -> list[int]:
    """The nodes of x^3: a power, or x^2 times x."""
    node = graph.nodes[index]
    if node.inputs == [x] and node.attributes.get("exponent") == 3.0:
        return [index]
    if node.kind == "mul" and len(node.inputs) == 2 and x in node.inputs:
        other = next((source for source in node.inputs if source != x), x)
        square = _square(graph, x, other)
        return [index, *square] if square else []
    return []


@starts_at(
    Rule(
        name="Mish by hand",
        effect="fused",
        pattern="x * tanh(softplus(x))",
        result="mish",
        reason="Older than F.mish.",
        source="Misra 2019, arXiv 1908.08681, Eq. 1",
    ),
    "tanh",
)
def _mish(graph: Rewriter, index: int) -> None:
    inner = next(iter(graph.nodes[index].inputs), index)
    if graph.nodes[inner].kind == "softplus":
        _self_gated(graph, index, [inner], "mish")


@starts_at(
    Rule(
        name="softplus by hand",
        effect="fused",
        pattern="log(1 + exp(x)), log1p(exp(x))",
        result="softplus",
        reason="One function.",
        source="Dugas et al. 2001, Incorporating Second-Order Functional Knowledge",
    ),
    "log",
    "log1p",
)
def _softplus(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    power = next(iter(node.inputs), index)
    if graph.nodes[power].kind != "exp" or not graph.nodes[power].inputs:
        return
    if node.kind == "log" and not node.notes["plus_one"]:
        return
    if graph.only_consumer(power) != index or any(
        read.scaled.scale < 0 for read in graph.reads(index, power)
    ):
        return
    first = graph.nodes[power]
    graph.replace(
        index, Node("softplus", {}, first.inputs, first.path, node.out, first.reads), [power]
    )
