"""What the Hub says of models, and their configurations, read one after another, politely.

For each model two small things are read: what the Hub says of it, and its `config.json`; never a
weight, never code. There is a pause between two of them; a server that says "too many" is waited
for. Each answer is a line in a file, so an interrupted crawl goes on after it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.references.config_file import CONFIG, read_object
from nar_plugin.references.config_values import data_alone
from nar_plugin.remote.cache import MAIN, Place
from nar_plugin.train.corpus.workers import read_records

if TYPE_CHECKING:
    from huggingface_hub import HfApi, ModelInfo

Answer = TypeVar("Answer")
WAITS = (1, 2, 4, 8, 16, 32, 64)  # seconds before a question is asked again
_SPDX = {"apache-2.0": "Apache-2.0", "mit": "MIT", "bsd-3-clause": "BSD-3-Clause"}


def most_downloaded(task: str | None, limit: int) -> list[str]:
    """The ids of the models that are downloaded most, of one task or of all.

    Args:
        task: A task of the Hub, such as `fill-mask`.
        limit: How many.
    """
    api = online()
    found = patiently(
        lambda: list(api.list_models(pipeline_tag=task, sort="downloads", limit=limit))
    )
    return [model.id for model in found]


def read_ids(path: Path) -> list[str]:
    """The ids in a file, one a line; what follows a `#` is left out.

    Raises:
        NarError: The file cannot be read.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise NarError(
            f"{path} cannot be read: {error}. Expected one owner/name a line."
        ) from error
    return [name for line in lines if (name := line.partition("#")[0].strip())]


def read_configs(ids: Iterable[str], configs: Path, pace: float) -> None:
    """Append a JSON line for each id that the file lacks: what the Hub says, and the config."""
    done = {record["id"] for record in read_records(configs)}
    todo = [name for name in dict.fromkeys(ids) if name not in done]
    api = online()
    _end_line(configs)
    with configs.open("a") as out, tqdm(todo, unit="config", disable=not todo) as bar:
        for name in bar:
            out.write(json.dumps(read_config(api, name)) + "\n")
            out.flush()
            time.sleep(pace)


def read_config(api: HfApi, name: str) -> dict[str, Any]:
    """What the Hub says of one model, and its config; a failure is recorded, not raised.

    Raises:
        NarError: The Hub kept refusing, which says nothing about this model.
    """
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    record: dict[str, Any] = {"id": name, "failure": None}
    try:
        info = patiently(lambda: api.model_info(name))
        record |= {"commit": info.sha, "task": info.pipeline_tag, "licence": licence_of(info)}
        place = Place(name, kind="model")
        path = patiently(lambda: place.small(CONFIG, MAIN))
        record["config"] = _config(path, name)
    except IndexUnavailable as error:
        reason = error.__cause__ or error
        record["failure"] = f"{type(reason).__name__}: {' '.join(str(reason).split())}"[:300]
    except (HFValidationError, HfHubHTTPError, ValueError) as error:
        record["failure"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
    return record


def _config(file: Path, name: str) -> dict[str, Any]:
    """The config as it stands there, where it could be asked for.

    Raises:
        ValueError: `nar find hub:owner/name` would refuse it.
    """
    try:
        content = read_object(file)
        data_alone(content, f"hub:{name}")
    except NarError as error:
        # The record is published: it says nothing of the folders here.
        raise ValueError(str(error).replace(str(file), CONFIG)) from error
    return content


def online() -> HfApi:
    """The Hub, which a crawl must be able to ask.

    Raises:
        NarError: HF_HUB_OFFLINE forbids it.
    """
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE:
        raise NarError("A crawl asks the Hub, which HF_HUB_OFFLINE=1 forbids: unset it.")
    return HfApi()


def patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer to a question; a server that is busy or out of order is asked again later.

    Raises:
        NarError: It still refuses after two minutes.
    """
    problem: Exception | None = None
    for wait in (*WAITS, None):
        try:
            return ask()
        except Exception as error:
            asked_for = _wait_asked_for(error)
            if asked_for is None:
                raise
            problem = error
        if wait is not None:
            time.sleep(max(wait, asked_for))
    raise NarError(
        f"The Hub kept refusing ({' '.join(str(problem).split())[:200]}). What was read is kept: "
        "run the command again later, or with a longer --pace."
    ) from problem


def _wait_asked_for(error: BaseException | None) -> float | None:
    """The seconds that a server wants to be left alone; None when waiting does not help."""
    while error is not None:
        response = getattr(error, "response", None)
        status = getattr(response, "status_code", None)
        if status is not None:
            asked = response.headers.get("Retry-After", "0") if response is not None else "0"
            wait = float(asked) if asked.isdigit() else 0.0
            return min(wait, 600.0) if status == 429 or status >= 500 else None
        if type(error).__module__.partition(".")[0] in ("httpx", "httpx2"):
            return 0.0
        error = error.__cause__
    return None


def licence_of(info: ModelInfo) -> str:
    """The licence that a model's tags state, as SPDX writes it; an empty text if none."""
    tags = [tag.partition(":")[2] for tag in info.tags or () if tag.startswith("license:")]
    return _SPDX.get(tags[0], tags[0]) if tags else ""


def _end_line(path: Path) -> None:
    """Close the last line of a file, which a kill may have cut short."""
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        with path.open("a") as out:
            out.write("\n")
