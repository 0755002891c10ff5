"""How near the best hit is where the index holds a relative, and where it holds none.

`python docs/benchmarks/relatives.py` asks for each row of the embedded default among the others. A
row has a relative when another one has its family. The encoder has seen all of them, so the
relatives of a new design are farther than these (docs/decisions/log-2026-11.md has such a draw).
"""

from collections import Counter
from itertools import pairwise

import nar_plugin

BOUNDS = (0, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)

index = nar_plugin.load_index()
rows = list(index.rows())
sizes = Counter(row.family for row in rows)
found = []  # score of the best other row, whether there is a relative, whether that row is one
for row, (one, other) in zip(rows, index.search_batch(index.vectors, k=2), strict=True):
    best = other if one.row.fingerprint == row.fingerprint else one
    found.append((best.score, sizes[row.family] > 1, best.row.family == row.family))

print("score          with a relative  which comes first  without one")
for low, high in pairwise(BOUNDS):
    inside = [entry for entry in found if low <= entry[0] < high]
    related = [entry for entry in inside if entry[1]]
    first = sum(entry[2] for entry in related) / max(len(related), 1)
    alone = len(inside) - len(related)
    print(f"{low:.2f} to {high:.2f} {len(related):17,} {first:18.2f} {alone:12,}")
