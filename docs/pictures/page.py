"""Take the screenshots of the page for docs/serve.md: `python docs/pictures/page.py`.

It needs the extra `ui`, Playwright and a Chromium, whose path is `CHROMIUM` or `/usr/bin/chromium`.
"""

import os
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from nar_plugin.web.serving import started

FOLDER = Path(__file__).parent
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
MODEL = "?model=timm:resnet50"
SHOTS = {  # name: address, selector to wait for, width, height, dark or light
    "page_hits": (MODEL, "#nw-picture figure svg", 1000, 900, "light"),
    "page_compare": (
        f"{MODEL}&against=timm:seresnet50",
        "#nw-comparison figure svg",
        1000,
        900,
        "",
    ),
    "page_dark": (MODEL, "#nw-picture figure svg", 1000, 900, "dark"),
    "page_map": (f"{MODEL}&map=1", "#nw-map iframe", 1000, 1100, "light"),
    "page_narrow": (f"{MODEL}&year=>%3D2017&library=timm", ".nw-name", 380, 800, "light"),
}
MAIN = {"page_compare": "#nw-comparison", "page_map": "#nw-on-map", "page_narrow": "#nw-hits"}


def shoot(browser: Browser, url: str, name: str) -> int:
    """Take one; returns its bytes."""
    address, selector, width, height, scheme = SHOTS[name]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme or "light"
    )
    page.goto(url + address)
    page.wait_for_selector(selector, timeout=60_000)
    page.wait_for_timeout(1_000)  # until what fades has faded
    if "map=1" in address:
        frame = page.frame_locator("#nw-map iframe")
        frame.locator("#legend label").first.wait_for()  # its script has read the designs
    if name in MAIN:
        page.locator(MAIN[name]).evaluate("element => element.scrollIntoView()")
    path = FOLDER / f"{name}.jpg"
    page.screenshot(path=path, type="jpeg", quality=60)
    page.close()
    return path.stat().st_size


if __name__ == "__main__":
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with started() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for each in SHOTS:
            print(shoot(browser, served.local_url, each), each)
