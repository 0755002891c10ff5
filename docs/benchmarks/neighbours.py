"""Writes neighbours.md: what well-known models find, for a person to read.

Run from the project's root: `python docs/benchmarks/neighbours.py`.
"""

import sys
from pathlib import Path

import nar_plugin

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from models import NanoGPT, UNet  # noqa: E402

ASKED = [
    "timm:resnet50",
    "transformers:bert",
    "timm:vit_base_patch16_224",
    "transformers:llama",
    ("nanoGPT, typed in by hand", lambda: NanoGPT(layers=12, heads=12, width=768)),
    ("a U-Net, typed in by hand", UNet),
    "timm:convnext_tiny",
    "timm:efficientnet_b0",
    "timm:swin_tiny_patch4_window7_224",
    "timm:mobilenetv3_large_100",
    "timm:densenet121",
    "timm:regnety_016",
    "timm:mixer_b16_224",
    "timm:vgg16",
    "timm:deit3_small_patch16_224",
    "timm:poolformer_s12",
    "torchvision:inception_v3",
    "torchvision:fasterrcnn_resnet50_fpn",
    "torchvision:deeplabv3_resnet50",
    "torchvision:swin3d_t",
    "torchvision:raft_small",
    "transformers:t5",
    "transformers:whisper",
    "transformers:wav2vec2",
    "transformers:clip",
    "transformers:mixtral",
    "transformers:mamba",
    "transformers:segformer",
    "transformers:deberta-v2",
    "transformers:detr",
]


def main() -> None:
    """Ask about every model and write the page."""
    info = nar_plugin.load_index().info()
    lines = [
        "# What well-known models find",
        "",
        f"Index {info['revision']}, {info['names']:,} names, {info['graphs']:,} graphs, encoder "
        f"`{info['encoder']}`. Written by `python docs/benchmarks/neighbours.py`.",
        "",
    ]
    for asked in ASKED:
        title, model = (asked, asked) if isinstance(asked, str) else (asked[0], asked[1]())
        similar = nar_plugin.find_similar(model, k=10)
        lines += [f"## {title}", "", "| # | name | score | family | shared motifs |"]
        lines += ["|---|---|---|---|---|"]
        for hit in similar:
            more = f" (+{len(hit.names) - 1})" if len(hit.names) > 1 else ""
            name = f"`{hit.name}`{more}{' identical' if hit.exact else ''}"
            shared = ", ".join(
                f"{motif.label} {motif.count_query}/{motif.count_hit}"
                for motif in hit.shared_motifs[:2]
            )
            lines.append(f"| {hit.rank} | {name} | {hit.score:.3f} | {hit.family} | {shared} |")
        lines.append("")
    (HERE / "neighbours.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
