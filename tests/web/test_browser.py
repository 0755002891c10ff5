"""The page as a person uses it, in headless Chromium."""

import json
import os
from pathlib import Path

import pytest

from nar_plugin.web.serving import started

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url():
    pytest.importorskip("gradio")
    with started() as page:
        yield page.local_url


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with playwright.sync_playwright() as running:
        yield running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def opened(browser, address, **options):
    page = browser.new_page(**options)
    page.set_default_timeout(60_000)
    page.alerts = []
    page.on("dialog", lambda dialog: (page.alerts.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    page.wait_for_selector("#nw-model")
    return page


def field(page, name):
    return page.locator(f"#nw-{name} textarea, #nw-{name} input").first


def test_type_filter_unfold_compare_and_go_back(browser, url):
    page = opened(browser, url)
    field(page, "model").fill("timm:resnet50")
    page.locator("#nw-ask").click()
    page.wait_for_selector(".nw-name")
    assert page.url.endswith("?model=timm:resnet50")
    assert page.locator(".nw-name").count() == 10
    page.locator("#nw-picture figure svg").wait_for()

    page.locator(".nw-why summary").nth(1).click()
    page.wait_for_selector(".nw-why .nar-report")
    page.locator(".nw-unfold summary").first.click()
    page.wait_for_selector("iframe[sandbox]")

    page.locator("#nw-filters button").first.click()
    field(page, "params").fill("<20M")
    field(page, "params").press("Enter")
    page.wait_for_url("**params=*")
    page.wait_for_function(
        "!document.querySelector('.nw-hits').innerText.includes('25.6M params\\n')"
    )
    assert field(page, "model").input_value() == "timm:resnet50"

    page.locator(".nw-links a", has_text="compare").first.click()
    page.locator("#nw-comparison figure svg").wait_for()
    assert "against=" in page.url
    page.go_back()
    page.locator("#nw-picture figure svg").wait_for()
    assert "against=" not in page.url and "params=" in page.url
    assert field(page, "params").input_value() == "<20M"
    page.go_back()
    page.wait_for_url("**/?model=timm:resnet50")
    page.close()


def test_a_deep_link_keyboard_alone_narrow_and_dark(browser, url):
    address = f"{url}?model=timm:resnet50&k=3&library=timm"
    page = opened(browser, address, viewport={"width": 380, "height": 800}, color_scheme="dark")
    page.wait_for_selector(".nw-name")
    assert page.locator(".nw-name").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.evaluate("document.body.classList.contains('dark')")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "why":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".nw-why .nar-report")
    page.close()


@pytest.mark.parametrize("path", ["/etc/passwd", "http://127.0.0.1:9/a.json", "file:///etc/passwd"])
def test_no_path_or_address_stands_for_an_upload(path, url):
    httpx = pytest.importorskip("httpx")
    data = {"path": path, "url": path, "meta": {"_type": "gradio.FileData"}}
    call = f"{url}gradio_api/call/upload"
    event = httpx.post(call, json={"data": [data]}).json()["event_id"]
    answer = httpx.get(f"{call}/{event}", timeout=60).text
    assert "event: error" in answer and "upload:" not in answer


def test_programs_get_no_path_of_the_server(url, tmp_path):
    client = pytest.importorskip("gradio_client")
    (tmp_path / "config.json").write_text('{"model_type": "no such type"}')
    asked = client.Client(url, verbose=False)
    reference = asked.predict(client.handle_file(tmp_path / "config.json"), api_name="/upload")
    with pytest.raises(Exception, match="no such type") as refused:
        asked.predict(reference, api_name="/find")
    assert "nar-serve" not in str(refused.value)
    assert asked.predict("timm:resnet50", "torchvision:resnet50", api_name="/compare")["identical"]


def test_an_agent_reads_what_a_shell_prints_and_errors_as_they_are(url):
    client = pytest.importorskip("gradio_client")
    agent = client.Client(url, headers={"x-gradio-user": "mcp"}, verbose=False)  # as Gradio's MCP
    answer = agent.predict("timm:resnet50", k=2, api_name="/find")
    assert "1.000" in answer and len(answer.splitlines()) < 20
    with pytest.raises(Exception, match=r"named .resnet5O.\. Did you mean timm:resnet50"):
        agent.predict("timm:resnet5O", api_name="/find")
    described = agent.view_api(return_format="dict")["named_endpoints"]
    assert set(described) == {"/upload", "/upload_config", "/find", "/compare"}


def test_a_config_is_uploaded_and_hostile_names_stay_text(browser, url, tmp_path):
    pytest.importorskip("transformers")
    bad = "<img src=x onerror=alert(1)>"
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"model_type": "bert", "num_hidden_layers": 2, bad: bad}))
    page = opened(browser, url)
    page.locator("#nw-files button").first.click()
    page.locator("#nw-upload input[type=file]").set_input_files(file)
    page.wait_for_selector(".nw-name")
    assert "model=upload:" in page.url
    address = page.url
    page.goto(f"{url}?model={bad}")
    page.wait_for_selector(".nw-error")
    page.goto(address)
    page.wait_for_selector(".nw-name")
    assert not page.alerts
    page.close()
