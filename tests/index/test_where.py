import logging

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.index.search.limits import bounds, with_own_sizes
from nar_plugin.index.search.where import allowed_rows, unknown_texts
from nar_plugin.index.store.rows import to_table


def found(index, where):
    return np.flatnonzero(allowed_rows(to_table(index.rows()), where)).tolist()


# Rows: 0 resnet50, 1 vgg11, 2 bert, 3 squeezenet (also named by timm).
@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({}, [0, 1, 2, 3]),
        ({"task": "fill-mask"}, [2]),
        ({"family": ["vgg", "bert", "mamba"]}, [1, 2]),
        ({"family": ("resnet",)}, [0]),
        ({"licence": "BSD-3-Clause"}, [3]),
        ({"licence": "Apache-2.0"}, [0, 1, 2, 3]),
        ({"code_license": "BSD-3-Clause"}, [3]),
        ({"library": "torchvision"}, [3]),
        ({"library": "timm"}, [0, 1, 3]),
        ({"library": ["transformers", "torchvision"]}, [2, 3]),
        ({"library": "tim"}, []),
        ({"license": "BSD-3-Clause"}, [3]),
        ({"license": "!Apache-2.0"}, [3]),
        ({"family": "!vgg"}, [0, 2, 3]),
        ({"family": ["!vgg", "!bert"]}, [0, 3]),
        ({"family": ["vgg", "bert", "!vgg"]}, [2]),
        ({"library": "!timm"}, [2, 3]),  # 3 by its name of torchvision
        ({"library": ["!timm", "!torchvision"]}, [2]),
        ({"library": "!torchvision", "code_license": "!Apache-2.0"}, []),
        ({"family": ["", "Bert", "é", "vgg"]}, [1]),
        ({"params": "<10M"}, [3]),
        ({"params": "10M-50M"}, [0]),
        ({"params": (1_248_424, 25_557_032)}, [0, 3]),
        ({"params": (None, 1_248_423)}, []),
        ({"params": [109_482_240, None]}, [1, 2]),
        ({"params": "<25.557032M"}, [3]),
        ({"params": "<=25.557032M"}, [0, 3]),
        ({"params": ("10M", "30M")}, [0]),
        ({"params": ("30M", None)}, [1, 2]),
        ({"params": "<=5e6"}, [3]),
        ({"params": "<10_000_000"}, [3]),
        ({"params": 25_557_032}, [0]),
        ({"params": np.int64(25_557_032)}, [0]),
        ({"params": "25557032"}, [0]),
        ({"params": [">5M", "<=30M"]}, [0]),
        ({"flops": ">=15.218G"}, [1, 2]),
        ({"flops": ">15.218G"}, [2]),
        ({"flops": "1G-10b"}, [0, 3]),
        ({"library": "timm", "params": ">10M", "family": ["vgg", "bert"]}, [1]),
    ],
)
def test_conditions(index, where, rows):
    assert found(index, where) == rows


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({"year": ">=2023"}, [1]),
        ({"year": "<2023"}, [0]),
        ({"year": (2017, 2023)}, [1]),
        ({"paper": "arXiv:1512.03385"}, [0]),
        ({"weights_license": ["mit", "gemma"]}, [1]),
        ({"runtimes": "vLLM"}, [0, 1]),
        ({"runtimes": ["MLX", "TGI"]}, [1]),
        ({"runtimes": "vLLM", "year": ">2000"}, [0, 1]),
        ({"runtimes": "!MLX"}, [0]),
        ({"weights_license": "!mit"}, [1]),
        ({"year": 2023}, [1]),
        ({"year": ["2015", "2022"]}, [0]),
    ],
)
def test_a_row_without_the_fact_meets_no_condition_on_it(row, where, rows):
    table = to_table(
        [
            row("a:a", year=2015, paper="arXiv:1512.03385", runtimes=("vLLM",)),
            row("a:b", year=2023, weights_license="gemma", runtimes=("MLX", "vLLM")),
            row("a:c"),
        ]
    )
    assert np.flatnonzero(allowed_rows(table, where)).tolist() == rows


def test_an_unknown_runtime_may_mean_another(row):
    table = to_table([row("a:a", runtimes=("vLLM", "MLX"))])
    (line,) = unknown_texts(table, {"runtimes": "vllm"})
    assert line == "No architecture in the index has runtimes 'vllm'; did you mean 'vLLM'?"


def test_a_name_without_a_library_counts_for_its_row_only(row):
    alexnet = row("torchvision:alexnet", library="torchvision")
    table = to_table([row("./folder", library="timm"), alexnet])
    assert allowed_rows(table, {"library": "timm"}).tolist() == [True, False]
    assert allowed_rows(table, {"library": "torchvision"}).tolist() == [False, True]
    assert allowed_rows(table, {"library": ""}).tolist() == [False, False]


def test_an_unknown_key_lists_the_keys(index):
    with pytest.raises(NarError, match=r"'born'; the keys are task, family, library, code_license"):
        found(index, {"born": "2017"})


@pytest.mark.parametrize(
    ("key", "meant"), [("code_licence", "code_license"), ("Family", "family"), ("FLOPs", "flops")]
)
def test_an_unknown_key_may_mean_another(index, key, meant):
    with pytest.raises(NarError, match=f"'{key}'; did you mean '{meant}'\\? The keys are task"):
        found(index, {key: "MIT"})


@pytest.mark.parametrize("value", [3, None, [], [1], ["vgg", None], {"vgg": 1}, "!", ["vgg", "!"]])
def test_texts_are_checked(index, value):
    with pytest.raises(NarError, match="expected a text or a list of texts"):
        found(index, {"family": value})


@pytest.mark.parametrize(
    "value",
    [
        "10M",
        "",
        "<",
        "<10X",
        "10M-",
        "-10M",
        "< -1",
        "<1e999999999",
        "<mine",
        1.5,
        True,
        None,
        (1,),
        (1, 2, 3),
        ("<1", 2),
        (">1", "10M"),
        [],
        (True, 2),
        (0, float("nan")),
    ],
)
def test_numbers_are_checked(index, value):
    with pytest.raises(
        NarError, match=r"expected a whole number, a pair.*'<10M', '>=1G', '10M-50M'"
    ):
        found(index, {"params": value})


@pytest.mark.parametrize("value", ["50M-10M", ("50M", "10M"), [">50M", "<10M"]])
def test_crossed_bounds(value):
    with pytest.raises(NarError, match="lower bound is above"):
        bounds("params", value)


def test_mine_is_the_size_of_the_model():
    where = {"params": "<mine", "flops": ("1M", "Mine"), "family": "mine"}
    sizes = {"params": 10, "flops": 2_000_000}
    expected = {"params": "<10", "flops": ["1M", "2000000"], "family": "mine"}
    assert with_own_sizes(where, sizes) == expected
    assert bounds("flops", expected["flops"]) == (1_000_000, 2_000_000)
    with pytest.raises(NarError, match="flops of the model are not known"):
        with_own_sizes(where, {"params": 10, "flops": None})


def test_a_key_is_given_once(index):
    with pytest.raises(NarError, match="'licence' twice"):
        found(index, {"license": "MIT", "licence": "MIT"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<10M", (None, 9_999_999)),
        ("<=10M", (None, 10_000_000)),
        (">1K", (1001, None)),
        (">= 1.5 g", (1_500_000_000, None)),
        ("<1.5", (None, 1)),
        (">1.5", (2, None)),
        ("10-20", (10, 20)),
        ("0.1T-2B", None),
        ("1M - 1.5M", (1_000_000, 1_500_000)),
    ],
)
def test_bounds_of_texts(text, expected):
    if expected is None:
        with pytest.raises(NarError):
            bounds("flops", text)
    else:
        assert bounds("flops", text) == expected


def test_conditions_are_a_mapping(index):
    with pytest.raises(NarError, match="expected a dict such as"):
        found(index, "task=fill-mask")


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"family": "ResNet"}, ["family 'ResNet'; did you mean 'resnet'?"]),
        ({"library": ["Timm", "timms"]}, ["'Timm'; did you mean 'timm'?", "'timms'; did you"]),
        ({"task": "cooking"}, ["task 'cooking'."]),
        ({"family": "vgg", "params": "<1K"}, []),  # known, but none so small
        ({"family": ["mamba", "vgg"]}, []),  # one is found
    ],
)
@pytest.mark.parametrize("batched", [False, True])
def test_a_value_that_no_row_has_is_named_when_nothing_is_found(
    index, where, told, batched, caplog
):
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        vector = np.ones(index.manifest.dim, np.float32)
        index.search_batch(vector[None], 1, where) if batched else index.search(vector, 1, where)
    assert len(caplog.messages) == len(told)
    assert all(text in line for text, line in zip(told, caplog.messages, strict=True))
