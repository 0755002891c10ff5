"""What mixes places in a graph of the corpus: an attention, spelled out or not, or convolutions."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable

from nar_plugin.train.corpus.corpus import StoredGraph

# Between a softmax and the products on its sides: scales, masks, biases, caps, normalisation.
_IN_BETWEEN = frozenset(
    "add cat clamp div exp index_put l2_norm layer_norm masked_fill maximum minimum mul pow relu "
    "scatter sub tanh where".split()
)
# Kernels of softmax attention that say so by another word than `attn`.
_KERNELS = ("parallel_nsa", "parallel_path", "parallax")

# What mixes places and is no convolution: products of data, recurrences, scans.
_MIXING = frozenset(
    "attention cumprod cumsum fft_r2c gru linear_attention lstm matmul rnn_relu rnn_tanh "
    "softmax".split()
)
# Of data; linear attention is two, both behind what makes its keys.
_PRODUCTS = frozenset({"matmul", "linear_attention"})


def attends(graph: StoredGraph) -> bool:
    """Whether a graph holds an attention.

    It is one operation, one Triton kernel, or a softmax between two products of data: before and
    after it, Attention(Q, K, V) = softmax(QK^T) V (Vaswani et al. 2017, arXiv 1706.03762, eq. 1),
    or both after it, q (softmax(K)^T V) (Shen et al. 2021, arXiv 1812.01243, eq. 4). An exponential
    between two products is a softmax whose sum is taken apart, as over chunks of the keys (Rabe &
    Staats 2021, arXiv 2112.05682) or of buckets (Reformer, arXiv 2001.04451). Scores of a layer
    with weights, as in a mixture of experts or in additive attention, are none. Of a graph of
    modules alone, the classes say it.
    """
    kinds = [kind for kind, _ in graph.ops]
    if any(kind == "attention" or _is_kernel(kind) for kind in kinds):
        return True
    if graph.method == "modules":  # no product between two layers was seen
        classes = (line.partition("=")[2] for line in graph.classes.splitlines())
        return any("attention" in owner.lower() for owner in classes)
    if _PRODUCTS.isdisjoint(kinds):
        return False
    before, after = defaultdict(list), defaultdict(list)
    for source, target in graph.edges.reshape(-1, 2).tolist():
        before[target].append(source)
        after[source].append(target)
    passing = [
        kind in _IN_BETWEEN or _mixes_heads(*op) for kind, op in zip(kinds, graph.ops, strict=True)
    ]

    def products(
        start: int, along: dict[int, list[int]], through: Callable[[int], bool]
    ) -> list[int]:
        """The products that are met first."""
        found, seen, waiting = [], set(), list(along[start])
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if kinds[place] in _PRODUCTS:
                found.append(place)
            elif through(place):
                waiting += along[place]
        return found

    for place, kind in enumerate(kinds):
        if kind in ("softmax", "exp"):
            weighted = products(place, after, passing.__getitem__)
            if weighted and products(place, before, passing.__getitem__):
                return True
            if kind == "softmax" and any(kinds[place] == "linear_attention" for place in weighted):
                return True
            again = (products(product, after, passing.__getitem__) for product in weighted)
            if kind == "softmax" and any(again):
                return True
    return False


def convolves(graph: StoredGraph) -> bool:
    """Whether linear layers stand between convolutions that alone mix places.

    ConvNeXt writes its 1 x 1 convolutions as linear layers (Liu et al. 2022, arXiv 2201.03545,
    section 2.6): one convolution for two of them. An MLP-Mixer has one for all linear layers.
    """
    kinds = Counter(kind for kind, _ in graph.ops)
    others = [kind for kind in kinds if kind in _MIXING or kind.startswith("triton::")]
    return not others and 3 * kinds["conv"] >= kinds["linear"] > 0


def _is_kernel(kind: str) -> bool:
    kernel = kind.removeprefix("triton::")
    return kernel != kind and ("attn" in kernel or kernel.startswith(_KERNELS))


def _mixes_heads(kind: str, attributes: str) -> bool:
    """Talking heads: a linear layer or a convolution from the heads to as many."""
    if kind not in ("linear", "conv"):
        return False
    sizes = dict(json.loads(attributes))
    return bool(sizes["in"] == sizes["out"])
