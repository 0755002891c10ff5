"""From what a person names to a model: `timm:resnet50`, `hub:owner/name`, `my.module:Net`.

Models are built on the meta device, so no weight is allocated, and the caller's random numbers
stay as they were.
"""

from nar_plugin.references.any_reference import as_model
from nar_plugin.references.configuration import from_config
from nar_plugin.references.resolution import resolve
from nar_plugin.references.suggestions import explained, listed

__all__ = ["as_model", "explained", "from_config", "listed", "resolve"]
