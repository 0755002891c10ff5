"""Normalisations that are written out: what is divided by the root of its own second moment."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.layers import is_of_channels
from nar_plugin.tracing.canon.rules.rule import Rule, declare, starts_at
from nar_plugin.tracing.graph import Attribute

declare(
    Rule(
        name="layer norm by hand",
        effect="fused",
        pattern="(x - mean(x)) / sqrt(var(x) + eps) * weight + bias over the channels, last or "
        "first",
        result="layer_norm(width, affine)",
        reason="ConvNeXt's LayerNorm2d and the Annotated Transformer's, with var, std, var_mean, "
        "the mean of squares or that less the square of the mean; n or n - 1 is a number.",
        source="Ba et al. 2016, arXiv 1607.06450, Eq. 3",
    )
)
declare(
    Rule(
        name="instance norm by hand",
        effect="fused",
        pattern="(x - mean(x)) / sqrt(var(x) + eps) over the positions",
        result="instance_norm",
        reason="As adaptive instance normalisation is written.",
        source="Huang & Belongie 2017, arXiv 1703.06868, Eq. 5",
    )
)
declare(
    Rule(
        name="group norm by hand",
        effect="fused",
        pattern="(x - mean(x)) / sqrt(var(x) + eps) over all but the second dimension of a view "
        "with fewer channels",
        result="group_norm(width, groups)",
        reason="As the paper's Figure 3 has it.",
        source="Wu & He 2018, arXiv 1803.08494, Figure 3",
    )
)
declare(
    Rule(
        name="global layer norm by hand",
        effect="fused",
        pattern="(x - mean(x)) / sqrt(var(x) + eps) * weight + bias over all dimensions but the "
        "first, with a weight and a bias for each channel or without",
        result="group_norm(width, groups=1)",
        reason="Speech separation calls a group norm of one group so.",
        source="Luo & Mesgarani 2019, arXiv 1809.07454, global layer normalization (gLN)",
    )
)
declare(
    Rule(
        name="RMS norm by hand",
        effect="fused",
        pattern="x * rsqrt(mean(x^2) + eps) * weight; weight * x / sqrt(mean(x^2) + eps); "
        "F.normalize(x) * weight",
        result="rms_norm(width, affine)",
        reason="Libraries are older than torch's call; length and root mean square differ by a "
        "number.",
        source="Zhang & Sennrich 2019, arXiv 1910.07467, Eq. 4",
    )
)

_EPS = 0.1  # at most, beside a variance
_REDUCTIONS = frozenset({"mean", "sum", "var", "std", "var_mean", "std_mean"})


@starts_at(
    Rule(
        name="L2 norm",
        effect="fused",
        pattern="F.normalize(x); x / norm(x), x * rsqrt(sum(x^2))",
        result="l2_norm",
        reason="One function; with a learned weight behind it, it is an RMS norm.",
    ),
    "sqrt",
    "rsqrt",
    "std",
    "linalg_vector_norm",
)
def _normalised(graph: Rewriter, root: int) -> None:
    pattern = _Pattern(graph, root)
    if pattern.found():
        pattern.replace()


class _Pattern:
    """What is found around the root of a second moment.

    Args:
        graph: The graph.
        root: A `sqrt`, `rsqrt`, `std` or vector norm.
    """

    def __init__(self, graph: Rewriter, root: int) -> None:
        self.graph = graph
        self.root = root
        self.inside = {root}
        self.kind = ""
        self.x = -1
        self.product = -1
        self.moment = root  # the node that reduces
        self.affine = False
        self.sizes: list[int | None] = []  # of the weights and biases
        self.notes: dict[str, Any] = {}  # of what reduces x
        self.channels = 1  # the dimension that has a weight or bias for each of its places

    def found(self) -> bool:
        """Look at what is above the root, then at what is below."""
        node = self.graph.nodes[self.root]
        if not node.inputs:
            return False
        if node.kind in ("sqrt", "rsqrt"):
            self.moment = node.inputs[0]
            self.inside.add(self.moment)
        product = self.graph.only_consumer(self.root)
        if product is None or not self.graph.nodes[self.moment].inputs:
            return False
        self.product = product
        numerator = self._numerator()
        if numerator is None or not self._moment_of(numerator):
            return False
        if self.kind != "layer_norm":
            self.notes = self.graph.nodes[self.moment].notes
        reductions = [item for item in self.inside if self.graph.nodes[item].kind in _REDUCTIONS]
        if len({_reduced(self.graph.nodes[item].notes) for item in reductions}) > 1:
            return False
        if not self._meets(product, numerator, self.root) or not self._is_of_numbers(numerator):
            return False
        return self.graph.serves_only(list(self.inside), self.product)

    def _meets(self, index: int, x: int, reduced: int) -> bool:
        """Whether each value is divided by the root, or less the mean, of those that it is of."""
        nodes = self.graph.nodes
        straight = all(
            self.graph.is_straight(item, source)
            for item in (*self.inside, index)
            for source in nodes[item].inputs
            if source in self.inside
        )
        centre = nodes[x].inputs if nodes[x].kind == "sub" and x in self.inside else []
        less = len(centre) != 2 or self.graph.meets(x, centre[0], centre[1], centre[1])
        return straight and less and self.graph.meets(index, x, reduced, self.moment)

    def _is_of_numbers(self, numerator: int) -> bool:
        """Whether numbers between change nothing but the scale, and guard against zero."""
        graph, nodes = self.graph, self.graph.nodes
        if graph.shift(self.product, numerator) > 0 or graph.shift(self.product, self.root) > _EPS:
            return False
        read = graph.read(self.root, self.moment)
        if read is not None and abs(read.scaled.shift()) > _EPS:
            return False
        for item in self.inside:
            node = nodes[item]
            if node.kind == "pow" and any(graph.shift(item, source) > 0 for source in node.inputs):
                return False
            if node.kind == "sub" and self._centre(item) is not None:
                scales = {round(each.scaled.scale, 3) for each in node.reads}
                if len(node.reads) == 2 and len(scales) > 1:
                    return False
        return True

    def _numerator(self) -> int | None:
        """What is divided, without a weight that it was multiplied with before."""
        nodes = self.graph.nodes
        product = nodes[self.product]
        expected = "mul" if nodes[self.root].kind == "rsqrt" else "div"
        if product.kind != expected or len(product.inputs) != 2 or self.root not in product.inputs:
            return None
        if expected == "div" and product.inputs[1] != self.root:
            return None
        numerator = next((item for item in product.inputs if item != self.root), None)
        if numerator is None:
            return None
        self._note(numerator)
        if nodes[numerator].kind != "mul":
            return numerator
        if nodes[numerator].attributes.get("operand") == "param":
            (x,) = nodes[numerator].inputs
            before = nodes[x].kind == "sub" or numerator not in self._squared()
            if before and self._is_of_width(numerator):
                self.inside.add(numerator)
                self.affine = True
                self.sizes.append(nodes[numerator].notes.get("operand_size"))
                return x
        return numerator

    def _note(self, numerator: int) -> None:
        """Take the notes of the mean, which is of x itself, or those of the moment."""
        nodes = self.graph.nodes
        node = nodes[numerator]
        weighted = node.kind == "mul" and node.attributes.get("operand") == "param"
        centre = node.inputs[0] if weighted else numerator
        moment = nodes[self.moment]
        self.notes = moment.notes
        if moment.kind != "linalg_vector_norm" and self._centre(centre) is not None:
            self.notes = nodes[nodes[centre].inputs[1]].notes

    def _squared(self) -> list[int]:
        """What the moment is of, without the square."""
        nodes = self.graph.nodes
        inner = nodes[self.moment].inputs
        powers = [item for item in inner if nodes[item].attributes.get("exponent") == 2.0]
        return [*inner, *(source for power in powers for source in nodes[power].inputs)]

    def _moment_of(self, numerator: int) -> bool:
        """Whether the root is that of the numerator's second moment."""
        nodes = self.graph.nodes
        moment = nodes[self.moment]
        inner = moment.inputs[0]
        centred = self._centre(numerator)
        if moment.kind in ("var", "std", "var_mean", "std_mean"):
            if centred is None or inner not in (centred, numerator):
                return False
            reader = numerator if inner == centred else self.product
            if self.graph.other_values(reader, self.moment, inner):
                return False
            self.x, self.kind = centred, "layer_norm"
            self._take_centre(numerator)
            return True
        if moment.kind == "sub" and centred is not None and self._is_variance(centred):
            self.x, self.kind = centred, "layer_norm"
            self._take_centre(numerator)
            return True
        if moment.kind == "linalg_vector_norm":
            self.x, self.kind = numerator, "l2_norm"
            return inner == numerator and "ord" not in moment.attributes and self._read(inner)
        if moment.kind not in ("mean", "sum") or nodes[inner].attributes.get("exponent") != 2.0:
            return False
        self.inside.add(inner)
        squared = nodes[inner].inputs[0]
        if squared == numerator and centred is None and self._read(squared, inner):
            self.x, self.kind = numerator, "rms_norm" if moment.kind == "mean" else "l2_norm"
            return True
        if centred is None or self._centre(squared) != centred or moment.kind != "mean":
            return False
        if self.graph.other_values(numerator, squared, centred):
            return False
        self.x, self.kind = centred, "layer_norm"
        self._take_centre(numerator)
        self._take_centre(squared)
        return True

    def _read(self, x: int, reduced: int | None = None) -> bool:
        """Whether what is divided and what is reduced are the same values of x."""
        reader = next((item for item in self.inside if self._weighs(item, x)), self.product)
        other = self.moment if reduced is None else reduced
        return not self.graph.other_values(reader, other, x)

    def _weighs(self, index: int, x: int) -> bool:
        node = self.graph.nodes[index]
        return node.attributes.get("operand") == "param" and node.inputs == [x]

    def _is_variance(self, x: int) -> bool:
        """Whether the moment is mean(x^2) - mean(x)^2."""
        nodes, inputs = self.graph.nodes, self.graph.nodes[self.moment].inputs
        if len(inputs) < 2 or nodes[inputs[0]].kind != "mean" or len(nodes[inputs[0]].inputs) != 1:
            return False
        mean, squared_mean = inputs
        (square,) = nodes[mean].inputs
        powers = (nodes[square], nodes[squared_mean])
        if any(power.attributes.get("exponent") != 2.0 for power in powers):
            return False
        (inner,) = powers[1].inputs
        if powers[0].inputs != [x] or nodes[inner].kind != "mean" or nodes[inner].inputs != [x]:
            return False
        self.inside.update((self.moment, mean, square, squared_mean, inner))
        self.moment = mean
        return True

    def _centre(self, index: int) -> int | None:
        """The x of x - mean(x), or None."""
        nodes = self.graph.nodes
        node = nodes[index]
        if node.kind != "sub" or len(node.inputs) != 2:
            return None
        x, mean = node.inputs
        averages = nodes[mean].kind in ("mean", "var_mean", "std_mean")
        if not averages or nodes[mean].inputs != [x]:
            return None
        return None if self.graph.other_values(index, mean, x) else x

    def _take_centre(self, index: int) -> None:
        self.inside.update((index, self.graph.nodes[index].inputs[1]))

    def replace(self) -> None:
        """Put the norm, with the weight and bias that follow, in place of the pattern."""
        nodes, graph = self.graph.nodes, self.graph
        notes, last = self.notes, self.product
        for kind in ("mul", "add"):
            after = graph.only_consumer(last)
            learned = after is not None and nodes[after].attributes.get("operand") == "param"
            if after is None or not learned or nodes[after].kind != kind:
                continue
            if not self._is_of_width(after):
                continue
            if self.kind in ("rms_norm", "l2_norm") and kind == "add":
                continue
            self.inside.add(last)
            self.affine, last = True, after
            self.sizes.append(nodes[after].notes.get("operand_size"))
        width = int(notes.get("width", 0))
        kind = self._kind(notes.get("axes", ""), width in self.sizes)
        if not kind:
            return
        attributes: dict[str, Attribute] = {"width": width, "affine": self.affine}
        if kind in ("instance_norm", "l2_norm"):
            attributes = {}
        if kind == "group_norm":
            groups = int(notes["shape"][1]) if notes["axes"] == "groups" else 1
            attributes = {"width": self._in_all(), "groups": groups}
        first = nodes[self.product]
        node = Node(kind, attributes, [self.x], nodes[self.root].path, first.out)
        graph.replace(last, node, sorted(self.inside - {last}))

    def _is_of_width(self, learned: int) -> bool:
        """Whether a weight or bias has one number for each normalised feature, of each head or all.

        One for each head alone is none of the norm's. Over positions and samples it has one for
        each channel, over groups as many as there are channels.
        """
        shape = self.graph.nodes[learned].notes.get("operand_shape")
        axes, width = self.notes.get("axes", ""), self.notes.get("width")
        if axes in ("positions", "sample"):
            return self._is_of_channels(learned)
        if shape is None or width is None or axes not in ("last", "channels", "middle"):
            return True
        node = self.graph.nodes[learned]
        made, told = self.graph.nodes[node.inputs[0]].out, node.notes.get("along")
        if axes == "last":
            turned = told is not None and told.order and told.flows.stride(-1) != made.stride(-1)
            return bool(shape[-1] % width == 0) and not turned
        return prod(shape) == width and is_of_channels(node, made, (1,))

    def _is_of_channels(self, learned: int) -> bool:
        """Whether a weight or bias has one number for each place of one dimension, the channels.

        Over positions that is the second dimension, over samples any, the same for both: channels
        may stand last. Strides tell which it is where dimensions have changed places since.
        """
        node, x = self.graph.nodes[learned], self.graph.nodes[self.product].out
        shape = node.notes.get("operand_shape", ())
        long = [axis - len(shape) for axis, size in enumerate(shape) if size > 1]
        if len(long) != 1 or node.size != x.numel():
            return False
        told = node.out.shape[long[0]], node.out.stride(long[0])
        found = [axis for axis in range(1, x.dim()) if (x.shape[axis], x.stride(axis)) == told]
        if told[0] != shape[long[0]] or not found:
            return False
        fixed = self.affine or self.notes["axes"] == "positions"
        if fixed and self.channels not in found:
            return False
        self.channels = self.channels if fixed else found[0]
        return True

    def _in_all(self) -> int:
        """The channels that are normalised, of all groups."""
        notes = self.notes
        of_groups = notes["axes"] == "groups"
        return int(notes["channels"] if of_groups else notes["shape"][self.channels])

    def _kind(self, axes: str, weighted: bool) -> str:
        """What it is called over these dimensions; empty where it has no name."""
        if axes in ("groups", "sample") and self.kind != "layer_norm":
            return ""
        if axes == "sample":
            return "group_norm" if self._in_all() > 1 else "instance_norm"
        if axes == "groups":
            return "group_norm"
        if axes == "positions":
            return "instance_norm" if self.kind == "layer_norm" else ""
        if axes == "" or (axes == "middle" and not weighted):
            return ""
        return "rms_norm" if self.kind == "l2_norm" and self.affine else self.kind


def _reduced(notes: Mapping[str, Any]) -> tuple[object, ...]:
    """Over what a reduction is: equal where its dimensions are, or all the last ones of a view."""
    shape, dims = notes.get("shape", ()), notes.get("dims", [])
    if dims and dims == list(range(len(shape) - len(dims), len(shape))):
        return (notes["width"],)
    return tuple(shape), tuple(dims)
