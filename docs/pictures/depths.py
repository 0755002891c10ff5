"""Whether pictures show as many blocks as configs say: `python docs/pictures/depths.py`.

Asks the default config of every model type that transformers has and the index knows, builds
nothing, and prints a table in Markdown. A depth is met where a box or a frame of the picture has
that count, as often as the config states it.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from transformers import CONFIG_MAPPING

import nar_plugin
from nar_plugin.drawing import Picture
from nar_plugin.index.stored_designs import stored_design

KEYS = (
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth"),
    *("encoder_layers", "decoder_layers", "num_decoder_layers", "num_encoder_layers"),
    *("encoder_num_hidden_layers", "depths"),
)


def stated(config: Any, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every depth that a config states, with its key."""
    met = set()
    aliases = getattr(config, "attribute_map", {})
    for key in KEYS:
        value = getattr(config, key, None)
        real = aliases.get(key, key)
        if real in met or value is None:
            continue
        met.add(real)
        for number in value if isinstance(value, list | tuple) else (value,):
            if isinstance(number, int) and number > 1:
                yield prefix + real, number
    for name, inner in vars(config).items():
        if hasattr(inner, "to_diff_dict"):
            yield from stated(inner, f"{prefix}{name}.")


def main() -> None:
    """Print which model types are met, and what of the others is not."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    index = nar_plugin.load_index()
    met, missed, boxes = [], [], []
    for name in sorted(CONFIG_MAPPING):
        row = index.by_name(f"transformers:{name}")
        if row is None:
            continue
        try:
            depths = list(stated(CONFIG_MAPPING[name]()))
        except Exception:  # a config that does not build by default says nothing
            continue
        macro = stored_design(index, row[0].fingerprint)
        if macro is None or not depths:
            continue
        figure = Picture(macro, name).figure
        boxes.append(figure.boxes)
        shown = Counter(box.count for box in figure.spine.boxes)
        wanted = Counter(number for _, number in depths)
        lacking = [f"{key} = {n}" for key, n in depths if shown[n] < wanted[n]]
        counts = ", ".join(str(n) for n in sorted(shown.elements()) if n > 1)
        (missed if lacking else met).append((name, lacking, counts))
    print(f"{len(met)} of {len(met) + len(missed)} model types show every depth that their config")
    print(f"states; at most {max(boxes)} boxes.\n")
    print(f"Met: {', '.join(name for name, _, _ in met)}.\n")
    print("| model type | stated, not shown | counts in the picture |\n|---|---|---|")
    for name, lacking, counts in missed:
        print(f"| {name} | {', '.join(lacking)} | {counts} |")


if __name__ == "__main__":
    main()
