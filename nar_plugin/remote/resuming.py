"""One file of the Hub by plain HTTP, which goes on where an earlier attempt stopped.

huggingface_hub 2 gives each process a temporary file of its own and deletes it on failure, and it
writes in pieces of 10 MB: a cut or a kill costs all that came. Here what came stays beside the
place of the whole file, as `NAME.incomplete`, the name that huggingface_hub's earlier versions gave
it. Whether it is the right content is only known at the end, by its sha256.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from shutil import disk_usage
from typing import Any

from nar_plugin.errors import IndexUnavailable
from nar_plugin.regular_files import is_regular, is_there
from nar_plugin.remote.failures import of_network, status_of
from nar_plugin.remote.waiting import Pace, TooSlow, patiently

LONGEST_REFUSAL = 1 << 14  # bytes
ATTEMPTS = 5  # in a row that bring nothing, a second apart; as huggingface_hub does it


def resume(
    url: str, target: Path, size: int, check: Callable[[Path], object], token: str | bool | None
) -> None:
    """Have the content of an address in a file, fetching only what is not there yet.

    Of two processes the second waits for the first one.

    Args:
        url: On the Hub; it may lead to another host.
        target: Receives the whole file, in one step.
        size: Its bytes.
        check: Raises an IndexUnavailable unless a file has the right content. What has not is
            thrown away and fetched once more from the start.
        token: See `nar_plugin.remote.cache.Place`.

    Raises:
        IndexUnavailable: What came the second time is not right either, or the disk is too small.
        Exception: The Hub's library or the disk failed; what came is kept for the next attempt.
    """
    from huggingface_hub import utils

    library: Any = utils  # it declares no types of what it exports
    part = target.with_name(f"{target.name}.incomplete")
    # The lock that huggingface_hub takes for the same file: CACHE/.locks/REPOSITORY/NAME.lock.
    repository = target.parents[1]
    lock = repository.parent / ".locks" / repository.name / f"{target.name}.lock"
    for folder in (target.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with library.WeakFileLock(lock):
        for last in (False, True):
            if target.exists():  # the other process was faster
                return
            _fill(url, part, size, token)
            try:
                check(part)
            except IndexUnavailable:
                part.unlink()
                if last:
                    raise
            else:
                part.replace(target)
                return


def _fill(url: str, part: Path, size: int, token: str | bool | None) -> None:
    """Bring a file to its size, as far as the server has so many bytes."""
    from huggingface_hub import utils

    library: Any = utils
    attempts = ATTEMPTS
    pace = Pace()
    if part.is_symlink() or (is_there(part) and not is_regular(part)):
        part.unlink()  # a link or a pipe that somebody has put there
    part.touch()
    with part.open("r+b", buffering=0) as file:
        have = file.seek(0, 2)
        check_room(part, size - have)
        bar = library.tqdm(
            desc=url.rpartition("/")[2],
            total=size,
            initial=have,
            unit="B",
            unit_scale=True,
            delay=1,
            name="huggingface_hub.http_get",
        )
        with bar:
            while have < size:
                problem = None
                try:
                    _append(url, file, size, token, bar, pace)
                except Exception as error:
                    if status_of(error) or isinstance(error, TooSlow) or not of_network(error):
                        raise
                    problem = error
                came, have = file.tell() - have, file.tell()
                attempts = ATTEMPTS if came > 0 else attempts - 1
                if have < size and not attempts:
                    if problem is not None:
                        raise problem
                    return
                if have < size:
                    time.sleep(1)
                    pace.came(0)


def check_room(place: Path, size: int) -> None:
    """Refuse to begin a download that the disk cannot hold.

    Raises:
        IndexUnavailable: There is less room than that.
    """
    free = disk_usage(place.parent).free
    if size > free:
        raise IndexUnavailable(
            f"{place.parent} has room for {free:,} bytes, {size:,} are to come. Make room, or set "
            "HF_HOME to a larger disk."
        )


def _append(
    url: str, file: FileIO, size: int, token: str | bool | None, bar: Any, pace: Pace
) -> None:
    """Write what comes after what the file holds; from the start where the server wants so."""
    start = file.tell()
    with ExitStack() as stack:
        with pace.forgiving():
            response = patiently(lambda: stack.enter_context(_stream(url, start, token)))
        if response.status_code == 416:  # the server has no more than this
            return
        if start and response.status_code != 206:
            file.seek(0)
            file.truncate()
            bar.update(-start)
        for piece in response.iter_raw():  # packed content would have another sha256 anyway
            left = memoryview(piece)
            while left:  # a full disk takes a part, and then raises
                left = left[file.write(left) :]
            bar.update(len(piece))
            pace.came(len(piece))
            if file.tell() > size:  # it is another file
                return


def read_part(url: str, start: int, count: int, token: str | bool | None) -> bytes:
    """So many bytes of an address from a byte on, fewer where it ends before.

    A server that sends the whole file all the same is left once these are there.

    Raises:
        Exception: What the Hub's library raises; `remote.failures.explained` puts it in words.
    """

    def ask() -> bytes:
        with _stream(url, start, token, start + count - 1) as response:
            skipped = start if response.status_code == 200 else 0
            content = bytearray()
            if response.status_code != 416:
                for piece in response.iter_raw():
                    content += piece[skipped:]
                    skipped = max(skipped - len(piece), 0)
                    if len(content) >= count:
                        break
            return bytes(content[:count])

    return patiently(ask)


@contextmanager
def _stream(
    url: str, start: int, token: str | bool | None, last: int | None = None
) -> Iterator[Any]:
    """The answer with what an address holds from a byte on; refusals but 416 are raised.

    The token goes to the Hub alone: httpx drops it when an answer leads to another host.
    """
    from huggingface_hub import constants, utils

    library: Any = utils
    # A range is of the content as it is sent: it must not be packed on the way.
    headers = library.build_hf_headers(token=token) | {"Accept-Encoding": "identity"}
    if start or last is not None:
        headers["Range"] = f"bytes={start}-{'' if last is None else last}"
    with library.http_stream_backoff(
        "GET",
        url,
        headers=headers,
        timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT,
        retry_on_exceptions=(),
        retry_on_status_codes=(),
    ) as response:
        if response.status_code >= 400 and response.status_code != 416:
            library.hf_raise_for_status(_beginning(response))
        yield response


def _beginning(response: Any) -> Any:
    """A refusal with the first piece of its text: who knows how long the text is."""
    text = next(response.iter_raw(LONGEST_REFUSAL), b"")
    kept = {
        name: value
        for name, value in response.headers.items()
        if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
    }
    return type(response)(
        response.status_code, headers=kept, content=text, request=response.request
    )
