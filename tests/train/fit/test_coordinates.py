"""The places of an index's designs on its map."""

import numpy as np
import pytest

from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.train.fit.coordinates import coordinates, leaders


def test_a_leader_is_not_alike_to_one_before_it():
    angles = np.radians([0, 10, 80, 84, 45, 2])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    first, of = leaders(vectors, np.cos(np.radians(15)))
    assert first.tolist() == [0, 2, 4]
    assert of.tolist() == [0, 0, 1, 1, 2, 0]


@pytest.mark.slow
def test_families_stay_together_and_a_second_run_gives_the_same():
    pytest.importorskip("umap")
    neighbours = pytest.importorskip("sklearn.neighbors")
    index = ArchitectureIndex.load(EMBEDDED)
    families = np.array(index.contents.table["family"].to_pylist())
    kept = np.flatnonzero(np.isin(families, ["resnet", "t5", "clip", "unet"]))[::2]
    vectors = index.vectors[kept].astype(np.float32)
    places = coordinates(vectors)
    assert places.shape == (len(kept), 2) and places.dtype == np.float32
    assert np.array_equal(places, coordinates(vectors))
    nearest = neighbours.NearestNeighbors(n_neighbors=1).fit(places).kneighbors()[1][:, 0]
    of_vectors = vectors @ vectors.T - 2 * np.eye(len(kept), dtype=np.float32)
    here = (families[kept][nearest] == families[kept]).mean()
    there = (families[kept][of_vectors.argmax(1)] == families[kept]).mean()
    assert here > 0.9 * there
