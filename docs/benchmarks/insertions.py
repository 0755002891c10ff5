"""What designs are like without what was inserted, their own family hidden.

`python docs/benchmarks/insertions.py` asks for 700 graphs of the corpus among the rows of all other
families, as it ships. Where a hit can be much nearer, insertions are taken out one at a time
(`nar_plugin.tracing.insertions`), and what is near then is printed. Two minutes of one core.
"""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import nar_plugin
from nar_plugin.encoder import load_encoder
from nar_plugin.index import EMBEDDED
from nar_plugin.index.density import NEIGHBOURS, SHARE, densities
from nar_plugin.index.insertions import GAIN, NEAR
from nar_plugin.report.wording import FAR
from nar_plugin.tracing.insertions import insertions
from nar_plugin.train.corpus import read_corpus
from nar_plugin.train.splits import families

DRAWN = 700

items = [
    item
    for item in read_corpus(Path(nar_plugin.__file__).parent / "data" / "corpus")
    if item.is_searched
]
encoder = load_encoder(EMBEDDED)
vectors = encoder.encode_graphs([item.graph for item in items]).numpy()
crowding = densities(vectors, vectors, np.arange(len(vectors)))
labels = np.array(families(items))


def best(vector: NDArray[np.float32], family: str) -> tuple[float, str]:
    """The best score among other families, and whose it is."""
    cosines = vectors @ vector
    others = labels != family
    density = np.sort(cosines[others])[-NEIGHBOURS:].mean()
    scores = np.where(others, cosines - SHARE * (crowding - density), -np.inf)
    return float(scores.max()), items[int(scores.argmax())].names[0]["name"]


random = np.random.default_rng(3)
asking = [
    place
    for place in random.permutation(len(items))
    if not items[place].is_composed and items[place].graph.method != "modules"
][:DRAWN]
far = middling = looked = told = 0
seconds = 0.0
for place in asking:
    item = items[place]
    score, first = best(vectors[place], labels[place])
    far += score < FAR
    middling += FAR <= score < NEAR
    if score >= 1 - GAIN:
        continue
    looked += 1
    start = time.perf_counter()
    found = insertions(item.graph)
    if not found:
        continue
    answers = [
        best(vector, labels[place])
        for vector in encoder.encode_graphs([each.graph for each in found]).numpy()
    ]
    seconds += time.perf_counter() - start
    (now, name), insertion = max(zip(answers, found, strict=True), key=lambda pair: pair[0][0])
    if now >= max(NEAR, score + GAIN):
        told += 1
        print(
            f"{item.names[0]['name']} ({first} {score:.2f}) without its {insertion.count} x "
            f"{', '.join(insertion.kinds)}: {name} {now:.2f}",
            flush=True,
        )
print(f"{len(asking)} asked, {far} with no score of {FAR}, {middling} more of {NEAR}; {told} told")
print(f"{1000 * seconds / looked:.0f} ms for each of the {looked} without a score of {1 - GAIN}")
