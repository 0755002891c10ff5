import pytest
from goldens import FOLDER, PAIRS, QUICK, file_of, written


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, marks=[] if pair in QUICK else [pytest.mark.slow]) for pair in PAIRS],
    ids=lambda pair: "--".join(pair),
)
def test_an_explanation_reads_as_it_was_read(pair):
    for name in pair:
        library = name.partition(":")[0] if ":" in name else "timm"
        pytest.importorskip(library)
    assert written(pair) == file_of(pair).read_text(encoding="utf-8")


def test_every_file_is_of_a_pair():
    assert {path.name for path in FOLDER.iterdir()} == {file_of(pair).name for pair in PAIRS}
