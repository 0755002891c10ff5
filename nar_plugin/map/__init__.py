"""All designs of an index on one page: near ones are alike, and a model stands among them.

The places were computed when the index was written (`nar_plugin.train.fit.coordinates`); here
they are shown, and models that the index does not hold are placed (docs/map.md).
"""

from nar_plugin.map.design_map import AskedPoint, DesignMap, map_of

__all__ = ["AskedPoint", "DesignMap", "map_of"]
