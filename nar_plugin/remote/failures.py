"""What the Hub's library reports, in words that name the repository, the file and the remedy."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nar_plugin.errors import IndexUnavailable, NarError

LONGEST_WAIT = 60.0  # seconds between two attempts; a server that wants more is not waited for
_LOGIN = "`hf auth login`, or HF_TOKEN, says who you are"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)
# What the Hub's library raises over an answer that is not JSON, or not of the form that it expects.
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)


class Absent(IndexUnavailable):
    """A repository has no such file."""


@contextmanager
def explained(
    repository: str, what: str, kind: str = "dataset", revision: str = ""
) -> Iterator[None]:
    """Turn what goes wrong between here and the Hub into an IndexUnavailable.

    Args:
        repository: Such as `nar-plugin/architectures`.
        what: The file, or what else was asked for, such as `shards/00001.rows.parquet`.
        kind: `dataset` or `model`: what an index is, what an encoder is.
        revision: At which it was asked for, where it may be that there is no such one.
    """
    from huggingface_hub.errors import RemoteEntryNotFoundError

    try:
        yield
    except NarError:
        raise
    except Exception as error:
        reason = _explanation(error, repository, what, kind, revision)
        if reason is None:
            raise
        absent = isinstance(error, RemoteEntryNotFoundError)
        raise (Absent if absent else IndexUnavailable)(reason) from error


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that an error, or its cause, came with."""
    response = response_of(error)
    return None if response is None else int(response.status_code)


def response_of(error: BaseException | None) -> Any:
    """The HTTP response that an error, or its cause, came with; None if there was none."""
    while error is not None:
        response = getattr(error, "response", None)
        if getattr(response, "status_code", None) is not None:
            return response
        error = error.__cause__ or error.__context__
    return None


def _explanation(
    error: Exception, repository: str, what: str, kind: str, revision: str
) -> str | None:
    """The text for an error that the Hub, the way to it or the disk is to blame for."""
    from huggingface_hub import constants
    from huggingface_hub import errors as hub

    asked = f"{what} of {repository}"
    if isinstance(error, hub.GatedRepoError):
        return (
            f"{asked} is gated: ask for access at {constants.ENDPOINT}/"
            f"{'datasets/' if kind == 'dataset' else ''}{repository}. {_LOGIN}."
        )
    if isinstance(error, hub.RepositoryNotFoundError):
        return (
            f"{constants.ENDPOINT} has no {kind} repository {repository}, or it is private: check "
            f"the name. {_LOGIN}."
        )
    if isinstance(error, hub.RevisionNotFoundError):
        wanted = f"revision {revision}" if revision else what
        return f"{repository} has no {wanted}: a branch, a tag or a commit was expected."
    if isinstance(error, hub.RemoteEntryNotFoundError):
        return f"{repository} has no {what}: ask for another revision, or tell its maintainer."
    if isinstance(error, hub.HFValidationError):
        return f"{repository!r} is no repository: expected owner/name."
    if status := status_of(error):
        remedy = _wait_remedy(error) or _status_remedy(status)
        return f"{asked} was refused with status {status}: {remedy} ({_line(error)})"
    if isinstance(error, OSError) and error.errno in (*_FULL, *_CLOSED):
        return _disk(error, asked)
    if "Consistency check failed" in str(error):
        return f"{asked} came shorter or longer than announced. Run the command again."
    if of_network(error) or isinstance(error, hub.LocalEntryNotFoundError):
        if constants.HF_HUB_OFFLINE:
            return f"The Hub was not asked for {asked}: HF_HUB_OFFLINE=1 forbids it. Unset it."
        return (
            f"{asked} could not be fetched from {constants.ENDPOINT}: {_line(error)}. What came is "
            "kept: run the command again when the network is there."
        )
    if isinstance(error, OSError) and error.errno is not None:
        return _disk(error, asked)
    if isinstance(error, _UNREADABLE):
        return (
            f"{constants.ENDPOINT} answered for {asked} with something that no Hub says "
            f"({type(error).__name__}: {_line(error)}). A login page of your network or another "
            "service answers in its place: open that address in a browser, check HF_ENDPOINT, then "
            "run the command again."
        )
    return None


def asked_wait(error: BaseException | None) -> float:
    """The seconds that a refusal's `Retry-After` names; 0 where it names none."""
    response = response_of(error)
    text = str(response.headers.get("Retry-After", "")).strip() if response is not None else ""
    return float(text[:12]) if text.isascii() and text.isdigit() else 0.0


def _wait_remedy(error: BaseException) -> str:
    """What to say when the server wants to be left alone for longer than anybody waits."""
    wait = asked_wait(error)
    if wait <= LONGEST_WAIT:
        return ""
    return f"it wants to be left alone for {wait:,.0f} seconds; run the command again then."


def _status_remedy(status: int) -> str:
    if status in (401, 403):
        return f"your token may not do this. {_LOGIN}."
    if status == 429:
        return "too many requests: wait some minutes. A token has a higher limit."
    return "the Hub has a problem: try again later." if status >= 500 else "try again later."


def _disk(error: OSError, asked: str) -> str:
    from huggingface_hub import constants

    place = f"{asked} could not be written to {error.filename or constants.HF_HUB_CACHE}"
    if error.errno in _FULL:
        return f"{place}: {error.strerror}. Make room, or set HF_HOME to a larger disk."
    return f"{place}: {error.strerror}. Set HF_HOME to a folder that you may write to."


def of_network(error: BaseException | None) -> bool:
    """Whether an error, or its cause, is one of the HTTP client's (httpx, or its successor)."""
    while error is not None:
        if type(error).__module__.partition(".")[0] in ("httpx", "httpx2"):
            return True
        if isinstance(error, ConnectionError | TimeoutError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
