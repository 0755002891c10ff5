"""The page itself, in Gradio: a form, three areas that show the answer, and the API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api

from nar_plugin.errors import NarError
from nar_plugin.index.search.where import texts_of
from nar_plugin.report import Comparison
from nar_plugin.visible_text import clean
from nar_plugin.web.address import FILTERS, MOST, K, State
from nar_plugin.web.desk import Desk, Found
from nar_plugin.web.uploads import ENDINGS

AT_ONCE = 2  # questions that are answered at the same time
WAITING = 100  # questions that wait at most
_KEPT = 3600  # seconds for which Gradio keeps its own copy of an upload
_KEYS = ("model", "against", "k", *FILTERS, "map")
_AREAS = ("map", "comparison", "hits", "picture")
_INTRO = (
    "# What is this architecture like?\nType a model's name, such as `timm:resnet50`, or give its "
    "`config.json`, `.onnx`, `.pt2` or `.safetensors` file. Nothing in it is executed."
)


def page_of(desk: Desk) -> gr.Blocks:
    """The page that a desk answers, with its API at `/gradio_api`."""
    kept = _KEPT, _KEPT
    page = gr.Blocks(title="nar-plugin", analytics_enabled=False, delete_cache=kept)
    with page:
        gr.Markdown(_INTRO)
        fields, ask, filters = _form(desk)
        file, pasted, paste = _files()
        shown = [gr.HTML(elem_id=f"nw-{name}") for name in _AREAS]
        gr.HTML(
            "<span></span>",
            elem_id="nw-server",
            js_on_load=_file("unfold.js"),
            server_functions=[_explain(desk), _unfold(desk)],
        )

        def answer(*values: Any) -> tuple[str, ...]:
            return _areas(desk, State.of(dict(zip(_KEYS, values, strict=True))))

        def arrive(request: gr.Request) -> tuple[Any, ...]:
            if not request.query_params:  # leave alone what a visitor types meanwhile
                return (gr.skip(),) * (len(fields) + len(shown) + 1)
            state = State.of(request.query_params)
            values = (getattr(state, key) for key in _KEYS)
            chosen = any(getattr(state, key) for key in FILTERS)
            return *values, *_areas(desk, state), gr.Accordion(open=chosen)

        def upload(path: str) -> str:
            """Keep a .json, .onnx, .pt2 or .safetensors file.

            Returns upload:..., which stands for a model. For programs, which send the file itself:
            no address is fetched. An agent passes the text of a config to upload_config.
            """
            reference: str = _or_error(desk, lambda: desk.uploads.keep(Path(path), path))
            return reference

        def upload_config(text: str) -> str:
            """Keep the text of a config.json, of transformers or timm. Nothing in it is executed.

            Returns upload:..., which stands for a model in find and compare.

            Args:
                text: The whole file, such as {"model_type": "bert", "num_hidden_layers": 6}.
            """
            reference: str = _or_error(desk, lambda: desk.uploads.keep_config(text))
            return reference

        asking: dict[str, Any] = {
            "inputs": fields,
            "outputs": shown,
            "js": _file("address.js"),
            "show_progress_on": shown[1],
            "api_visibility": "private",
        }
        typed = [field.submit for field in fields if isinstance(field, gr.Textbox)]
        gr.on([ask.click, fields[-1].input, *typed], answer, **asking)
        file.upload(upload, file, fields[0], api_name="upload").success(answer, **asking)
        read = paste.click(upload_config, pasted, fields[0], api_name="upload_config")
        read.success(answer, **asking)
        page.load(
            arrive,
            outputs=[*fields, *shown, filters],
            show_progress_on=shown[1],
            api_visibility="private",
        )
        _offer_api(desk)
    page.queue(max_size=WAITING, default_concurrency_limit=AT_ONCE)
    return page


def _form(desk: Desk) -> tuple[list[Any], gr.Button, gr.Accordion]:
    """The fields, in the order of the address's keys, the button, and where the filters are."""
    with gr.Row(equal_height=True):
        model = gr.Textbox(
            label="Model", placeholder="timm:resnet50", scale=3, elem_id="nw-model", autofocus=True
        )
        against = gr.Textbox(
            label="Compare with", placeholder="timm:seresnet50", scale=3, elem_id="nw-against"
        )
        ask = gr.Button("Ask", variant="primary", scale=1, min_width=90, elem_id="nw-ask")
    on_map = gr.Checkbox(label="Show the map of all designs", container=False, elem_id="nw-on-map")
    with gr.Accordion("Filters", open=False, elem_id="nw-filters") as filters, gr.Row():
        k = gr.Slider(1, MOST, K, step=1, label="Hits", elem_id="nw-k")
        chosen = [_choice(desk, key) for key in ("task", "family", "library")]
        params = gr.Textbox(label="Params", placeholder="<10M", min_width=120, elem_id="nw-params")
        year = gr.Textbox(label="Year", placeholder=">=2020", min_width=120, elem_id="nw-year")
    return [model, against, k, *chosen, params, year, on_map], ask, filters


def _choice(desk: Desk, key: str) -> gr.Dropdown:
    known = sorted(texts_of(desk.index.contents.table[key]))
    return gr.Dropdown(
        ["", *known],
        value="",
        label=key.capitalize(),
        allow_custom_value=True,  # `!timm` leaves timm out
        min_width=160,
        elem_id=f"nw-{key}",
    )


def _files() -> tuple[gr.File, gr.Textbox, gr.Button]:
    with gr.Accordion("Or give a file", open=False, elem_id="nw-files"), gr.Row():
        file: Any = gr.File(label="Upload", file_types=[*ENDINGS], elem_id="nw-upload", height=150)
        with gr.Column():
            pasted = gr.Textbox(
                label="Paste a config.json", lines=4, max_lines=10, elem_id="nw-pasted"
            )
            paste = gr.Button("Ask about this config", elem_id="nw-paste")
    # Gradio would fetch an address that a visitor gives in the place of a file. (It writes a stub
    # into the package of a subclass, so this is no subclass.)
    file.async_move_resource_to_block_cache = _files_alone(file.async_move_resource_to_block_cache)
    return file, pasted, paste


def _files_alone(move: Callable[[Any], Awaitable[str | None]]) -> Callable[[Any], Any]:
    async def move_file(path: Any) -> str | None:
        if "://" in str(path):
            raise gr.Error(
                "No address is fetched: send the file itself, or the text of a config.",
                print_exception=False,
            )
        return await move(path)

    return move_file


def _areas(desk: Desk, state: State) -> tuple[str, ...]:
    shown = desk.show(state)
    return tuple(getattr(shown, name) for name in _AREAS)


def _explain(desk: Desk) -> Callable[[Any], str]:
    def explain(pair: Any) -> str:
        model, against = (str(each) for each in pair)
        return desk.told(lambda: desk.explained(model, against))

    return explain


def _unfold(desk: Desk) -> Callable[[Any], str]:
    def unfold(model: Any) -> str:
        return desk.told(lambda: desk.unfolded(str(model)))

    return unfold


def _offer_api(desk: Desk) -> None:
    """What programs call, at `/gradio_api` and over MCP, which tells one line of each argument."""

    def find(
        request: gr.Request,
        model: str,
        k: int = K,
        task: str = "",
        family: str = "",
        library: str = "",
        params: str = "",
        year: str = "",
    ) -> Any:
        """Find the known neural network architectures that are most like a model, by its design.

        A score of 1 is the same design; below 0.7 hits are distant relatives, and below 0.5 there
        is no close relative. "x12/9" behind a block: it occurs 12 times in the model, 9 in the hit.
        A name that is not known is answered with names that come near.

        Args:
            request: Who asks; Gradio gives it.
            model: library:name, such as timm:resnet50 or transformers:bert, or an upload:...
            k: How many hits, 1 to 50.
            task: Only hits of this task, such as image-classification; with a ! before it, no such.
            family: Only hits of this family, such as resnet; or !resnet.
            library: Only hits of this library, such as timm; or !timm.
            params: Only hits of this size: <10M, >=1G, 10M-50M, or <mine for less than the model.
            year: Only hits of these years, such as >=2020.
        """
        asked = model, "", k, task, family, library, params, year, False
        state = State.of(dict(zip(_KEYS, asked, strict=True)))
        return _told(desk, request, lambda: desk.similar(state))

    def compare(request: gr.Request, model: str, against: str) -> Any:
        """Compare two neural network architectures, block by block: what is alike, what differs.

        Args:
            request: Who asks; Gradio gives it.
            model: library:name, such as timm:resnet50 or transformers:bert, or an upload:...
            against: The other one, likewise.
        """
        return _told(desk, request, lambda: desk.comparison(model, against))

    api(find, api_name="find")
    api(compare, api_name="compare")


def _told(desk: Desk, request: gr.Request, make: Callable[[], Found | Comparison]) -> Any:
    """An answer as JSON; to an agent, which has to read it, as the text that a shell prints."""

    def told() -> Any:
        answer = make()
        return str(answer) if request.headers.get("x-gradio-user") == "mcp" else answer.to_dict()

    return _or_error(desk, told, written=str)


def _or_error(desk: Desk, make: Callable[[], Any], written: Callable[[str], str] = escape) -> Any:
    """What `make` returns, as JSON has it, or its error.

    Args:
        desk: Whose folders stay untold.
        make: Returns what JSON can hold.
        written: What an error's text becomes: the page shows it as HTML, a program as it is.
    """
    try:
        return json.loads(desk.uploads.without_folders(json.dumps(make())))
    except NarError as error:
        told = written(desk.uploads.without_folders(clean(error)))
        raise gr.Error(told, print_exception=False) from None


def _file(name: str) -> str:
    return files("nar_plugin.web").joinpath(name).read_text("utf-8")
