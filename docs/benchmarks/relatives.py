"""How alike the best hit is where the index holds a design's family, and where it does not.

`python docs/benchmarks/relatives.py` fits the encoder on the training side of `kin`, validation
(ten minutes), and asks with up to five graphs of each large family that it has not seen: once among
all other designs, once among those of other families, once among families that the taxonomy calls
foreign. `FAR` and `STRANGE` in `nar_plugin/report/wording.py` are read off here.
"""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from nar_plugin.train.corpus.corpus import read_corpus
from nar_plugin.train.corpus.splits import families, family_numbers
from nar_plugin.train.fit.recipe import Settings
from nar_plugin.train.measure.likeness_method import LikenessMethod
from nar_plugin.train.measure.unseen.kin import kin_split
from nar_plugin.train.measure.unseen.taxonomy import FOREIGN, grade

CORPUS = Path("nar_plugin/data/corpus")
QUANTILES = (0.01, 0.02, 0.05, 0.25, 0.5, 0.75, 0.95)
BOUNDS = (0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
ASKED = 5  # graphs of a family

items = [item for item in read_corpus(CORPUS) if item.is_searched]
kin = kin_split(items, 0, validation=True)
method = LikenessMethod(Settings())
method.fit([items[n] for n in kin.train.tolist()], family_numbers(items)[kin.train])

of = np.array(families(items))
designs = np.array([item.design for item in items])
held = set(of[kin.queries[kin.unseen]].tolist())
asked: Counter[str] = Counter()
queries = []
for number in np.random.default_rng(0).permutation(len(items)).tolist():
    if of[number] in held and asked[of[number]] < ASKED and not items[number].is_composed:
        asked[of[number]] += 1
        queries.append(number)

grades = {name: np.array([grade(name, other) for other in of.tolist()]) for name in held}
known, absent, foreign, first = [], [], [], []
for number in queries:
    (alike,) = method.rank([items[number]], items)
    family, others = of[number], designs != designs[number]
    known.append(alike[others].max())
    best = int(np.where(of == family, -1, alike).argmax())
    absent.append(alike[best])
    first.append(grades[family][best])
    foreign.append(alike[grades[family] == FOREIGN].max())

print(f"{len(queries)} graphs of {len(held)} families")
print("quantile of the best hit  " + "".join(f"{q:7.0%}" for q in QUANTILES))
for title, found in (
    ("its family is known", known),
    ("its family is left out", absent),
    ("foreign families alone", foreign),
):
    print(f"{title:26}" + "".join(f"{q:7.2f}" for q in np.quantile(found, QUANTILES)))
print("first hit, family left out: grade 3     2     1  foreign")
for low, high in pairwise(BOUNDS):
    inside = [g for g, score in zip(first, absent, strict=True) if low <= score < high]
    counts = "".join(f"{inside.count(value):6}" for value in (3, 2, 1, FOREIGN))
    print(f"{low:.1f} to {high:.1f} {'':18}{counts}")
