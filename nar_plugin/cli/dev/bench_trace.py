"""`nar dev bench trace`: what a trace costs, beside the bare forward and beside its peers."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import Json, only_results_on_stdout, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from nar_plugin.bench.cost import Cost

MODELS = 50
SIZES = (50, 5000)  # operations
CHAINS = (250, 1250, 2500, 5000, 12500)  # blocks of four operations
PEER_REPEATS = 10
LARGE = ("timm:sequencer2d_l", "transformers:llama")


@only_results_on_stdout()
def trace(
    models: Annotated[int, typer.Option(min=1, help="So many models beside the forward.")] = MODELS,
    repeats: Annotated[int, typer.Option(min=1, help="The least of so many runs.")] = 5,
    peers: Annotated[bool, typer.Option(help="Also torch.export and TorchLens (minutes).")] = True,
    as_json: Json = False,
) -> None:
    """Time tracing beside a bare forward, and beside its peers.

    All run in this process; `nar dev bench query` has what a fork around it costs.
    """
    with needs_train():
        from nar_plugin import isolation
        from nar_plugin.bench import cost

    isolation.stay()
    found: dict[str, Any] = {"models": list(islice(_costs(repeats), models))}
    found["chains"] = [cost.chain_cost(blocks, 2) for blocks in CHAINS]
    found["large"] = [cost.trace_cost(name, 2) for name in LARGE]
    found["memory"] = {name: cost.memory_cost(name) for name in ("transformers:llama",)}
    found["peers"] = cost.peer_costs(PEER_REPEATS) if peers else []
    ratios = {part: cost.median_ratio(found["models"], part) for part in ("recorder", "trace")}
    if as_json:
        rows = {
            part: [asdict(row) for row in found[part]]
            for part in ("models", "chains", "large", "peers")
        }
        show_json({**rows, "memory": found["memory"], "median_ratio": ratios})
        return
    for part in ("models", "chains", "large"):
        show(_table(found[part]))
    say(
        f"median over {len(found['models'])} models: the recorder takes {ratios['recorder']:.2f}, "
        f"all of trace() {ratios['trace']:.2f} of the bare meta forward"
    )
    for name, (before, peak) in found["memory"].items():
        say(f"{name}: {before:.0f} MB with the model, {peak - before:.0f} MB more at the peak")
    for row in found["peers"]:
        say(
            f"{row.model}: trace {row.trace:.0f} ms, torch.export {row.torch_export:.0f} ms "
            f"({row.torch_export / row.trace:.1f} times), TorchLens {row.torchlens:.0f} ms "
            f"({row.torchlens / row.trace:.1f} times)"
        )


def _costs(repeats: int) -> Iterator[Cost]:
    """Costs of models with as many operations as `SIZES` says; failures belong to coverage."""
    from nar_plugin.bench import cost

    for name in cost.spread_names(MODELS):
        try:
            found = cost.trace_cost(name, repeats)
        except Exception:  # not constructed, or not traced on meta
            continue
        if SIZES[0] <= found.ops <= SIZES[1]:
            yield found


def _table(costs: list[Cost]) -> Table:
    from rich.table import Table

    table = Table(caption="milliseconds on one core, warm; ratio: to the bare meta forward")
    table.add_column("model", overflow="fold")  # numbers must not be cut
    for heading in ("ops", "bare", "recorder", "trace", "ratio", "us per op"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in costs:
        table.add_row(
            row.model,
            f"{row.ops:,}",
            f"{row.bare:.1f}",
            f"{row.recorder:.1f}",
            f"{row.trace:.1f}",
            f"{row.trace / row.bare:.2f}",
            f"{1000 * row.trace / row.ops:.0f}",
        )
    return table
