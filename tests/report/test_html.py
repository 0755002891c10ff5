from dataclasses import replace
from html.parser import HTMLParser

import pytest

from nar_plugin.report import SharedMotif

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
