"""Starts the page. Gradio is imported here and not before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

from nar_plugin.errors import NarError
from nar_plugin.web.desk import Desk
from nar_plugin.web.uploads import Uploads

if TYPE_CHECKING:
    from gradio import Blocks

MIB = 1 << 20
LARGEST = 200  # MiB of an upload
_ROOM = 2048  # MiB of all uploads that are kept
# Back and forward bring another address: the page opens that one.
_HEAD = "<script>addEventListener('popstate', () => location.reload())</script>"


def serve(
    *, host: str = "127.0.0.1", port: int = 7860, hub: bool = False, largest: int = LARGEST
) -> None:
    """Serve the page until the process is stopped.

    Example:
        ```python
        serve(port=7860)
        ```

    Args:
        host: The address to listen on; `0.0.0.0` for every network.
        port: The port to listen on.
        hub: Whether visitors may name repositories of the Hugging Face Hub, which are then asked.
        largest: MiB of an upload.

    Raises:
        NarError: The extra `ui` is not installed, or the port is taken.
    """
    with started(host=host, port=port, hub=hub, largest=largest) as page:
        page.block_thread()


@contextmanager
def started(
    *, host: str = "127.0.0.1", port: int | None = None, hub: bool = False, largest: int = LARGEST
) -> Iterator[Blocks]:
    """The page, served inside the block.

    Args:
        host: As in `serve`.
        port: As in `serve`; None takes a free one.
        hub: As in `serve`.
        largest: As in `serve`.

    Raises:
        NarError: As in `serve`.
    """
    try:
        import gradio as gr

        from nar_plugin.web.page import page_of
    except ImportError as error:
        raise NarError(
            f"The page wants the library {error.name!r}: pip install 'nar-plugin[ui]'"
        ) from error
    uploads = Uploads(largest * MIB, _ROOM * MIB)
    try:
        desk = Desk(uploads, hub=hub)
        desk.warm()  # before the first visitor
        page = page_of(desk)
        try:
            page.launch(
                prevent_thread_lock=True,
                server_name=host,
                server_port=port,
                max_file_size=largest * MIB,
                ssr_mode=False,  # it would want Node.js
                footer_links=["api"],
                theme=gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["monospace"]),
                css=files("nar_plugin.web").joinpath("page.css").read_text("utf-8"),
                head=_HEAD,
            )
        except OSError as error:
            raise NarError(f"The page cannot be served at {host}:{port}: {error}") from error
        yield page
        page.close()
    finally:
        uploads.close()
