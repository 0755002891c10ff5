"""The page of a map as a person uses it, from a file, in headless Chromium."""

import os
from pathlib import Path

import numpy as np
import pytest

from nar_plugin.index import ArchitectureIndex, ArchitectureRow
from nar_plugin.index.ranking import Subject
from nar_plugin.map import map_of

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
HOSTILE = "</script><img src=x onerror=alert(1)>"
pytestmark = pytest.mark.slow


def row(name, place, **more):
    fields = {"task": "image-classification", "params": 25_557_032, "flops": 1, "design": name}
    fields |= {"library": "timm", "fingerprint": name, "licence": "MIT", "names": (name,)}
    return ArchitectureRow(name=name, family="vit", x=place[0], y=place[1], **fields | more)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    places = {"timm:a": (0.0, 0.0), "timm:b": (2.0, 1.0), f"timm:{HOSTILE}": (4.0, 2.0)}
    rows = [row(name, place, title=HOSTILE) for name, place in places.items()]
    index = ArchitectureIndex.from_rows(
        rows, np.eye(3), "nar-base", "c0" * 32, tracer="1", fingerprint="1"
    )
    halfway = np.array([1, 1, 0], np.float32) / np.sqrt(np.float32(2))
    asked = [("this Own", 5, Subject(halfway, None, "new"))]
    space = 'xmlns="http://www.w3.org/2000/svg"'
    svg = f'<svg {space} width="9" height="9"><rect width="9" height="9"/></svg>'
    path = tmp_path_factory.mktemp("map") / "map.html"
    return map_of(index, asked, lambda: {1: svg}).save(path).as_uri()


@pytest.fixture
def page(address):
    playwright = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 380, "height": 800}, color_scheme="dark")
        page.wrong = []
        page.on("dialog", lambda dialog: (page.wrong.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and page.wrong.append(said.text))
        page.on(
            "request", lambda it: it.url.startswith(("file:", "data:")) or page.wrong.append(it.url)
        )
        page.goto(address)
        page.locator("#results button").first.wait_for()
        yield page
        assert not page.wrong


def test_search_pick_and_leave_by_keyboard(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.locator("#results button").all_inner_texts() == ["this Own"]
    page.locator("#search").fill("timm:")
    assert page.locator("#count").inner_text() == "3 designs"
    page.locator("#search").fill("timm:b")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#card h2").inner_text() == "timm:b"
    assert "25.6M parameters" in page.locator("#card").inner_text()
    assert page.locator("#card img").evaluate("image => image.naturalWidth") == 9
    page.locator("#map").focus()
    page.keyboard.press("Escape")
    assert page.locator("#card").is_hidden()
    page.locator("#search").fill("")
    page.locator("#map").focus()
    page.keyboard.press("0")
    page.keyboard.press("Enter")  # the middle of the map
    assert page.locator("#card h2").inner_text() == "timm:b"


def test_a_hostile_name_is_text(page):
    page.locator("#search").fill("onerror")
    page.locator("#results button").first.click()
    assert page.locator("#card h2").inner_text() == f"timm:{HOSTILE}"
    assert page.locator("#card img").count() == 0


def test_a_click_picks_a_point_and_the_legend_hides_it(page):
    box = page.locator("#map").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#card h2").inner_text() == "timm:b"
    page.locator("#card .close").click()
    page.locator("#legend input").first.uncheck()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#card").is_hidden()
