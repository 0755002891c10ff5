"""Which of the paper's open settings find the class of a NAS architecture (the-papers-method.md).

`python docs/benchmarks/paper_settings.py` trains each row on 3,000 architectures of the DARTS
space, validation side, at a width of 128 and with 64 graphs in a batch of stage two, so that it has
about as many steps as 30,000 architectures with Table 5's 512. Each takes half a minute of one
core; `WORK` keeps what is finished. With `--real` the rows are trained on the corpus, split of the
paper, validation side. With names of rows, as in
`python docs/benchmarks/paper_settings.py paper-tuned "the same, s = 2"`, these alone.
"""

import logging
import sys
from dataclasses import replace
from pathlib import Path

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.train.corpus.corpus import read_corpus
from nar_plugin.train.corpus.splits import split_corpus
from nar_plugin.train.measure.metrics import retrieval_quality
from nar_plugin.train.paper.ablations import TUNED, Recipe
from nar_plugin.train.paper.method import PaperMethod
from nar_plugin.train.paper.nas import darts_corpus

WORK = Path("runs/paper-settings")
COUNT = 3_000
PRINTED = Recipe(width=128, graph_batch=64)
CHOSEN = replace(TUNED, graph_batch=64, graph_epochs=15)  # the epochs were chosen last
COLD = {"motif_temperature": 0.1, "graph_temperature": 0.1}
ROWS = {
    "paper": PRINTED,
    "paper-sampled": replace(PRINTED, splitting="sequence", longest=TUNED.longest),
    "cut by number of operations": replace(PRINTED, splitting="nodes"),
    "paper, temperatures of .1, F_s tuned": replace(PRINTED, tuned=True, **COLD),
    "the same, edges one way": replace(PRINTED, tuned=True, both_ways=False, **COLD),
    "the same, F_s fixed": replace(PRINTED, both_ways=False, **COLD),
    "by number, temperatures of .1, F_s tuned": replace(
        PRINTED, splitting="nodes", tuned=True, **COLD
    ),
    "paper-tuned": replace(CHOSEN, graph_epochs=TUNED.graph_epochs),
    "paper-tuned with 15 epochs": CHOSEN,
    "the same, edges both ways": replace(CHOSEN, both_ways=True),
    "the same, motifs of 8 operations at most": replace(CHOSEN, longest=8),
    "the same, s = 1": replace(CHOSEN, steps=1),
    "the same, s = 3": replace(CHOSEN, steps=3),
    "paper-tuned, s = 1": replace(CHOSEN, steps=1, graph_epochs=TUNED.graph_epochs),
    "paper-tuned, s = 3": replace(CHOSEN, steps=3, graph_epochs=TUNED.graph_epochs),
    "the same, every operation by itself": replace(CHOSEN, longest=1),
    "the same, F_s fixed, as Eq. 7 has it": replace(CHOSEN, tuned=False),
    "the same, no temperature in Eq. 5": replace(CHOSEN, graph_temperature=1.0),
    "the same, with projection heads": replace(CHOSEN, heads=True),
    "the same, classification alone": replace(CHOSEN, objective="ce"),
    "the same, contrast alone": replace(CHOSEN, objective="cl"),
    "the same, contrast alone, no temperature in Eq. 5": replace(
        CHOSEN, objective="cl", graph_temperature=1.0
    ),
    "the same, cut by number of operations": replace(CHOSEN, splitting="nodes"),
    "the same, cut by number of pieces": replace(CHOSEN, splitting="count"),
    "the same, cut at random": replace(CHOSEN, splitting="random"),
}
REAL = {
    "paper-tuned": TUNED,
    "the same, cut by number of operations": replace(TUNED, splitting="nodes"),
    "the same, s = 1": replace(TUNED, steps=1),
    "the same, batches of 128": replace(TUNED, graph_batch=128),
}

logging.basicConfig(format="%(message)s", level=logging.INFO)  # losses, on stderr
names = sys.argv[1:]
real = "--real" in names
known = REAL if real else ROWS
rows = {name: known[name] for name in names if name != "--real"} or known
if real:
    items = [item for item in read_corpus(CORPUS) if item.is_searched]
else:
    mined = any(recipe.splitting == "motifs" for recipe in rows.values())
    items = darts_corpus(COUNT, seed=0, mined=mined)
split = split_corpus(items, "paper" if real else "unique", 0, validation=True)
trained = [items[graph] for graph in split.graphs[split.train]]

print("| recipe | MRR@20 | MAP@20 | NDCG@20 |\n|---|---|---|---|")
for name, recipe in rows.items():
    method = PaperMethod(recipe, 0, WORK / ("real" if real else "nas") / name)
    method.fit(trained, split.labels[split.train])
    embedded = method.embed(items)[split.graphs]
    found = retrieval_quality(embedded, split.labels, split.queries, split.candidates)
    values = " | ".join(f"{value[20]:.3f}" for value in (found.mrr, found.map, found.ndcg))
    print(f"| {name} | {values} |", flush=True)
