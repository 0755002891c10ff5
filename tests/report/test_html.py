from dataclasses import replace
from html.parser import HTMLParser

import pytest

import nar_plugin
from nar_plugin.html_table import html_table
from nar_plugin.index.block_search import FoundBlock, Occurrence
from nar_plugin.report import SharedMotif, SimilarBlocks
from nar_plugin.report.similar_blocks import AskedBlock

VOID = {"br", "img", "input", "link", "meta"}


class Reader(HTMLParser):
    """Collects tags, links and text, and checks that tags are balanced."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.links, self.words = [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "a":
            self.links.append(dict(attrs)["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_table_has_a_row_for_each_hit(similar):
    page = Reader(similar._repr_html_())
    assert [tag for tag, _ in page.tags].count("tr") == 1 + len(similar)
    text = " ".join(page.words)
    for fact in (
        "timm:resnet50",
        "(+3 names)",
        "identical",
        "25.6M",
        "1,203 graphs",
        "code license",
        "Apache-2.0",
    ):
        assert fact in text


def test_what_is_no_table_of_hits_has_a_form_for_notebooks():
    """Motifs, a trace and a novelty; all aligned to the left."""
    answers = [
        (nar_plugin.motifs("timm:resnet18"), "68 ops", "BasicBlock"),
        (nar_plugin.trace("timm:resnet18"), "20 conv", "11,689,512"),
        (nar_plugin.novelty("timm:resnet18"), "a known design: timm:resnet18"),
    ]
    for answer, *facts in answers:
        page = Reader(answer._repr_html_())
        assert all(fact in " ".join(page.words) for fact in facts)
        cells = [style for tag, style in page.tags if tag in ("td", "th")]
        assert cells and all("text-align: left" in style["style"] for style in cells)


def test_labels_of_motifs_are_escaped():
    page = html_table("<b>", ("<i>",), [("<script>\n&", "x")])
    assert {tag for tag, _ in Reader(page).tags} == set(
        "div b table thead tr th tbody td br".split()
    )
    assert "&lt;script&gt;<br>&amp;" in page


def test_everything_untrusted_is_escaped(similar, make_hit):
    evil = "<script>alert('x')</script>\"&"
    hit = make_hit(
        name=evil,
        names=(evil, evil + "2"),
        family=evil,
        task=evil,
        shared_motifs=(SharedMotif(evil, evil, 1, 1, 1),),
        url='https://example.test/"onmouseover="alert(1)',
    )
    hostile = replace(
        similar,
        hits=(hit,),
        query=replace(similar.query, name=evil),
        index=replace(similar.index, source=evil, revision=evil, encoder=evil),
    )
    page = Reader(hostile._repr_html_())
    assert "script" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "".join(page.words).count(evil) == 8
    assert page.links == [hit.url]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,x",
        "//example.test",
        "file:///etc/passwd",
        "http://[broken",
        "",
        None,
    ],
)
def test_only_web_urls_become_links(similar, make_hit, url):
    assert Reader(replace(similar, hits=(make_hit(url=url),))._repr_html_()).links == []


def test_the_style_stays_inside_the_report(similar):
    style = similar._repr_html_().partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if line.strip()]
    assert rules
    assert all(line.startswith("div.nar-report") for line in rules)


def test_ten_rows_are_shown_and_the_others_fold(similar, make_hit):
    many = replace(similar, hits=tuple(make_hit(rank=rank) for rank in range(1, 14)))
    shown, _, folded = many._repr_html_().partition("<details>")
    assert [part.count("<tr>") for part in (shown, folded)] == [1 + 10, 1 + 3]
    assert "3 more" in folded
    assert "<details>" not in similar._repr_html_()  # no graph is at hand, so none is built


def test_a_bar_is_as_long_as_the_score(similar):
    widths = [
        attrs["style"]
        for tag, attrs in Reader(similar._repr_html_()).tags
        if attrs.get("class") == "nar-score"
    ]
    assert widths == ["width:100%", "width:99%", "width:61%"]


def test_the_first_hits_unfold_their_explanation_and_the_model_its_picture():
    import nar_plugin

    html = nar_plugin.find_similar("timm:resnet18", k=5)._repr_html_()
    page = Reader(html)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("summary") == 3 + 1
    assert "1: The same architecture." in page.words
    (image,) = [attrs for tag, attrs in page.tags if tag == "img"]
    assert image["src"].startswith("data:image/svg+xml;base64,")
    assert "script" not in tags


def test_blocks_name_a_design_and_fold_the_others(index_info):
    evil = "<script>alert('x')</script>\"&"
    places = [Occurrence("timm:a", "a", 3, "layer1.0"), Occurrence(evil, evil, 1, evil)]
    places.append(Occurrence("c", "c", 1, "d"))
    hits = (FoundBlock(evil, 0.9, 10, 3, tuple(places)), FoundBlock("alone", 0.5, 4, 0, ()))
    page = Reader(SimilarBlocks(AskedBlock(evil, "x", evil, 9), index_info, hits)._repr_html_())
    tags = [tag for tag, _ in page.tags]
    assert tags.count("tr") == 1 + 2
    assert tags.count("details") == 1
    assert "2 more" in page.words
    assert "script" not in tags
