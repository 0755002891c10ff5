import pytest

from nar_plugin.report.wording import motif_text
from nar_plugin.visible_text import clean, flops_text, params_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0K"),
        (25_557_032, "25.6M"),
        (999_949_999, "999.9M"),
        (999_960_000, "1.0B"),
        (7_241_732_096, "7.2B"),
        (3 * 10**18, "3000000.0T"),
    ],
)
def test_params(number, text):
    assert params_text(number) == text


def test_flops_count_thousand_millions_as_giga():
    assert flops_text(8_178_000_000) == "8.2G"


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[31mresnet\x1b[0m",
        "\x1b]8;;http://evil.test\x07resnet\x1b]8;;\x07",
        "\x1b]0;new title\x1b\\resnet",
        "\x9b2Jresnet",
        "res\x00net\x7f",
        "\u202eresnet\u2066",
        "\x1bcresnet",
        "\udc80resnet",
    ],
)
def test_control_characters_are_removed(hostile):
    assert clean(hostile) == "resnet"


def test_clean_keeps_one_line():
    assert clean("  two\nlines\r\n\there ") == "two lines here"


def test_a_long_motif_label_keeps_its_counts(similar):
    text = motif_text(similar[2].shared_motifs[0], label_width=12)
    assert text == "DeformableD… \N{MULTIPLICATION SIGN}12/6"
