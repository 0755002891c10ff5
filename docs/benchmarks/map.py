"""How much the map of an index says: docs/map.md.

`python docs/benchmarks/map.py [INDEX]` measures the places of an index, and how near to its own
place a design lands that is placed by its nearest. `--settings` fits maps with other settings.
"""

import sys

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances

import nar_plugin
from nar_plugin.index.places import NEAREST, SHARPNESS, mean_of_nearest, stored_places
from nar_plugin.likeness import likeness
from nar_plugin.train.fit.coordinates import coordinates

HELD = 500  # designs to choose on, and as many to report
FloatArray = NDArray[np.float32]
ONE_STAGE = -1.0  # all vectors are alike: one leader, so the map begins with main directions
SETTINGS = ((50, 0.5, ONE_STAGE), (15, 0.1, ONE_STAGE), (50, 0.5, 0.95))
RULES = {
    "nearest alone": (1, 1.0),
    **{f"mean of {k}, sharpness {s}": (k, s) for k in (3, 5, 10, 20) for s in (0.02, 0.05, 0.2)},
}


def same_family(distances: FloatArray, families: NDArray[np.str_]) -> float:
    """The share of rows whose nearest other row is of their family."""
    np.fill_diagonal(distances, np.inf)
    return float((families[distances.argmin(axis=1)] == families).mean())


def far_from_kin(vectors: FloatArray, places: FloatArray, families: NDArray[np.str_]) -> float:
    """The share of families that lie over a fifth of the map's width from their kin.

    Of families of five designs and more. Kin are the three whose mean vectors are nearest; the
    nearest of these on the map counts, from middle to middle.
    """
    names, counts = np.unique(families, return_counts=True)
    large = names[counts >= 5]
    means = np.stack([vectors[families == name].mean(axis=0) for name in large])
    middles = np.stack([np.median(places[families == name], axis=0) for name in large])
    apart = pairwise_distances(means, metric="cosine")
    np.fill_diagonal(apart, np.inf)
    kin = np.argsort(apart, axis=1)[:, :3]
    far = np.linalg.norm(middles[:, None] - middles[kin], axis=2).min(axis=1)
    return float((far > np.ptp(places, axis=0).max() / 5).mean())


def quality(vectors: FloatArray, places: FloatArray, families: NDArray[np.str_]) -> str:
    """Trustworthiness for 10, 15 and 20 neighbours, and the two shares."""
    apart = pairwise_distances(vectors, metric="cosine").astype(np.float32)
    trusts = [
        trustworthiness(apart, places, n_neighbors=k, metric="precomputed") for k in (10, 15, 20)
    ]
    near = same_family(pairwise_distances(places).astype(np.float32), families)
    lost = far_from_kin(vectors, places, families)
    return " | ".join(f"{value:.3f}" for value in (*trusts, near, lost))


def scores_of(
    index: nar_plugin.ArchitectureIndex, rows: NDArray[np.int64]
) -> dict[str, FloatArray]:
    """Cosine and likeness of some rows to all, by name: float32[r, n] each."""
    contents = index.contents
    vectors = np.asarray(index.vectors)
    cosines = vectors[rows] @ vectors.T
    table = contents.labels.taken(rows)
    shared = np.stack([contents.postings.overlaps(table, n) for n in range(len(rows))])
    return {"cosine": cosines, "likeness": likeness(shared, cosines)}


def errors(
    scores: FloatArray,
    places: FloatArray,
    rows: NDArray[np.int64],
    hidden: NDArray[np.str_],
    rule: tuple[int, float],
) -> NDArray[np.float64]:
    """How far each row lands from its place, in widths of the map, where its like are hidden.

    Args:
        scores: Of the r rows to all.
        places: Of all rows.
        rows: Which are placed.
        hidden: Of all rows a text; rows of one text do not place each other.
        rule: How many rows place it, and their sharpness.
    """
    seen = np.where(hidden[rows][:, None] == hidden[None], -9, scores)
    found = mean_of_nearest(seen, places, *rule)
    return np.linalg.norm(found - places[rows], axis=1) / np.ptp(places, axis=0).max()


def report_places(index: nar_plugin.ArchitectureIndex) -> None:
    """Choose the rule on half of the held-out designs, and read the other half once."""
    table, places = index.contents.table, stored_places(index.contents)
    can = np.flatnonzero(~np.array(table["composed"].to_pylist()))
    rows = np.random.default_rng(0).choice(can, 2 * HELD, replace=False)
    hidden = {key: np.array(table[key].to_pylist()) for key in ("design", "family")}

    def told(scores: FloatArray, rows: NDArray[np.int64], rule: tuple[int, float]) -> str:
        parts = []
        for key, of in hidden.items():
            far = 100 * errors(scores, places, rows, of, rule)
            middle, most = np.percentile(far, (50, 90))
            parts.append(f"its {key} hidden {middle:.2f}% ({most:.2f}%)")
        return ", ".join(parts)

    print("distance from its own place, in widths of the map: median (9 of 10 within)")
    for by, scores in scores_of(index, rows[:HELD]).items():
        for name, rule in RULES.items():
            print(f"validation, {by}, {name}: {told(scores, rows[:HELD], rule)}", flush=True)
    scores = scores_of(index, rows[HELD:])["likeness"]
    for name, rule in (("nearest alone", RULES["nearest alone"]), ("kept", (NEAREST, SHARPNESS))):
        print(f"test, likeness, {name}: {told(scores, rows[HELD:], rule)}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--settings"]
    index = nar_plugin.load_index(*words)
    vectors = np.asarray(index.vectors)
    families = np.array(index.contents.table["family"].to_pylist())
    print("trustworthiness of 10 | 15 | 20 neighbours | nearest of the family | far from kin")
    if "--settings" in sys.argv:
        for setting in SETTINGS:
            found = coordinates(vectors, *setting)
            print(setting, "|", quality(vectors, found, families), flush=True)
    else:
        print(quality(vectors, stored_places(index.contents), families))
        by_cosine = same_family(pairwise_distances(vectors, metric="cosine"), families)
        print(f"nearest by cosine of the family: {by_cosine:.3f}")
        report_places(index)
