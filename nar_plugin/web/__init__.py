"""The web page of `nar serve`: find, filter, explain, draw and compare (docs/serve.md).

It needs the extra `ui`. Visitors name models and upload data; no code that they name is imported.
"""

from nar_plugin.web.serving import serve

__all__ = ["serve"]
