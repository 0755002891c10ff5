"""What the Hub's library reports, in words that name the repository, the file and the remedy."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from nar_plugin.errors import IndexUnavailable, NarError

_LOGIN = "`hf auth login`, or HF_TOKEN, says who you are"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def explained(repository: str, what: str, kind: str = "dataset") -> Iterator[None]:
    """Turn what goes wrong between here and the Hub into an IndexUnavailable.

    Args:
        repository: Such as `nar-plugin/architectures`.
        what: The file, or what else was asked for, such as `shards/00001.rows.parquet`.
        kind: `dataset` or `model`: what an index is, what an encoder is.
    """
    try:
        yield
    except NarError:
        raise
    except Exception as error:
        reason = _explanation(error, repository, what, kind)
        if reason is None:
            raise
        raise IndexUnavailable(reason) from error


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that an error, or its cause, came with."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status is not None:
            return int(status)
        error = error.__cause__ or error.__context__
    return None


def _explanation(error: Exception, repository: str, what: str, kind: str) -> str | None:
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
        return f"{repository} has no {what}: a branch, a tag or a commit was expected."
    if isinstance(error, hub.RemoteEntryNotFoundError):
        return f"{repository} has no {what}: ask for another revision, or tell its maintainer."
    if isinstance(error, hub.HFValidationError):
        return f"{repository!r} is no repository: expected owner/name."
    if status := status_of(error):
        return (
            f"{asked} was refused with status {status}: {_status_remedy(status)} ({_line(error)})"
        )
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
    return None


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
