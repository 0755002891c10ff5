"""Whatever is asked, there is an answer or a NarError, and stdout is the user's own.

10,000 questions (with `NAR_WHOLE=1`; else 1,000), each made from its kind and number alone: a
failure names both, and
`ask(*question(kind, number), folder)` repeats it.
"""

import json
import multiprocessing
import random
import threading

import numpy as np
import pytest
import torch
from hostile import ANSWERED, REFUSED, UNFOLLOWED, Plain, Raising
from whole import part

import nar_plugin
from nar_plugin import NarError
from nar_plugin.references import resolve
from nar_plugin.report import Comparison, SimilarArchitectures

COUNTS = {"reference": 8_400, "where": 700, "inputs": 400, "folder": 300, "module": 200}

REFERENCES = (
    "timm:resnet50",
    "torchvision:resnet18",
    "transformers:bert/BertForMaskedLM",
    "transformers:bert@google-bert/bert-base-uncased",
    "hub:owner/name@v1",
    "owner/name",
    "./folder",
    "~/folder/config.json",
    "weights.safetensors",
    "no_such_module.models:Net.make",
    "models.py:Net",
    "/nowhere/config.json",
    "https://huggingface.co/owner/name",
    "C:\\models\\config.json",
)
ODD = (
    *"\0\x1b\n\r\t\x7f\u0085\u200b\u202e\ufeff\ud800\udcff\U0001f9ea\xd7\u2026\u0130\u00df",
    *":/\\.~@%$#?*[]{}<>|&;'\"` =-",
    "..",
    "::",
    "//",
    "../" * 40,
    "x" * 300,
    "9" * 5_000,
    "%s%n",
    "[red]",
    "<script>",
    "\x1b[2J",
)
WORDS = (
    "task",
    "family",
    "library",
    "licence",
    "params",
    "flops",
    "license",
    "",
    "\ud800",
    None,
    5,
)
HUGE = 10**400


def question(kind, number):
    """What is asked, as a function's name and a recipe that is text or numbers alone."""
    chance = random.Random(f"{kind} {number}")
    made = {
        "reference": lambda: mutated(chance, chance.choice(REFERENCES)),
        "where": lambda: condition(chance),
        "inputs": lambda: odd_value(chance, 3),
        "folder": lambda: mutated(chance, '{"model_type": "bert", "architectures": ["BertModel"]}'),
        "module": lambda: chance.choice([*ANSWERED, *REFUSED, *UNFOLLOWED]),
    }
    return kind, made[kind](), chance


def mutated(chance, text):
    """A text with one to four edits."""
    for _ in range(chance.randint(1, 4)):
        place, length = chance.randint(0, len(text)), chance.choice((0, 0, 1, 1, 5))
        odd = chance.choice(("", *ODD, chr(chance.randint(0, 0x10FFFF))))
        text = text[:place] + odd + text[place + length :]
    return text


def odd_value(chance, depth):
    """A number, a text, an object or a container that a user may pass by mistake."""
    plain = (
        None,
        True,
        -1,
        0,
        HUGE,
        -HUGE,
        2**63,
        float("nan"),
        float("inf"),
        1j,
        "",
        "<10M",
        "<" + "9" * 5_000,
        ">1e5",
        "10M-5M",
        "\ud800",
        "\0",
        b"bytes",
        np.int64(3),
        np.float32("nan"),
        torch.ones(1, 8),
        torch.ones(0),
        torch.ones(1, 8, dtype=torch.complex64),
        torch.ones(1, 8, dtype=torch.int8),
        np.ones((1, 8)),
        Raising(),
        object(),
        print,
        Plain,
    )
    if depth == 0 or chance.random() < 0.5:
        return chance.choice(plain)
    items = [odd_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    keys = [chance.choice(("input", "x", 5, None, "")) for _ in items]
    return chance.choice(
        (
            items,
            tuple(items),
            dict(zip(keys, items, strict=True)),
            iter(items),
        )
    )


def condition(chance):
    if chance.random() < 0.1:
        return odd_value(chance, 2)
    return {chance.choice(WORDS): odd_value(chance, 2) for _ in range(chance.randint(0, 3))}


def ask(kind, made, chance, folder):
    """Put the question to one of the public functions, and look at the answer."""
    if kind == "reference":
        if chance.random() < 0.95:  # the public functions also look for names that come near
            return resolve(made)
        asked = (
            nar_plugin.trace,
            nar_plugin.find_similar,
            nar_plugin.motifs,
            nar_plugin.load_index,
        )
        return chance.choice(asked)(made)
    if kind == "where":
        k = chance.choice((1, np.int64(2), 10**9, True, 0, -1, HUGE, "3", None, 2.0))
        return nar_plugin.find_similar(Plain(), k if chance.random() < 0.2 else 2, where=made)
    if kind == "inputs":
        return nar_plugin.trace(Plain(), example_inputs=made)
    if kind == "folder":
        (folder / "config.json").write_text(made, "utf-8", errors="surrogatepass")
        return nar_plugin.trace(str(folder))
    model = (ANSWERED | REFUSED | UNFOLLOWED)[made]()
    if chance.random() < 0.5:
        return nar_plugin.compare(model, Plain())
    return nar_plugin.find_similar(model, k=2)


def shown(answer):
    """An answer can be printed, and sent as JSON."""
    if isinstance(answer, SimilarArchitectures | Comparison):
        answer = answer[:5] if isinstance(answer, SimilarArchitectures) else answer
        assert repr(answer)
        json.dumps(answer.to_dict())


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUNTS)
def test_an_answer_or_a_nar_error(kind, tmp_path, capfd):
    check(kind, range(part(COUNTS[kind], 10)), tmp_path, capfd)


@pytest.mark.parametrize("kind", ["where", "inputs"])
def test_some_of_them(kind, tmp_path, capfd):
    check(kind, range(10), tmp_path, capfd)


def check(kind, numbers, folder, capfd):
    threads, wrong = threading.active_count(), []
    for number in numbers:
        try:
            shown(ask(*question(kind, number), folder))
        except NarError as error:
            if len(str(error)) < 20:
                wrong.append((number, f"says too little: {error}"))
        except (Exception, SystemExit) as error:
            wrong.append((number, f"{type(error).__name__}: {str(error)[:200]!r}"))
    assert wrong == []
    assert capfd.readouterr().out == ""
    assert multiprocessing.active_children() == []
    assert threading.active_count() <= threads + 1  # FAISS and torch may keep one
