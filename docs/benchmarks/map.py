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
from nar_plugin.index.places import mean_of_nearest, stored_places
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


def errors(
    vectors: FloatArray,
    places: FloatArray,
    rows: NDArray[np.int64],
    hidden: NDArray[np.str_],
    rule: tuple[int, float],
) -> NDArray[np.float64]:
    """How far each row lands from its place, in widths of the map, where its like are hidden.

    Args:
        vectors: Of all rows.
        places: Of all rows.
        rows: Which are placed.
        hidden: Of all rows a text; rows of one text do not place each other.
        rule: How many rows place it, and their sharpness.
    """
    cosines = vectors[rows] @ vectors.T
    cosines[hidden[rows][:, None] == hidden[None]] = -9
    found = mean_of_nearest(cosines, places, *rule)
    return np.linalg.norm(found - places[rows], axis=1) / np.ptp(places, axis=0).max()


def report_places(index: nar_plugin.ArchitectureIndex) -> None:
    """Choose the rule on half of the held-out designs, and read the other half once."""
    table, vectors = index.contents.table, np.asarray(index.vectors)
    places = stored_places(index.contents)
    can = np.flatnonzero(~np.array(table["composed"].to_pylist()))
    rows = np.random.default_rng(0).choice(can, 2 * HELD, replace=False)
    design, family = (np.array(table[key].to_pylist()) for key in ("design", "family"))
    medians = {
        name: np.median(errors(vectors, places, rows[:HELD], design, rule))
        for name, rule in RULES.items()
    }
    for name, median in medians.items():
        print(f"validation: {name}: {100 * median:.2f}%")
    best = min(medians, key=lambda name: medians[name])
    for name in ("nearest alone", best):
        for hidden, of in (("design", design), ("family", family)):
            far = 100 * errors(vectors, places, rows[HELD:], of, RULES[name])
            print(
                f"test: {name}, its {hidden} hidden: median {np.median(far):.2f}%, "
                f"9 of 10 within {np.percentile(far, 90):.2f}%"
            )


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
