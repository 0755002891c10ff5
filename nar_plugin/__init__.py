"""Which known architectures does this PyTorch model resemble?

Example:
    ```python
    import nar_plugin, timm

    model = timm.create_model("resnet50")
    model.find_similar(k=10)                  # attached to every nn.Module
    nar_plugin.find_similar(model, k=10)      # the same, for typed code
    ```

Importing this package imports no torch and no model library: the names below are looked up when
they are first used, and `find_similar` is attached once torch itself is imported. With
`NAR_PLUGIN_DISABLE=1` in the environment nothing is attached.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nar_plugin.api import (
        assert_same_design,
        clear_cache,
        compare,
        dedupe,
        design_map,
        embed,
        find_similar,
        load_index,
        motifs,
        novelty,
        trace,
    )
    from nar_plugin.attachment import attach, detach
    from nar_plugin.errors import (
        IndexIncompatible,
        IndexUnavailable,
        NarError,
        PluginError,
        TraceError,
    )
    from nar_plugin.hookspecs import hookimpl
    from nar_plugin.hub.pretrained import ArchitectureIndex
    from nar_plugin.report import SimilarArchitectures
    from nar_plugin.tracing.graph import ArchitectureGraph

    __version__: str

__all__ = [
    "ArchitectureGraph",
    "ArchitectureIndex",
    "IndexIncompatible",
    "IndexUnavailable",
    "NarError",
    "PluginError",
    "SimilarArchitectures",
    "TraceError",
    "__version__",
    "assert_same_design",
    "attach",
    "clear_cache",
    "compare",
    "dedupe",
    "design_map",
    "detach",
    "embed",
    "find_similar",
    "hookimpl",
    "load_index",
    "motifs",
    "novelty",
    "trace",
]

_NAMES = {
    "nar_plugin.api": (
        "assert_same_design",
        "clear_cache",
        "compare",
        "dedupe",
        "design_map",
        "embed",
        "find_similar",
        "load_index",
        "motifs",
        "novelty",
        "trace",
    ),
    "nar_plugin.attachment": ("attach", "detach"),
    "nar_plugin.errors": (
        "IndexIncompatible",
        "IndexUnavailable",
        "NarError",
        "PluginError",
        "TraceError",
    ),
    "nar_plugin.hookspecs": ("hookimpl",),
    "nar_plugin.hub.pretrained": ("ArchitectureIndex",),
    "nar_plugin.report": ("SimilarArchitectures",),
    "nar_plugin.tracing.graph": ("ArchitectureGraph",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

# A type checker reads the imports above; seeing __getattr__ it would accept any misspelt name.
if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202
        """Import a public name's module when the name is first used (PEP 562)."""
        if name == "__version__":
            from nar_plugin.version import VERSION

            return VERSION
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names, also those not yet imported."""
    return sorted({*globals(), *__all__})


if os.environ.get("NAR_PLUGIN_DISABLE", "0") in {"", "0"}:
    from nar_plugin.attachment import attach_on_import

    attach_on_import()
    del attach_on_import
