"""How fast the page of `nar serve` answers, and whether its memory stays flat.

Run `python docs/benchmarks/page.py [QUERIES]`: it serves the page here, asks it over HTTP as a
program does, first one visitor, then 20 at once, then one after the other, and prints a table.
"""

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gradio_client import Client

import nar_plugin
from nar_plugin.web.serving import started

VISITORS, QUERIES = 20, 500


def resident() -> float:
    """MiB of memory of this process, in which the server runs."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def seconds(client: Client, name: str, **more: int) -> float:
    """How long one question takes."""
    begin = time.perf_counter()
    client.predict(name, api_name="/find", **more)
    return time.perf_counter() - begin


def report(url: str, queries: int) -> None:
    """Ask, and print the table."""
    client = Client(url, verbose=False)
    names = random.Random(0).sample(list(nar_plugin.load_index().contents.names), queries)
    print(f"| first answer, warm | {seconds(client, 'timm:resnet18'):.2f} s |")
    clients = [Client(url, verbose=False) for _ in range(VISITORS)]
    with ThreadPoolExecutor(VISITORS) as visitors:
        times = list(visitors.map(seconds, clients, KNOWN))  # an error would end the program
    print(f"| {VISITORS} visitors at once, other models each, slowest | {max(times):.2f} s |")
    times, refused, memory = [], 0, []
    for number, name in enumerate(names):
        if number % (queries // 5) == 0:
            memory.append(resident())
        try:
            times.append(seconds(client, name, k=number % 10 + 1))
        except Exception as error:
            refused += 1
            print(f"{name}: {error}", file=sys.stderr)
    memory.append(resident())
    times.sort()
    median, late = times[len(times) // 2], times[int(len(times) * 0.95)]
    print(f"| {queries} names of the index, median | {median:.2f} s |")
    print(f"| the same, 95% within | {late:.2f} s |")
    print(f"| the same, refused | {refused} |")
    print(f"| memory after each fifth of them, MiB | {', '.join(f'{m:.0f}' for m in memory)} |")


KNOWN = (
    *("timm:resnet50", "timm:resnet101", "timm:vit_base_patch16_224", "timm:convnext_tiny"),
    *("timm:efficientnet_b0", "timm:swin_tiny_patch4_window7_224", "timm:densenet121"),
    *("timm:regnety_032", "timm:mixer_b16_224", "timm:mobilenetv3_large_100"),
    *("transformers:bert", "transformers:gpt2", "transformers:llama", "transformers:t5"),
    *("transformers:whisper", "transformers:mixtral", "transformers:clip", "transformers:detr"),
    *("transformers:mamba", "transformers:vit"),
)

if __name__ == "__main__":
    with started() as page:
        report(page.local_url, int(sys.argv[1]) if sys.argv[1:] else QUERIES)
